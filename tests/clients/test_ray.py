"""A pool of Ray workers: preloaded by their runtime environment, a store each, the odd one named."""
import os

from support import BUILD, LIBRARY, ROOT, SAMPLES, assert_same_launches

PYTHON = BUILD / "venv" / "ray" / "bin" / "python"
ODD = 2


def program(simulated, tmp_path, preload):
    """The library is for the workers alone, as a user would name it in `runtime_env`."""
    return simulated([PYTHON, ROOT / "tests" / "clients" / "ray_program.py", SAMPLES / "kernels.fatbin", str(ODD)],
                     preload=None, WATCH_PRELOAD=preload, WARPWATCH_REPORT="none", HOME=tmp_path,
                     RAY_USAGE_STATS_ENABLED="0", RAY_TMPDIR=f"/tmp/ray{os.getpid()}")


def test_a_pool_of_workers(simulated, tmp_path):
    assert PYTHON.exists(), "Ray could not be fetched: see build/ray.log"
    plain, run = program(simulated, tmp_path, None), program(simulated, tmp_path, LIBRARY)
    assert run.stdout == plain.stdout == "launched [100, 100, 90, 100]\n"
    assert_same_launches(plain.ledger_counts, run.ledger_counts)
    assert_same_launches(run.ledger_counts, run.report_counts)
    assert len(run.stores) == 4
    report = run.report
    assert sorted(process["rank"] for process in report["processes"]) == [0, 1, 2, 3]
    assert all(process["command"].startswith("ray::Worker") and "''" not in process["command"]
               for process in report["processes"])
    odd, = [finding for finding in report["findings"] if finding["id"] == "odd-rank"]
    assert f"rank {ODD} on " in odd["evidence"] and "launched scale 90 times, 3 other ranks 100 times" in odd["evidence"]
