"""Timing and counters from the program to the report, with the stub libcupti below the simulated driver."""
import shutil
import subprocess

import pytest

from support import BUILD, CUDA_HOME, LIBRARY, SAMPLES, WIPED_LOCKS, assert_same_launches, warpwatch, warpwatch_lines


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
    assert row["measured_launches"] == {"timing": 0, "set_a": 3, "set_b": 1}
    assert row["sources"]["achieved_occupancy"] == "measured"
    assert_same_launches(run.ledger_counts, run.report_counts)
    log_of(log)


def test_timing_counts_every_direct_launch(watched_and_not, tmp_path):
    run = watched_and_not([SAMPLES / "tiny"], WARPWATCH_TIMING=1, SIMCUPTI_LOG=tmp_path / "log")
    (row,) = configurations(run)
    assert row["gpu_ns"]["count"] == row["launches"]
    assert row["achieved_occupancy"] is None
    log_of(tmp_path / "log")


def test_replays_are_timed_as_a_whole(watched_and_not, tmp_path):
    run = watched_and_not([SAMPLES / "graph"], WARPWATCH_TIMING=1, SIMCUPTI_LOG=tmp_path / "log")
    report, ledger = run.report, run.ledger
    replays = ledger["calls"]["cuGraphLaunch"]
    assert report["totals"]["graph_gpu_ns"]["count"] == replays
    assert report["totals"]["graph_gpu_ns"]["total"] == 4096 * sum(row["graph_count"] for row in ledger["launches"])
    assert report["totals"]["measured_launches"] == {"timing": replays, "set_a": 0, "set_b": 0}
    assert all(row["gpu_ns"] is None for row in configurations(run))
    log_of(tmp_path / "log")


def test_on_request_the_kernels_of_replays_are_timed(watched_and_not, tmp_path):
    run = watched_and_not([SAMPLES / "graph"], WARPWATCH_TIMING_NODES=1, SIMCUPTI_LOG=tmp_path / "log")
    assert run.report["totals"]["graph_gpu_ns"] is None
    rows = configurations(run)
    timed, replayed = sum(row["gpu_ns"]["count"] for row in rows), sum(row["graph_launches"] for row in rows)
    assert 0.9 * replayed < timed < replayed  # a first replay after a change is left out
    log_of(tmp_path / "log")


def test_what_measuring_took_is_shown(simulated):
    run = simulated([SAMPLES / "tiny"], WARPWATCH_COUNTERS=1)
    report = run.report
    assert report["totals"]["measured_launches"] == {"timing": 0, "set_a": 3, "set_b": 1}
    assert report["totals"]["measuring_ns"] == report["processes"][0]["measuring_ns"] > 0
    assert "Measured: 3 launches by counter set A, 1 launch by counter set B; that took" in warpwatch("report", run.output)
    header, row, *_ = warpwatch("report", "--format", "csv", run.output).splitlines()
    row = dict(zip(header.split(","), row.split(",")))
    assert (row["measured_timing"], row["measured_set_a"], row["measured_set_b"]) == ("0", "3", "1")


def test_without_measuring_nothing_of_it_is_claimed(simulated):
    run = simulated([SAMPLES / "tiny"])
    report = run.report
    assert report["totals"]["measured_launches"] is None and report["totals"]["measuring_ns"] is None
    assert report["processes"][0]["measuring_ns"] is None and configurations(run)[0]["measured_launches"] is None
    assert "Measured:" not in warpwatch("report", run.output)


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


FORKS = pytest.param("processes", marks=pytest.mark.unsanitized(WIPED_LOCKS, only="thread"))


@pytest.mark.parametrize("measure", ["TIMING", "TIMING_NODES", "COUNTERS"])
@pytest.mark.parametrize("program", [FORKS, "threads", "contexts", "green", "streams", "modules", "launch_errors",
                                     "capture", "graph_exec", "graph_threads", "runtime_graph", "runtime_devices"])
def test_conformance_programs_notice_nothing_of_it(simulated, tmp_path, program, measure):
    command = [BUILD / "tests" / f"conformance_{program}"]
    options = dict(device="h200,h200", CONFORMANCE_CODE=BUILD / "tests" / "conformance" / "code")
    plain = simulated(command, preload=None, **options)
    run = simulated(command, SIMCUPTI_LOG=tmp_path / "log", **{f"WARPWATCH_{measure}": 1}, **options)
    numberless = [sorted(line.split(" - ", 1)[-1] for line in done.stdout.splitlines()) for done in (plain, run)]
    assert numberless[0] == numberless[1] and run.stderr == plain.stderr
    assert [ledger["faults"] for ledger in run.ledgers] == [ledger["faults"] for ledger in plain.ledgers]
    assert_same_launches(run.ledger_counts, run.report_counts if run.stores else {})
    if (tmp_path / "log").exists():
        log_of(tmp_path / "log")


def plugins(folder, what):
    """The preloaded library with another thing beside it."""
    folder.mkdir()
    shutil.copy(LIBRARY, folder)
    if what == "no library":
        (folder / "libwarpwatch_cupti.so").write_text("text")
    elif what == "another library":
        subprocess.run(["cc", "-shared", "-xc", "/dev/null", "-o", folder / "libwarpwatch_cupti.so"], check=True)
    return folder / LIBRARY.name


@pytest.mark.parametrize("what,cause", [("nothing", "cannot be loaded"), ("no library", "cannot be loaded"),
                                        ("another library", "install both libraries together")])
def test_without_a_plugin_that_fits_one_line_says_so(simulated, tmp_path, what, cause):
    run = simulated([SAMPLES / "tiny"], preload=plugins(tmp_path / "beside", what), WARPWATCH_COUNTERS=1,
                    WARPWATCH_REPORT="none")
    said = warpwatch_lines(run.stderr)
    assert len(said) == 1 and cause in said[0]
    assert_same_launches(run.ledger_counts, run.report_counts)


@pytest.mark.parametrize("library", ["text", "/lib/x86_64-linux-gnu/libc.so.6", "/tmp", "/nowhere/libcupti.so.13"])
def test_what_is_no_libcupti_is_named(simulated, tmp_path, library):
    if library == "text":
        library = tmp_path / "libcupti.so.13"
        library.write_text("text")
    run = simulated([SAMPLES / "tiny"], WARPWATCH_TIMING=1, WARPWATCH_CUPTI=library)
    said = warpwatch_lines(run.stderr)
    assert len(said) == 1 and str(library) in said[0] and "estimated" in said[0]
    assert configurations(run)[0]["sources"]["gpu_ns"] == "estimated"


@pytest.mark.parametrize("measure", ["TIMING", "COUNTERS"])
def test_nvidias_own_libcupti_refuses_a_driver_that_is_not_its_own(simulated, measure):
    real = CUDA_HOME / "lib64" / "libcupti.so.13"
    assert real.exists()
    run = simulated([SAMPLES / "tiny"], WARPWATCH_CUPTI=real, **{f"WARPWATCH_{measure}": 1})
    said = warpwatch_lines(run.stderr)
    assert len(said) == 1 and "CUPTI does not work with this driver" in said[0]
    assert_same_launches(run.ledger_counts, run.report_counts)
