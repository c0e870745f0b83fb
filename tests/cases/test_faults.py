"""The tables of docs/robustness.md: surroundings that break, and what becomes of program, counts and stderr. Every run leaves
build/robustness.md, the page with the figures of that run."""
import errno
import json
import os
import re
import shutil
import subprocess

import faults_page
import pytest
import support
import test_export
from faults_page import Outcome

FAULTS = support.BUILD / "tests" / "clients" / "faults"
REPEATS, TRACED_REPEATS = 100, 20000
LAUNCHES, TRACED_LAUNCHES = 3002 + REPEATS, 3002 + TRACED_REPEATS
TRIES = 20 if support.LONG else 1


@pytest.fixture(scope="module")
def seen():
    """{(kind of row, name, when): outcomes}"""
    outcomes = {}
    yield outcomes
    faults_page.write(outcomes)


def outcome_of(plain, watched, launches=LAUNCHES, traced=False):
    assert (watched.status, watched.stdout) == (plain.status, plain.stdout)
    assert support.program_lines(watched.stderr) == support.program_lines(plain.stderr) == []
    support.assert_same_launches(plain.ledger_counts, watched.ledger_counts)
    assert watched.ledger["faults"] == plain.ledger["faults"] == []
    assert sum(row.launches for row in watched.ledger_counts.values()) == launches
    lines = watched.stderr.splitlines()
    assert len(lines) <= 1, lines
    fate, lost = fate_of(watched, launches)
    untraced = launches - lost - traced_launches(watched, launches) if traced else None
    return Outcome(fate, lost, untraced, faults_page.name_of_line(lines[0]) if lines else "–")


def fate_of(run, launches):
    """(how the counts fared, launches lost)"""
    if not [path for path in run.output.glob("*.ww*") if path.suffix in (".ww", ".live")]:
        return "none", launches
    totals = run.report["totals"]
    assert totals["launches"] + totals["lost"] == launches
    assert run.report["processes"][0]["lost"] == totals["lost"]
    if totals["lost"]:
        return "none" if totals["lost"] == launches else "part", totals["lost"]
    if totals["further"]:
        return "rest", 0
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    return "all", 0


def traced_launches(run, launches):
    """Launches in the timeline; how many it had no room for is said on stderr."""
    if not list(run.output.glob("*.ww*")):
        return 0
    events, _, _, said = test_export.chrome(run.output)
    missing = re.search(r"had no room for (\d+) of", "\n".join(said))
    found = len(test_export.launches_of(events))
    assert found + (int(missing[1]) if missing else 0) + run.report["totals"]["lost"] == launches
    return found


def tries(run):
    for attempt in range(TRIES):
        yield run(f"watched{attempt}", support.LIBRARY)


def check(expected, outcomes, launches=LAUNCHES):
    """The page's cells for it: class and line are equal, and nothing is lost that the page says is not. How much of a part is
    lost depends on the lengths of paths."""
    fate, lost, *_, line = expected
    for outcome in outcomes:
        assert (outcome.fate, outcome.line) == (fate, line)
        assert (outcome.lost == 0) == (lost == "0") and (outcome.lost == launches) == (lost == f"{launches:,}")


def in_open_directory(tmp_path, name):
    """Any user may write where the stores go; what leads there may be passed by all."""
    directory = tmp_path / name
    (directory / "stores").mkdir(parents=True)
    for path in (directory, directory / "stores"):
        path.chmod(0o777)
    for path in [directory, *directory.parents][:-2]:
        path.chmod(path.stat().st_mode | 0o111)
    return directory


def fault_of_the_process(tmp_path, name, when, repeats=REPEATS, **variables):
    """Function of (kind, attempt, preload): runs the program with this fault."""
    if support.SANITIZER and name.startswith(("mapping_", "no_address_space", "all_else_kills")):
        pytest.skip("a sanitizer's runtime needs what this takes away")
    (tmp_path / "root").mkdir(exist_ok=True)
    command = [FAULTS, name, when, tmp_path / "root", repeats]
    return lambda kind, preload: support.run_simulated(command, in_open_directory(tmp_path, kind), preload, status=5,
                                                       **variables)


