"""What watching adds to a launch: by mode, door, configurations and threads; in instructions; and in the slowest launches."""
import pathlib
import re
import subprocess
import tempfile
import threading

from figures import BUILD, LAUNCHES, LOOP, MODES, Table, clean_environment, directory, launch_loop, nanoseconds, preload

DOORS = {"cuLaunchKernel": "kernel", "cuLaunchKernelEx": "ex", "cuGraphLaunch": "graph"}


def loop_arguments(door, configurations, threads):
    return ["-d", DOORS[door], "-c", configurations, "-t", threads, "-n", max(LAUNCHES // threads, 10 * configurations)]


def cost(rounds):
    """The budget: counting adds at most 25 ns, default 45, trace 60; threads do not add to it."""
    table = Table("A launch", "ns of CPU time on a driver that does nothing", list(MODES), "door, configurations, threads")
    cases = [(door, configurations, threads) for door in DOORS for configurations in (1, 100, 10000)
             for threads in (1, 2, 4, 16, 64) if door != "cuGraphLaunch" or configurations == 1]
    for door, configurations, threads in cases:
        arguments = loop_arguments(door, configurations, threads)
        table.take(f"{door}, {configurations:,}, {threads}", rounds,
                   {mode: lambda mode=mode: nanoseconds(mode, *arguments) for mode in MODES})


def instructions(_rounds):
    """By callgrind, from two lengths of the loop: the same on every run."""
    def executed(mode, launches):
        with directory() as stores:
            done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", LOOP, "-n", str(launches)],
                                  capture_output=True, text=True, check=True,
                                  env=clean_environment(LD_LIBRARY_PATH=BUILD / "tests" / "noop", **preload(mode, stores)))
        return int(re.search(r"Collected : (\d+)", done.stderr)[1])

    table = Table("Instructions of a launch", "by callgrind, loop and driver included", list(MODES), digits=0)
    table.row("cuLaunchKernel", {mode: [(executed(mode, 60000) - executed(mode, 20000)) / 40000] for mode in MODES})


class Neighbour:
    """Writes and syncs on a file system for as long as it is entered."""

    def __init__(self, path):
        self.path, self.ended = pathlib.Path(path), threading.Event()

    def run(self):
        while not self.ended.is_set():
            (self.path / "neighbour").write_bytes(bytes(16 << 20))
            subprocess.run(["sync"], check=True)

    def __enter__(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def latencies(rounds):
    """The slowest launches, with the clock that measures them, where the store is on disk and in memory."""
    columns = ["median", "99th percentile", "99.99th percentile", "slowest"]
    table = Table("Single launches", "ns, with two reads of the clock", columns, "store, neighbour, mode", digits=0)

    def take(case, mode, parent):
        figures = {column: [] for column in columns}
        for _ in range(rounds):
            with directory(parent) as stores:
                for column, figure in zip(columns, launch_loop("-l", "-c", 100, "-n", 1000000, **preload(mode, stores))):
                    figures[column].append(figure)
        table.row(case, figures)

    for place, parent in {"disk": BUILD, "memory": "/dev/shm"}.items():
        for mode in MODES:
            take(f"{place}, –, {mode}", mode, parent)
        with tempfile.TemporaryDirectory(dir=parent) as busy, Neighbour(busy):
            for mode in MODES:
                take(f"{place}, writes and syncs, {mode}", mode, parent)
