"""Reports while the program still runs, after it was killed, and of stores that live elsewhere."""
import json
import os
import signal
import subprocess

import pytest

import store_files
from support import BUILD, DEV, LIBRARY, WARPWATCH, clean_environment, ledgers, preloaded

BUSY = BUILD / "tests" / "clients" / "busy"


class Busy:
    """A program that launches until its standard input is closed."""

    def __init__(self, directory, **variables):
        self.output, self.ledger = directory / "stores", directory / "ledger.json"
        self.output.mkdir()
        settings = {"LD_PRELOAD": preloaded(LIBRARY), "WARPWATCH_OUTPUT": self.output, **variables}
        self.process = subprocess.Popen(
            [str(DEV), "sim", "--ledger", str(self.ledger), "--", "env", *(f"{k}={v}" for k, v in settings.items()),
             str(BUSY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean_environment())
        assert self.process.stdout.readline() == "ready\n"

    def report(self):
        done = subprocess.run([str(WARPWATCH), "report", "--format", "json", str(self.output)], capture_output=True, text=True,
                              env=clean_environment())
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return json.loads(done.stdout)

    def finish(self):
        output, _ = self.process.communicate()
        assert self.process.returncode == 0
        return int(output.split()[-1])

    def kill(self):
        (pid,) = [process["pid"] for process in self.report()["processes"]]
        os.kill(pid, signal.SIGKILL)
        self.process.communicate()

    @property
    def ledger_launches(self):
        return sum(row["count"] for ledger in ledgers(self.ledger) for row in ledger["launches"])


@pytest.fixture
def busy(tmp_path):
    started = []

    def start(**variables):
        started.append(Busy(tmp_path, **variables))
        return started[-1]

    yield start
    for program in started:
        program.process.kill()
        program.process.communicate()


def test_a_store_that_is_being_written_is_read_consistently(busy):
    program = busy()
    seen = []
    while len(seen) < 20 or seen[-1] == seen[0]:
        report = program.report()
        (process,) = report["processes"]
        assert process["state"] == "running" and process["damage"] is None and process["lost"] == 0
        rows = [row for kernel in report["kernels"] for row in kernel["configurations"]]
        assert sum(row["launches"] for row in rows) == report["totals"]["launches"] == process["launches"]
        seen.append(report["totals"]["launches"])
    assert seen == sorted(seen)
    total = program.finish()
    assert seen[-1] <= total
    report = program.report()
    assert report["totals"]["launches"] == total == program.ledger_launches
    assert report["processes"][0]["state"] == "finished"


def test_after_a_kill_nothing_is_lost_and_the_state_says_so(busy):
    program = busy()
    program.kill()
    report = program.report()
    assert report["processes"][0]["state"] == "ended" and report["processes"][0]["damage"] is None
    assert program.ledger_launches - 2 <= report["totals"]["launches"] <= program.ledger_launches


def test_a_live_store_is_followed_and_brought_home_when_its_process_is_gone(busy, tmp_path):
    live = tmp_path / "live"
    live.mkdir()
    program = busy(WARPWATCH_LIVE=live)
    (pointer,) = program.output.iterdir()
    assert pointer.name.endswith(".ww.live") and len(list(live.glob("*.ww"))) == 1
    assert program.report()["processes"][0]["state"] == "running" and pointer.exists()
    program.kill()
    counted = program.report()["totals"]["launches"]
    assert [path.name for path in program.output.iterdir()] == [pointer.name[:-len(".live")]]
    assert list(live.glob("*.ww")) == []
    assert program.report()["totals"]["launches"] == counted


def test_a_pointer_file_does_not_make_the_report_delete_anything_else(tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_text("not a store")
    for name, content in (("a.ww.live", f"{precious}\n"), ("b.ww.live", "relative\n"), ("c.ww.live", ""),
                          ("d.ww.live", "/nowhere/at/all.ww\n")):
        (tmp_path / name).write_text(content)
    done = subprocess.run([str(WARPWATCH), "report", str(tmp_path)], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 3 and done.stderr.count("\n") == 4
    assert precious.read_text() == "not a store"


def test_a_finished_store_elsewhere_is_copied_whole(tmp_path):
    store = store_files.Store()
    store.device()
    store.count(store_files.DIRECT, store.configuration(store.kernel("k")), 3)
    path = store.save(tmp_path / "shm")
    content = path.read_bytes()
    output = tmp_path / "output"
    output.mkdir()
    (output / (path.name + ".live")).write_text(f"{path}\n")
    done = subprocess.run([str(WARPWATCH), "report", str(output)], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0 and "3 launches" in done.stdout
    assert not path.exists() and (output / path.name).read_bytes() == content
