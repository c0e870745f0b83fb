"""Without the preload: the driver opens libwarpwatch_cupti.so by itself, and launches are counted through CUPTI's
callbacks. The simulated driver opens it as the real one does, in cuInit."""
import shutil

import pytest

import support
from support import LIBRARY, SAMPLES, assert_same_launches

PLUGIN = support.BUILD / "lib" / "libwarpwatch_cupti.so"
PROGRAMS = ["vecadd", "tail", "tiny", "decode", "registers", "shared", "oddblock", "divergence", "strided", "banks",
            "graph", "cooperative", "cluster", "threads", "modules", "library"]
CONFORMANCE = ["graph_build", "graph_exec", "graph_update", "graph_memory", "graph_threads", "capture", "capture_rules",
               "launches", "launch_errors", "modules", "contexts", "streams", "threads", "processes", "green", "occupancy",
               "runtime_basics", "runtime_devices", "runtime_errors", "runtime_launch", "runtime_graph",
               "runtime_per_thread"]


@pytest.fixture
def injected(simulated, tmp_path):
    def run(command, plugin=PLUGIN, preload=None, **options):
        return simulated(command, preload=preload, CUDA_INJECTION64_PATH=plugin, SIMCUPTI_LOG=tmp_path / "log", **options)

    return run


def assert_undisturbed(run, plain):
    assert (run.status, sorted(run.stdout.splitlines())) == (plain.status, sorted(plain.stdout.splitlines())), run
    assert [ledger["faults"] for ledger in run.ledgers] == [ledger["faults"] for ledger in plain.ledgers]
    assert_same_launches(plain.ledger_counts, run.ledger_counts)


def said(run):
    return support.warpwatch_lines(run.stderr)


@pytest.mark.parametrize("program", PROGRAMS)
def test_report_equals_ledger(injected, simulated, tmp_path, program):
    run = injected([SAMPLES / program])
    assert_undisturbed(run, simulated([SAMPLES / program], preload=None))
    assert_same_launches(run.ledger_counts, run.report_counts)
    assert run.ledger_counts and "violation" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize("program", CONFORMANCE)
def test_conformance_program(injected, simulated, program):
    command = [support.BUILD / "tests" / f"conformance_{program}"]
    options = dict(device="h200,h200", CONFORMANCE_CODE=support.BUILD / "tests" / "conformance" / "code")
    plain, run = simulated(command, preload=None, **options), injected(command, **options)
    numberless = [sorted(line.split(" - ", 1)[-1] for line in out.splitlines()) for out in (plain.stdout, run.stdout)]
    assert numberless[0] == numberless[1]
    assert [ledger["faults"] for ledger in run.ledgers] == [ledger["faults"] for ledger in plain.ledgers]
    assert_same_launches(run.ledger_counts, run.report_counts if run.stores else {})


@pytest.mark.parametrize("program", ["tiny", "graph", "threads"])
def test_with_the_preload_it_does_nothing(injected, tmp_path, program):
    run = injected([SAMPLES / program], preload=LIBRARY)
    assert len(run.stores) == 1
    assert_same_launches(run.ledger_counts, run.report_counts)
    assert not (tmp_path / "log").exists()  # no libcupti was opened


def test_a_disabled_one_does_nothing(injected):
    run = injected([SAMPLES / "tiny"], WARPWATCH_DISABLE=1)
    assert run.stores == [] and run.stderr == ""


def test_a_copy_of_the_preloaded_library_counts_as_preloaded(injected, tmp_path):
    copies = tmp_path / "elsewhere"
    copies.mkdir()
    shutil.copy(PLUGIN, copies)
    shutil.copy(LIBRARY, copies)
    run = injected([SAMPLES / "tiny"], plugin=copies / PLUGIN.name, preload=LIBRARY)
    assert len(run.stores) == 1
    assert_same_launches(run.ledger_counts, run.report_counts)


FAILURES = [
    (dict(SIMCUPTI_FAIL="cuptiSubscribe_v2=39"), "another profiler holds CUPTI"),
    (dict(SIMCUPTI_FAIL="cuptiEnableCallback=999"), "driver and CUPTI are of the same CUDA version"),
    (dict(SIMCUPTI_FAIL="cuptiEnableCallback=1"), "callbacks"),
    (dict(WARPWATCH_CUPTI="/nowhere/libcupti.so.13"), "no libcupti found"),
]


@pytest.mark.parametrize("script,cause", FAILURES)
def test_where_it_cannot_be_had_one_line_says_so(injected, simulated, script, cause):
    run = injected([SAMPLES / "tiny"], **script)
    assert_undisturbed(run, simulated([SAMPLES / "tiny"], preload=None))
    assert len(said(run)) == 1 and cause in said(run)[0] and run.stores == []


def test_without_the_library_beside_it_one_line_says_so(injected, tmp_path):
    lonely = tmp_path / "lonely"
    lonely.mkdir()
    shutil.copy(PLUGIN, lonely)
    run = injected([SAMPLES / "tiny"], plugin=lonely / PLUGIN.name)
    assert len(said(run)) == 1 and str(lonely / "libwarpwatch.so") in said(run)[0]


def test_launches_are_counted_and_not_measured(injected):
    run = injected([SAMPLES / "tiny"], WARPWATCH_TIMING=1, WARPWATCH_COUNTERS=1)
    assert len(said(run)) == 1 and "need the preload" in said(run)[0]
    assert_same_launches(run.ledger_counts, run.report_counts)
    assert run.report["kernels"][0]["configurations"][0]["gpu_ns"] is None


def test_whether_a_shared_runtime_launched_is_not_known(injected):
    report = injected([SAMPLES / "vecadd"]).report
    assert report["totals"]["runtime_launches"] is None
    assert report["processes"][0]["runtime_launches"] is None
    assert report["kernels"][0]["configurations"][0]["runtime_launches"] is None
