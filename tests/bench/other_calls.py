"""What the preload adds to calls that are not launches, on the simulated driver and runtime: nothing, where the function that
the program got is the driver's own."""
import statistics
import subprocess

from figures import BUILD, Table, clean_environment, directory, preload
from support import SAMPLES


def measure(mode):
    """[[call, ns of CPU time, library of the function called]], the best batch of a run."""
    with directory() as stores:
        environment = clean_environment(LD_LIBRARY_PATH=BUILD / "simcuda", **preload(mode, stores))
        done = subprocess.run([BUILD / "tests" / "other_calls", SAMPLES / "kernels.fatbin"], capture_output=True, text=True,
                              check=True, env=environment)
    return [line.split("\t") for line in done.stdout.splitlines()]


def other_calls(rounds):
    table = Table("Calls that are not launches", "ns of CPU time", ["none", "default", "ratio"], "call, and the library it leads to")
    figures, libraries = {}, {}
    for _ in range(rounds):
        for mode in ("none", "default"):
            for name, ns, library in measure(mode):
                figures.setdefault(name, {"none": [], "default": []})[mode].append(float(ns))
                libraries[name] = library
    for name, ns in figures.items():
        ratio = statistics.median(ns["default"]) / statistics.median(ns["none"])
        table.row(f"{name}, {libraries[name]}", {**ns, "ratio": [ratio]})
