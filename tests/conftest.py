"""Fixtures: `simulated` runs a program under the simulated driver with the preload, `watched_and_not` runs it
twice, with and without, and compares what the program could notice."""
import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "cases"))
import support  # noqa: E402

# A runner in the background ignores SIGINT, and what it starts would inherit that: programs under test must not.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    for item in items:
        for mark in item.iter_markers("unsanitized"):
            if support.SANITIZER and mark.kwargs.get("only", support.SANITIZER) == support.SANITIZER:
                item.add_marker(pytest.mark.skip(reason=f"not with sanitizers: {mark.args[0]}"))


@pytest.fixture
def simulated(tmp_path):
    """run_simulated in a fresh directory each time it is called."""
    runs = []

    def run(command, **options):
        runs.append(command)
        return support.run_simulated(command, tmp_path / f"run{len(runs)}", **options)

    return run


@pytest.fixture
def watched_and_not(simulated):
    """The run under the preload, after checking that output, exit status and ledger are those without it."""

    def run(command, **options):
        plain = simulated(command, preload=None, **options)
        watched = simulated(command, **options)
        assert watched.status == plain.status
        assert watched.stdout == plain.stdout
        assert support.program_lines(watched.stderr) == plain.stderr.splitlines()
        support.assert_same_launches(plain.ledger_counts, watched.ledger_counts)
        assert [ledger["faults"] for ledger in watched.ledgers] == [ledger["faults"] for ledger in plain.ledgers]
        return watched

    return run
