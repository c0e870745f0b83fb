"""Timing and counters from the program to the report, with the stub libcupti below the simulated driver."""
import pytest

from support import SAMPLES, assert_same_launches, warpwatch


def configurations(run):
    return [row for kernel in run.report["kernels"] for row in kernel["configurations"]]


def log_of(path):
    text = path.read_text()
    assert "violation" not in text, text
    return text


def test_counters_fill_the_measured_columns(watched_and_not, tmp_path):
    log = tmp_path / "log"
    run = watched_and_not([SAMPLES / "tiny"], WARPWATCH_COUNTERS=1, SIMCUPTI_LOG=log)
    (row,) = configurations(run)
    assert (row["achieved_occupancy"], row["lane_utilization"], row["branch_efficiency"]) == (0.625, 0.9375, 0.875)
    assert (row["sectors_per_request"], row["bank_conflicts_per_request"]) == (5, 0.5)
    assert row["gpu_ns"] == {"count": 3, "min": 4096, "median": 4096, "max": 4096, "total": 12288}
    assert row["sources"]["achieved_occupancy"] == "measured"
    assert_same_launches(run.ledger_counts, run.report_counts)
    log_of(log)


def test_timing_counts_every_direct_launch(watched_and_not, tmp_path):
    run = watched_and_not([SAMPLES / "tiny"], WARPWATCH_TIMING=1, SIMCUPTI_LOG=tmp_path / "log")
    (row,) = configurations(run)
    assert row["gpu_ns"]["count"] == row["launches"]
    assert row["achieved_occupancy"] is None
    log_of(tmp_path / "log")


def test_timing_leaves_replays_alone(watched_and_not, tmp_path):
    run = watched_and_not([SAMPLES / "graph"], WARPWATCH_TIMING=1, SIMCUPTI_LOG=tmp_path / "log")
    for row in configurations(run):
        measured = row["gpu_ns"]["count"] if row["gpu_ns"] else 0
        assert measured <= row["launches"] - row["graph_launches"]
    log_of(tmp_path / "log")


@pytest.mark.parametrize("sample", ["cooperative", "cluster", "modules", "library", "graph", "threads"])
def test_counters_disturb_no_sample(watched_and_not, tmp_path, sample):
    run = watched_and_not([SAMPLES / sample], WARPWATCH_COUNTERS=1, SIMCUPTI_LOG=tmp_path / "log")
    assert_same_launches(run.ledger_counts, run.report_counts)
    log_of(tmp_path / "log")


def test_no_permission_is_one_line_and_the_theory_stands(simulated):
    run = simulated([SAMPLES / "tiny"], WARPWATCH_COUNTERS=1, SIMCUPTI_FAIL="cuptiRangeProfilerEnable=35")
    said = [line for line in run.stderr.splitlines() if line.startswith("warpwatch: ")]
    assert sum("NVreg_RestrictProfilingToAdminUsers=0" in line for line in said) == 1
    (row,) = configurations(run)
    assert row["achieved_occupancy"] is None and row["theoretical_occupancy"] == 0.5


def test_a_simulated_measurement_is_marked_in_the_report(simulated):
    run = simulated([SAMPLES / "tiny"], WARPWATCH_COUNTERS=1)
    text = warpwatch("report", run.output)
    assert "simulated" in text and "62.5 %" in text
