"""How the command's time grows with what it reads."""
import os
import pathlib
import subprocess

from figures import BUILD, WARPWATCH, Table, cpu_seconds, directory, launch_loop, preload, wall_seconds

FORMATS = ("text", "json", "csv", "html")
TOOLKIT = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "lib64"


def report(rounds):
    """The budget: at most 2 s for 1,000 stores, or 100,000 configurations."""
    table = Table("warpwatch report", "s of CPU time", FORMATS, "stores of configurations", digits=2)
    for stores, configurations in [(10, 100), (100, 100), (1000, 100), (1, 1000), (1, 10000), (1, 100000)]:
        with directory() as path:
            subprocess.run([BUILD / "tests" / "make_stores", path, str(stores), str(configurations)], check=True)
            command = [WARPWATCH, "report", "-o", "/dev/null", path]
            table.take(f"{stores:,} of {configurations:,}", rounds, {
                name: lambda name=name: cpu_seconds([*command, "--format", name]) for name in FORMATS})


def export(rounds):
    table = Table("warpwatch export", "s of CPU time", ["perfetto", "chrome"], "launches", digits=2)
    for launches in (10000, 100000, 1000000):
        with directory() as path:
            launch_loop("-n", launches, "-c", 100, **preload("trace", path))
            table.take(f"{launches:,}", rounds, {
                name: lambda name=name: cpu_seconds([WARPWATCH, "export", "--format", name, "-o", "/dev/null", path])
                for name in table.columns})


def libraries():
    """A small, a middling and the largest library of the toolkit."""
    found = sorted((path for path in TOOLKIT.glob("lib*.so.*") if not path.is_symlink()), key=lambda path: path.stat().st_size)
    chosen, least = [], 1 << 20
    for path in found:
        if path.stat().st_size >= least:
            chosen.append(path)
            least = path.stat().st_size * 8
    return chosen


def scan(rounds):
    """The budget: at most 3 s for cuBLASLt, cold."""
    table = Table("warpwatch scan", "s, files in the page cache", ["CPU time", "wall time"], "library", digits=2)
    for path in libraries():
        command = [WARPWATCH, "scan", "--format", "json", path]
        table.take(f"{path.name}, {path.stat().st_size / 1e6:,.0f} MB", rounds, {
            "CPU time": lambda: cpu_seconds(command), "wall time": lambda: wall_seconds(command)})
