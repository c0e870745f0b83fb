"""The conformance programs on graphs, capture and the runtime, under warpwatch: they notice nothing, and what they say they
launched, the ledger and the report are the same."""
import pytest
import support

PROGRAMS = ["graph_build", "graph_exec", "graph_update", "graph_memory", "graph_threads", "capture", "capture_rules",
            "runtime_basics", "runtime_devices", "runtime_errors", "runtime_launch", "runtime_graph", "runtime_per_thread"]


def without_numbers(output):
    """Threads number their checks in the order in which they come to them."""
    return sorted(line.split(" - ", 1)[-1] for line in output.splitlines())


@pytest.mark.parametrize("program", PROGRAMS)
def test_conformance_program_under_warpwatch(program, simulated):
    command = [support.BUILD / "tests" / f"conformance_{program}"]
    plain = simulated(command, preload=None, device="h200,h200")
    watched = simulated(command, device="h200,h200")
    assert without_numbers(watched.stdout) == without_numbers(plain.stdout)
    assert watched.stderr == plain.stderr
    claimed = support.counts_of_output(watched.stdout)
    support.assert_same_launches(claimed, watched.ledger_counts)
    support.assert_same_launches(claimed, watched.report_counts if watched.stores else {})
    assert watched.ledger["faults"] == plain.ledger["faults"]
