"""What the end-to-end tests share: run a program on the simulated driver, read its ledger and its report.

A launch is compared as a whole: (function, device, grid, block, cluster, dynamic shared bytes) on one side,
(count, count by graph replay) on the other. `Counts` maps the first to the second.
"""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
from collections import namedtuple

try:
    import pytest
except ImportError:  # the GPU run takes no more than Python
    pytest = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WARPWATCH_BUILD", ROOT / "build")).resolve()
DEV = ROOT / "dev"
WARPWATCH = BUILD / "bin" / "warpwatch"
LIBRARY = BUILD / "lib" / "libwarpwatch.so"
SAMPLES = BUILD / "sample_apps"
CUDA_HOME = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))


def sanitizer_of_build():
    """"address", "thread" or "": what the build was made with."""
    cache = BUILD / "CMakeCache.txt"
    found = re.search(r"^WARPWATCH_SANITIZE:\w+=(\w*)", cache.read_text(), re.M) if cache.exists() else None
    return found.group(1) if found else ""


def sanitizer_runtime(sanitizer):
    """Goes before everything else in programs that were not built with it."""
    return subprocess.run(["gcc", f"-print-file-name=lib{sanitizer[0]}san.so"], capture_output=True, text=True,
                          check=True).stdout.strip()


SANITIZER = sanitizer_of_build()
ALL_LENGTHS = os.environ.get("WARPWATCH_TEST_LONG") == "1"
LONG = ALL_LENGTHS and not SANITIZER  # sweeps: with a sanitizer, each case is run, but not thousands of times
SANITIZER_RUNTIME = sanitizer_runtime(SANITIZER) if SANITIZER else ""
# `warpwatch run` puts the library before the runtime, an auditor comes before both.
SANITIZER_OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0:exitcode=99", "TSAN_OPTIONS": "exitcode=99",
                     "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99:print_stacktrace=1"} if SANITIZER else {}

# Why ThreadSanitizer cannot run what forks under the preload.
WIPED_LOCKS = "its runtime does not see that a forked child's locks are wiped"

# Before a program that no fixture runs, and that starts others.
SIMULATED = [str(DEV), "sim", "--", *(["env", f"LD_PRELOAD={SANITIZER_RUNTIME}"] if SANITIZER else [])]

Launch = namedtuple("Launch", "function device grid block cluster dynamic_shared_bytes")
Count = namedtuple("Count", "launches graph_launches")


def clean_environment(**variables):
    """The environment of the tests without anything that would steer the library or the loader."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("WARPWATCH_", "LD_", "CUDA_")) or name in ("WARPWATCH_BUILD", "CUDA_HOME")
    }
    kept.update(SANITIZER_OPTIONS)
    kept.update({name: str(value) for name, value in variables.items() if value is not None})
    if "LD_PRELOAD" in kept:
        kept["LD_PRELOAD"] = preloaded(kept["LD_PRELOAD"])
    return kept


def preloaded(*libraries):
    """A value for LD_PRELOAD: what nvcc and others made needs a sanitizer's runtime for what it links and loads."""
    return ":".join(filter(None, [SANITIZER_RUNTIME, *map(str, libraries)]))


def shape(dimensions):
    """A cluster of one block is no cluster."""
    return None if dimensions is None or list(dimensions) == [1, 1, 1] else tuple(dimensions)


def add(counts, launch, launches, graph_launches):
    before = counts.get(launch, Count(0, 0))
    counts[launch] = Count(before.launches + launches, before.graph_launches + graph_launches)


def counts_of_ledger(ledger):
    counts = {}
    for row in ledger["launches"]:
        launch = Launch(row["function"], row["device"], tuple(row["grid"]), tuple(row["block"]),
                        shape(row["cluster"]), row["dynamic_shared_bytes"])
        add(counts, launch, row["count"], row["graph_count"])
    return counts


def counts_of_report(report):
    counts = {}
    for kernel in report["kernels"]:
        assert kernel["further"]["launches"] == 0, f"{kernel['mangled']}: some launches are not told apart"
        for row in kernel["configurations"]:
            launch = Launch(kernel["mangled"], report["devices"][row["device"]]["ordinal"], tuple(row["grid"]),
                            tuple(row["block"]), shape(row["cluster"]), row["dynamic_shared_bytes"])
            add(counts, launch, row["launches"], row["graph_launches"])
    return counts


def counts_of_output(output):
    """What a sample program says it launched: see sample_apps/README.md for the line."""
    counts = {}
    for line in output.splitlines():
        if not line.startswith("launch "):
            continue
        field = dict(item.split("=", 1) for item in line.split()[1:])
        numbers = lambda name: tuple(int(n) for n in field[name].split(","))
        launch = Launch(field["kernel"], int(field["device"]), numbers("grid"), numbers("block"),
                        shape(numbers("cluster")), int(field["shared"]))
        add(counts, launch, int(field["count"]), int(field["replayed"]))
    return counts