@pytest.mark.parametrize("name, when, expected", faults_page.rows("process"))
def test_a_fault_of_the_process(tmp_path, seen, name, when, expected):
    run = fault_of_the_process(tmp_path, name, when)
    plain = run("plain", None)
    if name == "own_stderr":
        assert plain.stdout == "0 bytes of its own\ndone\n"
    outcomes = seen["process", name, when] = [outcome_of(plain, watched) for watched in tries(run)]
    check(expected, outcomes)


def test_a_line_that_stderr_cannot_take_is_dropped(tmp_path):
    """Where stderr is a file and no file may grow, a write would end the program with SIGXFSZ."""
    (tmp_path / "root").mkdir()
    log = tmp_path / "stderr"
    command = ["sh", "-c", 'exec "$@" 2>"$0"', log, FAULTS, "no_file_bytes", "first", tmp_path / "root"]
    run = support.run_simulated(command, in_open_directory(tmp_path, "watched"), status=5)
    assert sum(row.launches for row in run.ledger_counts.values()) == LAUNCHES and log.read_text() == ""


# --- faults around the process ------------------------------------------------------------------------------------------


class Surroundings:
    """Where a run's stores go and what its command and variables are, each broken in some way; undone at the end."""

    def __init__(self, directory):
        self.directory, self.output = directory, directory / "output"
        self.output.mkdir(parents=True)
        self.prefix, self.variables, self.mounted = [], {}, []

    def must(self, *command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"may not or cannot {' '.join(map(str, command[:3]))} here: {done.stderr.strip()}")

    def mount(self, kind, options, what="none", where=None):
        self.must("mount", "-t", kind, "-o", options, what, where or self.output)
        self.mounted.append(where or self.output)

    def mount_image(self, kind, megabytes, where, *options):
        """A file system of that kind in a file."""
        if not shutil.which(f"mkfs.{kind}"):
            pytest.skip(f"no mkfs.{kind} here")
        image = self.directory / "image"
        with image.open("wb") as file:
            file.truncate(megabytes << 20)
        self.must(f"mkfs.{kind}", "-q", *options, image)
        self.mount(kind, "loop", image, where)

    def in_namespace(self, script):
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            pytest.skip("no new mount namespaces here")
        self.prefix = ["unshare", "-m", "sh", "-c", script + ' && exec "$@"', "sh"]

    def shell(self, script):
        self.prefix = ["sh", "-c", f'exec "$@" {script}', "sh"]

    def close(self):
        for directory in self.mounted:
            subprocess.run(["umount", "-l", directory], check=True)


def disk(kilobytes):
    return lambda around: around.mount("tmpfs", f"size={kilobytes}k")


def full_ext4(kilobytes):
    """With a journal and delayed allocation, as on a disk."""
    def fill(around):
        around.mount_image("ext4", 16, around.output, "-b", "4096", "-m", "0")
        status = os.statvfs(around.output)
        fill = status.f_bavail * status.f_frsize - (kilobytes << 10)
        (around.output / "full").write_bytes(bytes(fill))
        os.sync()
        status = os.statvfs(around.output)
        assert abs(status.f_bavail * status.f_frsize - (kilobytes << 10)) < 20000

    return fill


def btrfs_quota(live):
    """A subvolume that may hold 128 KB, as the output directory or as the one for stores of running processes."""
    def limit(around):
        disk = around.directory / "disk"
        disk.mkdir()
        around.mount_image("btrfs", 200, disk)
        around.must("btrfs", "quota", "enable", disk)
        around.must("btrfs", "subvolume", "create", disk / "mine")
        around.must("btrfs", "qgroup", "limit", "128K", disk / "mine")
        if live:
            around.variables["WARPWATCH_LIVE"] = disk / "mine"
        else:
            around.output = disk / "mine"

    return limit


