"""Puts a build to carry into a folder: what the run needs, without symbols, and the libraries that a bare machine may
lack. A machine that has the driver and Python then needs neither a network nor a compiler."""
import pathlib
import re
import shutil
import subprocess
import sys

from machine import BUILD, ROOT, SAMPLES
from support import CUDA_HOME

LIMIT_BYTES = 60_000_000
PROGRAMS = ["bin/warpwatch", "lib/libwarpwatch.so", "lib/libwarpwatch_cupti.so", "tests/occupancy_sweep",
            "tests/other_profiler", "tests/cupti_probe", "tests/libagain.so"]
# The C library and the loader are the machine's own.
SYSTEM = re.compile(r"ld-linux|libc\.so|libm\.so|libdl\.so|libpthread\.so|librt\.so|linux-vdso")
CUDA = ["libcudart.so.13", "libcupti.so.13", "libnvperf_host.so", "libnvperf_target.so"]
PYTHON = ["tests/gpu", "tests/cases/support.py"]


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source.resolve(), target)


def copy_stripped(source, target):
    copy(source, target)
    subprocess.run(["strip", "--strip-unneeded", target], check=True)


def needed_libraries(program):
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^\s*(\S+) => (/\S+)", text, re.M)
    return [(name, pathlib.Path(path)) for name, path in found if not SYSTEM.search(name)]


def conformance_programs():
    return [path for path in (BUILD / "tests").glob("conformance_*") if path.is_file() and path.stat().st_mode & 0o100]


def pack(folder):
    if folder.exists():
        sys.exit(f"warpwatch: cannot pack into {folder}: it exists, name a new folder")
    for name in PROGRAMS:
        copy_stripped(BUILD / name, folder / "build" / name)
    for path in conformance_programs():
        copy_stripped(path, folder / "build" / "tests" / path.name)
    for path in SAMPLES.iterdir():
        if path.is_file():
            copy(path, folder / "build" / "sample_apps" / path.name)
    shutil.copytree(BUILD / "tests" / "conformance" / "code", folder / "build" / "tests" / "conformance" / "code")
    for name, path in needed_libraries(BUILD / "bin" / "warpwatch"):
        copy(path, folder / "build" / "carried" / "lib" / name)
    for name in CUDA:
        copy(CUDA_HOME / "lib64" / name, folder / "build" / "carried" / "cuda" / name)
    for name in PYTHON:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.c", "CMakeLists.txt"))
        else:
            copy(source, folder / name)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB; on the machine: python3 {folder.name}/tests/gpu/run -o RESULTS")
    if size > LIMIT_BYTES:
        sys.exit(f"warpwatch: {folder} is too large to carry: {size} bytes, at most {LIMIT_BYTES}")
