"""Every sample program: what it says == what the driver's ledger says == what the report says, to the launch."""
import pytest

from support import SAMPLES, assert_documented, assert_same_launches, counts_of_output

PROGRAMS = ["vecadd", "tail", "tiny", "decode", "registers", "shared", "oddblock", "divergence", "strided", "banks",
            "graph", "cooperative", "cluster", "threads", "modules", "library"]
DEVICES = ["h200", "a100", "b200", "rtx4090", "rtx5090", "t4"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_report_equals_ledger_equals_program(watched_and_not, program):
    run = watched_and_not([SAMPLES / program])
    said = counts_of_output(run.stdout)
    assert said
    assert_same_launches(said, run.ledger_counts)
    assert_same_launches(said, run.report_counts)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("program", ["vecadd", "shared", "cooperative", "cluster", "modules"])
def test_on_every_device(simulated, program, device):
    run = simulated([SAMPLES / program], device=device)
    assert_same_launches(counts_of_output(run.stdout), run.ledger_counts)
    if run.ledger_counts:
        assert_same_launches(run.ledger_counts, run.report_counts)
        assert run.report["devices"][0]["simulated"] is True


def test_totals_are_the_sum(simulated):
    run = simulated([SAMPLES / "graph"])
    report = run.report
    assert report["totals"]["launches"] == sum(count.launches for count in run.ledger_counts.values()) == 3000
    assert report["totals"]["graph_launches"] == 3000
    assert report["totals"]["lost"] == 0
    assert report["processes"][0]["launches"] == 3000
    assert report["processes"][0]["state"] == "finished"


@pytest.mark.parametrize("program", ["vecadd", "tiny", "threads", "cluster", "cooperative", "graph", "modules", "library"])
def test_docs_say_how_many(simulated, program):
    assert_documented(program, simulated([SAMPLES / program]))
