"""What the preload costs programs that do not launch, and how much memory it takes of those that do."""
import os
import pathlib
import sys
import time

from figures import LIBRARY, Table, clean_environment, directory, launch_loop, preload, wall_seconds

PROCESSES = 200


def start_milliseconds(command, **variables):
    """Of one of many processes that end at once."""
    environment = clean_environment(**variables)
    start = time.monotonic()
    for _ in range(PROCESSES):
        process = os.posix_spawn(command[0], command, environment)
        assert os.waitpid(process, 0)[1] == 0
    return (time.monotonic() - start) / PROCESSES * 1000


def write_build(path, files):
    for number in range(files):
        (path / f"part{number}.c").write_text(f"int part{number}(void) {{ return {number}; }}\n")
    objects = " ".join(f"part{number}.o" for number in range(files))
    (path / "Makefile").write_text(f"all: {objects}\n%.o: %.c\n\t@cc -c -o $@ $<\n")


def build_seconds(**variables):
    """167 compilations, of three processes each, on all processors."""
    with directory() as path:
        write_build(pathlib.Path(path), 167)
        return wall_seconds(["make", "-s", "-C", path, f"-j{os.cpu_count()}"], **variables)


def start_up(rounds):
    """The budget: at most 1 ms for a process that never launches."""
    watched = {"LD_PRELOAD": LIBRARY}
    table = Table("Programs that never launch", "ms each", ["none", "preloaded"], digits=2)
    for case, command in {"/bin/true": ["/bin/true"], "Python": [sys.executable, "-S", "-c", "pass"]}.items():
        table.take(case, rounds, {"none": lambda: start_milliseconds(command),
                                  "preloaded": lambda: start_milliseconds(command, **watched)})
    table = Table("A build of 500 processes", "s", ["none", "preloaded"], digits=2)
    table.take("make and cc", min(rounds, 3), {"none": build_seconds, "preloaded": lambda: build_seconds(**watched)})


def memory(_rounds):
    """The budget: 2 MB + 256 B a configuration + 32 B a (thread, configuration)."""
    table = Table("Memory that watching takes", "KB resident", ["added", "budget"], "threads, configurations", digits=0)

    def resident(mode, threads, configurations):
        with directory() as stores:
            return launch_loop("-m", "-n", 1, "-t", threads, "-c", configurations, **preload(mode, stores))[0]

    for threads, configurations in [(1, 1), (1, 100), (1, 10000), (1, 60000), (16, 1000), (64, 1000), (64, 10000)]:
        added = resident("default", threads, configurations) - resident("none", threads, configurations)
        budget = (2 << 20) + 256 * configurations + 32 * threads * configurations
        table.row(f"{threads}, {configurations:,}", {"added": [added / 1024], "budget": [budget / 1024]})
