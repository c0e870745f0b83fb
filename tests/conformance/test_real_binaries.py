"""NVIDIA's own libraries up to their look-ups: each asks for a driver, the simulated one and NVIDIA's, and must be handed a
wrapper wherever the answer is a function that warpwatch watches, and what the driver gives everywhere else; its calls return
the same. What comes after the look-ups is between NVIDIA's libraries and NVIDIA's driver, and is tested on a GPU."""
import collections
import functools
import os
import platform
import re
import subprocess

import pytest

from support import BUILD, CUDA_HOME, LIBRARY, ROOT, clean_environment

BINARIES = BUILD / "binaries"
FOREIGN = BUILD / "tests" / "foreign"
OBSERVER = BUILD / "tests" / "conformance" / "liblook_ups.so"
DRIVERS = {"simulated": BUILD / "simcuda", "libcuda": BINARIES / "driver"}

RUNTIME_CALLS = ["cudaRuntimeGetVersion", "cudaGetDeviceCount", "cudaDeviceSynchronize", "cudaGetLastError"]
CUBLAS, CUBLASLT = ["cublasCreate_v2"], ["cublasLtGetVersion", "cublasLtCreate"]
NCCL, CUDNN = ["ncclGetVersion", "ncclGetUniqueId", "ncclCommInitAll"], ["cudnnGetVersion", "cudnnCreate"]

Library = collections.namedtuple("Library", "name version package file calls needs")
LIBRARIES = [
    Library("libcudart", "11.8", "nvidia-cuda-runtime-cu11==11.8.89", "libcudart.so.11.0", RUNTIME_CALLS, []),
    *(Library("libcudart", version.rpartition(".")[0], f"nvidia-cuda-runtime-cu12=={version}", "libcudart.so.12",
              RUNTIME_CALLS, []) for version in ("12.1.105", "12.4.127", "12.9.79")),
    *(Library("libcudart", version.rpartition(".")[0], f"nvidia-cuda-runtime=={version}", "libcudart.so.13",
              RUNTIME_CALLS, []) for version in ("13.0.96", "13.5.37")),
    Library("libcudart_static", "12.9", "nvidia-cuda-runtime-cu12==12.9.79", "libcudart_static.a", RUNTIME_CALLS, []),
    Library("libcudart_static", "13.0", "nvidia-cuda-runtime==13.0.96", "libcudart_static.a", RUNTIME_CALLS, []),
    Library("libcudart_static", "13.5", "nvidia-cuda-runtime==13.5.37", "libcudart_static.a", RUNTIME_CALLS, []),
    Library("cuBLASLt", "12.4.5.8", "nvidia-cublas-cu12==12.4.5.8", "libcublasLt.so.12", CUBLASLT, []),
    Library("cuBLAS", "12.4.5.8", "nvidia-cublas-cu12==12.4.5.8", "libcublas.so.12", CUBLAS, []),
    Library("cuBLASLt", "13.4.1.3", "nvidia-cublas==13.4.1.3", "libcublasLt.so.13", CUBLASLT, []),
    Library("cuBLAS", "13.4.1.3", "nvidia-cublas==13.4.1.3", "libcublas.so.13", CUBLAS, []),
    Library("NCCL", "2.21.5", "nvidia-nccl-cu12==2.21.5", "libnccl.so.2", NCCL, []),
    Library("NCCL", "2.30.7", "nvidia-nccl-cu13==2.30.7", "libnccl.so.2", NCCL, []),
    Library("cuDNN", "9.1.0.70", "nvidia-cudnn-cu12==9.1.0.70", "libcudnn.so.9", CUDNN,
            ["nvidia-cublas-cu12==12.4.5.8", "nvidia-cuda-runtime-cu12==12.4.127"]),
    Library("cuDNN", "9.26.0.51", "nvidia-cudnn-cu13==9.26.0.51", "libcudnn.so.9", CUDNN,
            ["nvidia-cublas==13.4.1.3", "nvidia-cuda-runtime==13.5.37"]),
]
DEBIAN = Library("libcudart_static", "Debian's", "debian", "libcudart_static.a", RUNTIME_CALLS, [])
TOOLKIT = Library("libcudart_static", "of the toolkit", None, "libcudart_static.a", RUNTIME_CALLS, [])

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="NVIDIA's libraries are pinned for x86-64")

LookUp = collections.namedtuple("LookUp", "door name version flags result status")
Seen = collections.namedtuple("Seen", "status stdout stderr answers")

# Functions that launch, or that change what a replay launches. All that is named like one of these is watched,
LAUNCHES = re.compile(r"^cu(Launch|Graph(Exec|Instantiate|Launch|Upload|NodeSetEnabled)|Stream(Begin|End).*Capture)")
# but for what concerns other nodes than kernels, or only asks.
NO_LAUNCHES = re.compile(r"^cu(LaunchHostFunc|GraphExecGet|GraphExec(Memcpy|Memset|Host|Event|External|BatchMem)|GraphInstantiate.*Get)")


def fetched(package):
    folder = BINARIES / package
    assert folder.is_dir(), f"{package} could not be fetched: see build/binaries.log"
    return folder


def file_of(library):
    file, = (path for path in fetched(library.package).rglob(library.file))
    return file


