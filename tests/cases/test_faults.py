"""The tables of docs/robustness.md: surroundings that break, and what becomes of program, counts and stderr."""
import errno
import json
import os
import re
import shutil
import subprocess

import pytest
import support

FAULTS = support.BUILD / "tests" / "clients" / "faults"
LAUNCHES = 3102
TRIES = 20 if support.LONG else 1


def rows(cells):
    """Rows of the page's tables that have so many cells: names of the faults, then what is expected."""
    lines = (support.ROOT / "docs" / "robustness.md").read_text().splitlines()
    for line in lines:
        row = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("| ") else []
        names = re.findall(r"`(\w+)`", row[1]) if len(row) == cells else []
        yield from ((name, row[2:]) for name in names)


def documented():
    for name, (first, later) in rows(4):
        yield from ((name, when, fate) for when, fate in (("first", first), ("later", later)) if fate != "–")


def check(plain, watched, fate):
    assert (watched.status, watched.stdout) == (plain.status, plain.stdout)
    assert support.program_lines(watched.stderr) == support.program_lines(plain.stderr) == []
    support.assert_same_launches(plain.ledger_counts, watched.ledger_counts)
    assert watched.ledger["faults"] == plain.ledger["faults"] == []
    lines = watched.stderr.splitlines()
    assert len(lines) <= 1, lines
    assert fate_of(watched) == fate, (fate_of(watched), lines)


def fate_of(run):
    if not [path for path in run.output.glob("*.ww*") if path.suffix in (".ww", ".live")]:
        return "none"
    totals = run.report["totals"]
    assert totals["launches"] + totals["lost"] == LAUNCHES == sum(row.launches for row in run.ledger_counts.values())
    if totals["lost"]:
        assert run.report["processes"][0]["lost"] == totals["lost"]
        return "part"
    if totals["further"]:
        return "rest"
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    return "all"


def in_open_directory(tmp_path, name):
    """Any user may write where the stores go; what leads there may be passed by all."""
    directory = tmp_path / name
    (directory / "stores").mkdir(parents=True)
    for path in (directory, directory / "stores"):
        path.chmod(0o777)
    for path in [directory, *directory.parents][:-2]:
        path.chmod(path.stat().st_mode | 0o111)
    return directory


@pytest.mark.parametrize("name, when, fate", documented())
def test_a_fault_of_the_process(tmp_path, name, when, fate):
    if support.SANITIZER and name.startswith(("mapping_", "no_address_space", "all_else_kills")):
        pytest.skip("a sanitizer's runtime needs what this takes away")
    for attempt in range(TRIES):
        (tmp_path / "root").mkdir(exist_ok=True)
        command = [FAULTS, name, when, tmp_path / "root"]
        plain, watched = (support.run_simulated(command, in_open_directory(tmp_path, f"{kind}{attempt}"), preload, status=5)
                          for kind, preload in (("plain", None), ("watched", support.LIBRARY)))
        if name == "own_stderr":
            assert plain.stdout == "0 bytes of its own\ndone\n"
        check(plain, watched, fate)


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
        self.output = directory / "output"
        self.output.mkdir(parents=True)
        self.prefix, self.variables, self.mounted = [], {}, []

    def mount(self, kind, options):
        done = subprocess.run(["mount", "-t", kind, "-o", options, "none", self.output], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"may not mount a {kind} here: {done.stderr.strip()}")
        self.mounted.append(self.output)

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


@pytest.mark.parametrize("name, fate", [(name, fate) for name, (fate,) in rows(3)])
def test_a_fault_around_the_process(tmp_path, surroundings, name, fate):
    if support.SANITIZER and name == "no_proc":
        pytest.skip("a sanitizer's runtime reads /proc")
    for attempt in range(TRIES):
        around = surroundings(name)
        SURROUNDINGS[name](around)
        command = [*around.prefix, FAULTS, "nothing", "first"]
        plain, watched = (
            support.run_simulated(command, tmp_path / f"{kind}{attempt}", preload, status=5,
                                  WARPWATCH_OUTPUT=around.output, **around.variables)
            for kind, preload in (("plain", None), ("watched", support.LIBRARY)))
        watched.output = around.output
        check(plain, watched, fate)
        assert name != "not_a_directory" or around.output.read_text() == "mine"


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
    assert {name for name, _ in rows(3)} == set(SURROUNDINGS)
    source = (support.ROOT / "tests" / "cases" / "clients" / "faults.c").read_text()
    assert {name for name, _ in rows(4)} == set(re.findall(r'^    \{"(\w+)", \1\}', source, re.M))
