"""Another profiler in the process, which uses CUPTI as torch.profiler does: one that came first is left alone, and one
that comes later finds everything free."""
import pytest

import support

PROGRAM = support.BUILD / "tests" / "other_profiler"
CODE = support.SAMPLES / "kernels.fatbin"


@pytest.fixture
def profiled(simulated, tmp_path):
    def run(way, when, **options):
        run = simulated([PROGRAM, CODE, way, when, 100, 50, 10], SIMCUPTI_LOG=tmp_path / "log", **options)
        assert "violation" not in (tmp_path / "log").read_text()
        support.assert_same_launches(run.ledger_counts, run.report_counts)
        return run

    return run


def answers(kernels):
    return ["subscribe 0", "register 0", "enable 0", "unsubscribe 0", f"kernels {kernels}, foreign buffers 0"]


@pytest.mark.parametrize("measure", ["TIMING", "TIMING_NODES", "COUNTERS"])
@pytest.mark.parametrize("way", ["linked", "looked-up"])
def test_one_that_starts_later_works(profiled, way, measure):
    run = profiled(way, "later", **{f"WARPWATCH_{measure}": 1})
    assert run.stdout.splitlines() == answers(50)
    said = support.warpwatch_lines(run.stderr)
    assert len(said) == 1 and "another profiler starts" in said[0]
    (row,) = run.report["kernels"][0]["configurations"]
    assert row["launches"] == 160
    if measure == "COUNTERS":
        assert row["achieved_occupancy"] == 0.625
    else:
        assert row["measured_launches"] == {"timing": 100, "set_a": 0, "set_b": 0}


@pytest.mark.parametrize("measure", ["TIMING", "COUNTERS"])
@pytest.mark.parametrize("way", ["linked", "looked-up"])
def test_one_that_came_first_keeps_what_it_has(profiled, way, measure):
    run = profiled(way, "first", **{f"WARPWATCH_{measure}": 1})
    assert run.stdout.splitlines() == answers(150)
    said = support.warpwatch_lines(run.stderr)
    assert len(said) == 1 and "another profiler holds CUPTI" in said[0]
    (row,) = run.report["kernels"][0]["configurations"]
    assert row["achieved_occupancy"] is None
    assert row["sources"]["gpu_ns"] == ("estimated" if measure == "TIMING" else None)


@pytest.mark.parametrize("way", ["linked", "looked-up"])
def test_without_measuring_nothing_stands_in_its_way(profiled, way):
    run = profiled(way, "later")
    assert run.stdout.splitlines() == answers(50) and run.stderr == ""
