"""What the benchmarks share: running the launch loop in a mode, taking figures in turn, tables and JSON."""
import contextlib
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cases"))
from support import BUILD, LIBRARY, WARPWATCH, clean_environment  # noqa: E402

LOOP = BUILD / "tests" / "launch_loop"
MODES = {"none": None, "counting": {"WARPWATCH_TIMES": "0"}, "default": {}, "trace": {"WARPWATCH_TRACE": "1"}}
LAUNCHES = 2000000

results = {}  # {title: {case: {column: [figure of each round]}}}


def preload(mode, stores):
    """Variables of a program that is watched in a mode, with its stores in a directory."""
    if MODES[mode] is None:
        return {}
    return {"LD_PRELOAD": LIBRARY, "WARPWATCH_OUTPUT": stores, "WARPWATCH_REPORT": "none", **MODES[mode]}


@contextlib.contextmanager
def directory(parent=None):
    """A directory on the disk, or in `parent`."""
    with tempfile.TemporaryDirectory(dir=parent or BUILD) as path:
        yield path


def launch_loop(*arguments, **variables):
    """What it prints, as numbers."""
    environment = clean_environment(LD_LIBRARY_PATH=BUILD / "tests" / "noop", **variables)
    done = subprocess.run([LOOP, *map(str, arguments)], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise OSError(done.stderr.strip())
    return [float(number) for number in done.stdout.split()]


def nanoseconds(mode, *arguments, stores=None):
    """CPU time of a launch."""
    with directory(stores) as path:
        return launch_loop(*arguments, **preload(mode, path))[0]


def wall_seconds(command, **variables):
    start = time.monotonic()
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, env=clean_environment(**variables))
    return time.monotonic() - start


def cpu_seconds(command):
    """Of a process and its children: says the same on a busy machine."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    wall_seconds(command)
    return used() - before


def cell(values, digits):
    if not values:
        return ""
    middle, least, most = (f"{value:,.{digits}f}" for value in (statistics.median(values), min(values), max(values)))
    return middle if least == most else f"{middle} ({least}–{most})"


class Table:
    """Rows appear as soon as they are measured: median, and in parentheses least and most."""

    def __init__(self, title, unit, columns, first="", digits=1):
        self.title, self.columns, self.digits = title, columns, digits
        self.rows = results.setdefault(title, {})
        print(f"\n**{title}** ({unit})\n\n| {first} | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}", flush=True)

    def row(self, case, figures, note=None):
        """`figures` by column; a note stands where a figure is missing."""
        self.rows[case] = figures
        cells = [cell(figures.get(column, []), self.digits) or (note or "") for column in self.columns]
        print(f"| {case} | {' | '.join(cells)} |", flush=True)

    def take(self, case, rounds, measures):
        """Each round takes every column in turn: what disturbs the machine disturbs all alike."""
        figures = {column: [] for column in measures}
        for _ in range(rounds):
            for column, measure in measures.items():
                figures[column].append(measure())
        self.row(case, figures)
        return {column: statistics.median(values) for column, values in figures.items()}


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    return {"processor": model, "processors": os.cpu_count(), "kernel": os.uname().release,
            "load": os.getloadavg(), "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


def save(before):
    (BUILD / "bench.json").write_text(json.dumps({"before": before, "after": machine(), "results": results}, indent=1) + "\n")
