"""Random walks through all that launches and all that changes what a launch means (clients/chaos.c): every result code is the
same with and without the preload, and the report is the ledger."""
import pytest
import support

CHAOS = support.BUILD / "tests" / "clients" / "chaos"
SEEDS = range(200 if support.LONG else 8)


@pytest.mark.parametrize("device, driver", [("h200", None), ("t4,h200", None), ("h200", "12020")])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_walk(watched_and_not, seed, device, driver):
    steps, threads = (5000, 1) if seed % 2 else (1000, 6)
    run = watched_and_not([CHAOS, seed, steps, threads], device=device, SIMCUDA_DRIVER_VERSION=driver)
    assert run.ledger["faults"] == [] and run.stderr == ""
    assert sum(count.graph_launches for count in run.ledger_counts.values()) > 500
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    process, = run.report["processes"]
    assert (process["lost"], process["uncounted"]) == (0, 0)