def ledgers(path):
    """All ledgers of a run: one file a process, the first at `path`, others at `path`.<pid>."""
    path = pathlib.Path(path)
    files = [path] if path.exists() else []
    files += sorted(p for p in path.parent.glob(path.name + ".*") if p.suffix[1:].isdigit())
    return [json.loads(file.read_text()) for file in files]


class Run:
    """One finished program: status, stdout, stderr, and what the driver and warpwatch say about it."""

    def __init__(self, command, status, stdout, stderr, ledger_path, output):
        self.command, self.status, self.stdout, self.stderr = command, status, stdout, stderr
        self.ledger_path, self.output = ledger_path, output

    def __repr__(self):
        return f"{self.command} → {self.status}\nstdout: {self.stdout[-2000:]}\nstderr: {self.stderr[-2000:]}"

    @property
    def ledgers(self):
        return ledgers(self.ledger_path)

    @property
    def ledger(self):
        found = self.ledgers
        assert len(found) == 1, f"{len(found)} ledgers, expected one: {self}"
        return found[0]

    @property
    def stores(self):
        return sorted(self.output.glob("*.ww"))

    @property
    def report(self):
        return report(self.output)

    @property
    def ledger_counts(self):
        counts = {}
        for ledger in self.ledgers:
            for launch, count in counts_of_ledger(ledger).items():
                add(counts, launch, *count)
        return counts

    @property
    def report_counts(self):
        return counts_of_report(self.report)


def warpwatch(*arguments, status=0, **variables):
    """Runs the command and returns its stdout; the exit status must be `status`."""
    done = subprocess.run([str(WARPWATCH), *map(str, arguments)], capture_output=True, text=True,
                          env=clean_environment(**variables), timeout=300)
    assert done.returncode == status, f"warpwatch {arguments} → {done.returncode}\n{done.stderr}"
    return done.stdout


def report(*paths):
    return json.loads(warpwatch("report", "--format", "json", *paths))


def run_simulated(command, directory, preload=LIBRARY, device="h200", status=0, timeout=300, **variables):
    """Runs `command` on the simulated driver in a new directory; `preload=None` runs it without warpwatch.

    Variables given by name are added to the program's environment only. The exit status must be `status`
    (None: any).
    """
    directory = pathlib.Path(directory)
    output = directory / "stores"
    output.mkdir(parents=True, exist_ok=True)
    ledger = directory / "ledger.json"
    settings = {"WARPWATCH_OUTPUT": output, "LD_PRELOAD": preloaded(preload or "") or None, **variables}
    assignments = [f"{name}={value}" for name, value in settings.items() if value is not None]
    full = [str(DEV), "sim", "--device", device, "--ledger", str(ledger), "--", "env", *assignments,
            *map(str, command)]
    done = subprocess.run(full, capture_output=True, text=True, errors="replace", cwd=directory,
                          env=clean_environment(), timeout=timeout)
    run = Run([str(part) for part in command], done.returncode, done.stdout, done.stderr, ledger, output)
    assert status is None or run.status == status, run
    return run


def assert_same_launches(expected, actual):
    """Equal to the launch; the message names only what differs."""
    differing = {
        launch: (expected.get(launch), actual.get(launch))
        for launch in expected.keys() | actual.keys()
        if expected.get(launch) != actual.get(launch)
    }
    lines = [f"{launch}: expected {want}, got {got}" for launch, (want, got) in sorted(differing.items(), key=str)]
    assert not lines, "\n".join(lines[:20])


def assert_documented(name, run):
    """The row of docs/clients.md: launches and replayed ones, by ledger and by report."""
    rows = [[cell.strip() for cell in line.strip("| \n").split("|")]
            for line in (ROOT / "docs" / "clients.md").read_text().splitlines() if line.startswith("| ")]
    documented = [tuple(map(int, row[2:])) for row in rows if row[0] == name]
    sums = [(sum(count.launches for count in counts.values()), sum(count.graph_launches for count in counts.values()))
            for counts in (run.ledger_counts, run.report_counts)]
    assert documented == [(*sums[0], *sums[1])]


def program_lines(text):
    """A program's stderr without the lines that warpwatch added."""
    return [line for line in text.splitlines() if not line.startswith("warpwatch: ")]


def warpwatch_lines(text):
    return [line for line in text.splitlines() if line.startswith("warpwatch: ")]


def exit_status_of_signal(name):
    return 128 + getattr(signal, name)


def a_terminal(make=pty.openpty):
    """What pty.openpty or pty.fork gives; a container without /dev/pts has none."""
    try:
        return make()
    except OSError as error:
        pytest.skip(f"no terminal to be had here: {error}")


def read_terminal(terminal):
    """All that its other end writes until it closes, which Linux answers with EIO."""
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:
        pass
    os.close(terminal)
    return shown