def read_only(around):
    around.mount("tmpfs", "ro")


def removed(around):
    around.output.rmdir()


def not_a_directory(around):
    around.output.rmdir()
    around.output.write_text("mine")


def shm_full(around):
    around.mount("ramfs", "mode=700")
    around.in_namespace("mount -t tmpfs -o size=64k none /dev/shm")


def no_shm(around):
    around.mount("ramfs", "mode=700")
    around.in_namespace("mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3")


def no_proc(around):
    around.in_namespace("mount -t tmpfs none /proc")


def no_standard_files_64(around):
    around.prefix = ["sh", "-c", 'ulimit -n 64; exec "$@" <&- >&- 2>&-', "sh"]


def long_variables(around):
    long = "9" * 100000
    around.variables = {name: long for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "WARPWATCH_LIVE", "HOME", "PWD", "TERM")}


SURROUNDINGS = {
    "disk_16k": disk(16), "disk_64k": disk(64), "disk_100k": disk(100), "disk_256k": disk(256),
    "ext4_16k": full_ext4(16), "ext4_100k": full_ext4(100), "ext4_256k": full_ext4(256),
    "quota": btrfs_quota(False), "quota_live": btrfs_quota(True),
    "read_only": read_only, "removed": removed, "not_a_directory": not_a_directory,
    "shm_full": shm_full, "no_shm": no_shm, "no_proc": no_proc,
    "no_stderr": lambda around: around.shell("2>&-"),
    "no_standard_files": lambda around: around.shell("<&- >&- 2>&-"),
    "no_standard_files_64": no_standard_files_64,
    "long_variables": long_variables,
    "no_home": lambda around: around.prefix.extend(["/usr/bin/env", "-u", "HOME", "-u", "PATH"]),
}


@pytest.fixture
def surroundings(tmp_path):
    made = []

    def make(name):
        made.append(Surroundings(tmp_path / f"{name}{len(made)}"))
        return made[-1]

    yield make
    for around in made:
        around.close()