def command_of(library, directory):
    """What runs the library's calls: a program linked with it, or one that opens it."""
    if not library.file.endswith(".a"):
        return [FOREIGN, file_of(library), *library.calls]
    archive = CUDA_HOME / "lib64" / library.file if library is TOOLKIT else file_of(library)
    program = directory / "static_runtime"
    subprocess.run(["cc", "-o", program, ROOT / "tests/conformance/static_runtime.c", archive, "-ldl", "-lpthread",
                    "-lrt", "-lm"], check=True)
    return [program]


@functools.cache
def symbols(library, *options):
    """Names by address."""
    done = subprocess.run(["nm", "--defined-only", *options, library], capture_output=True, text=True, check=True)
    names = collections.defaultdict(set)
    for line in done.stdout.splitlines():
        address, kind, name = line.split()
        if kind in "tTwWi":
            names[int(address, 16)].add(name)
    return names


def watched_names():
    return {name.removeprefix("handed_") for names in symbols(LIBRARY).values() for name in names
            if name.startswith("handed_cu")}


def meaning(place, driver):
    """What an answer is: nothing, the driver's functions of these names, or a wrapper of that function."""
    if place == "-":
        return None
    file, offset = place.split("+")
    if file.startswith("libcuda.so"):
        names = symbols(driver / "libcuda.so.1", "-D").get(int(offset, 16))
        return ("driver", frozenset(names)) if names else ("driver", offset)
    names = symbols(LIBRARY).get(int(offset, 16), {place}) if file == LIBRARY.name else {place}
    wrapper, = {name.removeprefix("handed_") for name in names}
    return file, wrapper


def run(command, library, driver, directory, preload):
    log = directory / f"look_ups{len(preload)}"
    folders = [driver, *(file.parent for package in [library.package, *library.needs] if package
                         for file in fetched(package).rglob("*.so.*"))]
    environment = clean_environment(LD_LIBRARY_PATH=":".join(map(str, dict.fromkeys(folders))), LOOK_UPS=log,
                                    LD_PRELOAD=":".join(map(str, [OBSERVER, *preload])), WARPWATCH_OUTPUT=directory)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, cwd=directory)
    answers = collections.defaultdict(list)
    for line in log.read_text().splitlines():
        *asked, place = line.split(" ")
        answers[LookUp(*asked)].append(meaning(place, driver))
    return Seen(done.returncode, done.stdout, done.stderr, answers)


def expected(answer):
    """The answer under the preload for one without it."""
    if answer is None or answer[0] != "driver":
        return {answer}
    wrapped = {(LIBRARY.name, name) for name in answer[1] if name in watched_names()}
    return wrapped or {answer}


def compare(alone, watched):
    """Same questions, same results; how many answers were wrappers."""
    assert watched[:3] == alone[:3]
    assert {asked: len(answers) for asked, answers in watched.answers.items()} == \
        {asked: len(answers) for asked, answers in alone.answers.items()}
    wrappers = 0
    for asked, answers in watched.answers.items():
        for before, after in zip(alone.answers[asked], answers):
            assert after in expected(before), asked
            wrappers += after != before
    return wrappers


def driver_name(driver):
    return "simulated" if driver == "simulated" else os.readlink(DRIVERS[driver] / "libcuda.so.1").split(".")[2]


def version_of(library):
    return (fetched("debian") / "version").read_text().strip() if library is DEBIAN else library.version


def assert_documented(library, driver, look_ups, wrappers):
    rows = [[cell.strip() for cell in line.strip("| \n").split("|")]
            for line in (ROOT / "docs" / "real-binaries.md").read_text().splitlines() if line.startswith("| ")]
    documented = {tuple(row[:3]): row[3:] for row in rows}
    key = library.name, version_of(library), driver_name(driver)
    if library is not DEBIAN and any(row[2] == key[2] for row in rows):
        assert key in documented
    if key in documented: # another Debian has other versions
        assert documented[key] == [str(look_ups), str(wrappers), "none"]


@pytest.fixture(params=DRIVERS)
def driver(request):
    assert (DRIVERS[request.param] / "libcuda.so.1").exists(), "libcuda could not be fetched: see build/binaries.log"
    return request.param


@pytest.mark.parametrize("library", [*LIBRARIES, DEBIAN, TOOLKIT], ids=lambda library: f"{library.name}-{library.version.replace(' ', '_')}")
def test_look_ups_come_out_as_wrappers_and_all_else_as_it_is(library, driver, tmp_path):
    command = command_of(library, tmp_path)
    alone = run(command, library, DRIVERS[driver], tmp_path, [])
    watched = run(command, library, DRIVERS[driver], tmp_path, [LIBRARY])
    assert alone.status == 0 and len(alone.answers) > 300, alone
    wrappers = compare(alone, watched)
    assert not list(tmp_path.glob("*.ww"))
    assert not [asked for asked, answers in alone.answers.items() for answer in answers
                if asked.door != "table" and answer and isinstance(answer[1], str)], "not an exported function"
    for asked, answers in watched.answers.items():
        if LAUNCHES.match(asked.name.strip('"')) and not NO_LAUNCHES.match(asked.name.strip('"')):
            assert all(answer is None or answer[0] == LIBRARY.name for answer in answers), asked
    if library is not TOOLKIT:
        assert_documented(library, driver, sum(map(len, alone.answers.values())), wrappers)
