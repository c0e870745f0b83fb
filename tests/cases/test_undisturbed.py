"""The program is not disturbed: the simulated driver's own conformance programs say and do the same with and without the
preload, and every launch that the driver accepted is in the report."""
import re

import pytest
import support

PROGRAMS = sorted(path.name for path in (support.BUILD / "tests").glob("conformance_*") if path.is_file())
CODE = support.BUILD / "tests" / "conformance" / "code"


def said(run):
    """Status and lines; threads of a program print in any order, so their numbers do not count."""
    return run.status, sorted(re.sub(r"^(not ok|ok) \d+", r"\1", line) for line in run.stdout.splitlines()), run.stderr


def test_there_are_conformance_programs():
    assert len(PROGRAMS) >= 10


FORKS = pytest.param("conformance_processes", marks=pytest.mark.unsanitized(support.WIPED_LOCKS, only="thread"))


@pytest.mark.parametrize("device", ["h200,h200", "t4,h200"])
@pytest.mark.parametrize("program", [FORKS if name == "conformance_processes" else name for name in PROGRAMS
                                     if name != "conformance_faults"])
def test_with_and_without_the_preload(tmp_path, program, device):
    command = [support.BUILD / "tests" / program]
    alone, watched = (support.run_simulated(command, tmp_path / name, preload=preload, device=device, status=None,
                                            CONFORMANCE_CODE=CODE)
                      for name, preload in (("alone", None), ("watched", support.LIBRARY)))
    assert said(watched) == said(alone)
    assert watched.ledger_counts == alone.ledger_counts
    faults = [sorted(ledger["faults"] for ledger in run.ledgers) for run in (alone, watched)]
    assert faults[0] == faults[1]
    if watched.ledger_counts:
        support.assert_same_launches(watched.ledger_counts, watched.report_counts)
    else: # at most requests that the host cannot count
        assert all(process["uncounted"] for process in watched.report["processes"]) if watched.stores else True