@pytest.fixture(autouse=True)
def ledgers_on_disk(monkeypatch, tmp_path):
    """Not in /dev/shm, which is among the things that break."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))


STREAMLESS = ("no_stderr", "no_standard_files", "no_standard_files_64")


def fault_around_the_process(tmp_path, surroundings, name, repeats=REPEATS, **variables):
    if support.SANITIZER and name == "no_proc":
        pytest.skip("a sanitizer's runtime reads /proc")
    if support.SANITIZER == "thread" and name in ("shm_full", "no_shm") + STREAMLESS:
        pytest.skip("ThreadSanitizer's runtime starts no shell")

    def run(kind, preload):
        around = surroundings(name)
        SURROUNDINGS[name](around)
        command = [*around.prefix, FAULTS, "nothing", "first", "/", repeats]
        done = support.run_simulated(command, tmp_path / kind, preload, status=5, WARPWATCH_OUTPUT=around.output,
                                     **around.variables, **variables)
        done.output = around.output
        assert name != "not_a_directory" or around.output.read_text() == "mine"
        return done

    return run


@pytest.mark.parametrize("name, expected", [(name, cells) for name, _, cells in faults_page.rows("around")])
def test_a_fault_around_the_process(tmp_path, surroundings, seen, name, expected):
    run = fault_around_the_process(tmp_path, surroundings, name)
    plain = run("plain", None)
    outcomes = seen["around", name, ""] = [outcome_of(plain, watched) for watched in tries(run)]
    check(expected, outcomes)


@pytest.mark.parametrize("name, expected", [(name, cells) for name, _, cells in faults_page.rows("trace")])
def test_a_fault_of_a_traced_process(tmp_path, surroundings, seen, name, expected):
    """A fault of the process comes after its first launch, when the trace has begun."""
    traced = {"repeats": TRACED_REPEATS, "WARPWATCH_TRACE": 1}
    run = (fault_around_the_process(tmp_path, surroundings, name, **traced) if name in SURROUNDINGS
           else fault_of_the_process(tmp_path, name, "later", **traced))
    plain = run("plain", None)
    outcomes = seen["trace", name, ""] = [outcome_of(plain, watched, TRACED_LAUNCHES, traced=True)
                                          for watched in tries(run)]
    check(expected, outcomes, TRACED_LAUNCHES)


# --- a trace on a disk that fills up -------------------------------------------------------------------------------------

STREAMS = support.BUILD / "tests" / "clients" / "streams"
# How to make the file system, bytes of its image, mount options. Where it can, a trace leaves its pages without space at first.
DISKS = {
    "ext4": ("mkfs.ext4", 24 << 20, "loop"),
    "ext4_at_once": ("mkfs.ext4", 24 << 20, "loop,nodelalloc"),
    "ext3": ("mkfs.ext3", 24 << 20, "loop"),
    "xfs": ("mkfs.xfs", 320 << 20, "loop"),
}


def fill(path, left_bytes):
    """All of the disk but so much."""
    with open(path, "w+b") as file:
        end = 0
        for step in (1 << 20, 1 << 16, 1 << 12):
            try:
                while True:
                    os.posix_fallocate(file.fileno(), end, step)
                    end += step
            except OSError as error:
                assert error.errno == errno.ENOSPC
        file.truncate(end - left_bytes)
        os.fsync(file.fileno())


class Disk:
    def __init__(self, directory, maker, size, options):
        self.image, self.path, self.options = directory / "image", directory / "disk", options
        self.path.mkdir()
        if not shutil.which(maker):
            pytest.skip(f"no {maker} here")
        self.image.touch()
        os.truncate(self.image, size)
        subprocess.run([maker, "-q", self.image], check=True)
        self.mount()

    def mount(self):
        done = subprocess.run(["mount", "-o", self.options, self.image, self.path], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"may not mount an image here: {done.stderr.strip()}")

    def unmount(self):
        subprocess.run(["umount", self.path], check=True)


def exported(output):
    """(launches, lost ones) of the trace."""
    done = subprocess.run([support.WARPWATCH, "export", "--format", "chrome", output], capture_output=True, check=True,
                          env=support.clean_environment())
    events = json.loads(done.stdout)["traceEvents"]
    return (sum(event["ph"] == "X" for event in events),
            sum(event["args"]["launches"] for event in events if event["ph"] == "i"))


@pytest.mark.parametrize("left_bytes", (1 << 20, 3 << 20))
@pytest.mark.parametrize("name", DISKS)
def test_a_trace_fills_the_disk(tmp_path, name, left_bytes):
    """It goes round in what it got; what it says it has is there when the disk comes back."""
    disk = Disk(tmp_path, *DISKS[name])
    try:
        output = disk.path / "stores"
        output.mkdir()
        fill(disk.path / "filler", left_bytes)
        run = support.run_simulated([STREAMS, "1", "100000"], tmp_path, WARPWATCH_OUTPUT=output, WARPWATCH_TRACE=1,
                                    WARPWATCH_REPORT="none")
        run.output = output
        assert run.stdout == "" and run.ledger["faults"] == []
        line, = run.stderr.splitlines()
        assert "the store cannot grow: No space left on device" in line
        support.assert_same_launches(run.ledger_counts, run.report_counts)
        kept, lost = exported(output)
        assert kept + lost == 500000 and 10000 < kept < left_bytes / 16 and lost > 0
        disk.unmount()
        disk.mount()
        assert exported(output) == (kept, lost)
    finally:
        disk.unmount()


def test_every_row_is_tried_and_every_fault_has_its_row():
    assert {name for name, _, _ in faults_page.rows("around")} == set(SURROUNDINGS)
    source = (support.ROOT / "tests" / "cases" / "clients" / "faults.c").read_text()
    assert {name for name, _, _ in faults_page.rows("process")} == set(re.findall(r'^    \{"(\w+)", \1\}', source, re.M))
