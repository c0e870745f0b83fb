"""The last line of ./dev test: it counts what the JUnit files say and cannot pass by saying nothing."""
import subprocess
import sys

from support import ROOT

SUITE = '<testsuite>{}</testsuite>'
PASSED = '<testcase classname="a" name="passed"/>'
FAILED = '<testcase classname="a" name="failed"><failure message="no"/></testcase>'
BROKEN = '<testcase classname="a" name="broken"><error message="no"/></testcase>'
SKIPPED = '<testcase classname="a" name="skipped"><skipped message="no such device"/></testcase>'
SILENT = '<testcase classname="a" name="silent"><skipped message=""/></testcase>'
CTEST_SKIPPED = ('<testcase name="skipped" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
                 '<system-out>no such device</system-out></testcase>')
CTEST_MISSING = ('<testcase name="missing" status="notrun"><skipped message="Unable to find executable"/></testcase>')


def summary(tmp_path, *cases, status=0):
    path = tmp_path / "results.xml"
    path.write_text(SUITE.format("".join(cases)))
    return run(f"{path}={status}")


def run(*arguments):
    done = subprocess.run([sys.executable, str(ROOT / "tests/summary.py"), *arguments], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    return done.returncode, lines[-1], lines[:-1]


def test_all_passed(tmp_path):
    assert summary(tmp_path, PASSED, PASSED) == (0, "2 passed, 0 failed", [])


def test_failures_and_errors_are_named(tmp_path):
    status, line, named = summary(tmp_path, PASSED, FAILED, BROKEN, status=1)
    assert (status, line) == (1, "1 passed, 2 failed")
    assert named == ["failed: a.failed: no", "failed: a.broken: no"]


def test_skips_are_counted_with_their_reason(tmp_path):
    for skipped, name in ((SKIPPED, "a.skipped"), (CTEST_SKIPPED, "skipped")):
        assert summary(tmp_path, PASSED, skipped) == (0, "1 passed, 0 failed, 1 skipped",
                                                      [f"skipped: {name}: no such device"])


def test_a_skip_without_a_reason_and_a_missing_program_fail(tmp_path):
    assert summary(tmp_path, PASSED, SILENT)[:2] == (1, "1 passed, 1 failed")
    assert summary(tmp_path, PASSED, CTEST_MISSING)[:2] == (1, "1 passed, 1 failed")


def test_a_crash_without_a_failed_case_fails(tmp_path):
    assert summary(tmp_path, PASSED, status=139)[:2] == (1, "1 passed, 1 failed")


def test_nothing_run_and_nothing_written_fail(tmp_path):
    assert summary(tmp_path)[:2] == (1, "0 passed, 0 failed")
    assert run(f"{tmp_path}/nothing.xml=0")[:2] == (1, "0 passed, 1 failed")
