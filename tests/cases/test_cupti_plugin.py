"""The CUPTI plugin against the strict stub: what it measures, and what a person reads for each way that measuring can
fail. Every run also checks the stub's log: no call out of order, no wrong structSize, Start and Stop balanced."""
import re
import subprocess

import pytest
import support

SCENARIO = support.BUILD / "tests" / "cupti_scenario"
OCCUPANCY, LANES, BRANCHES, SECTORS, BANKS, TIME = 2, 4, 8, 16, 32, 1


class Outcome:
    def __init__(self, output, log):
        self.complaints = re.findall(r"^complaint (.*)$", output, re.M)
        self.features = re.findall(r"^feature (.*)$", output, re.M)
        self.child = int(re.search(r"^child (\d+)$", output, re.M).group(1))
        self.measured = {}
        self.graph = dict(item.split("=") for item in re.search(r"^graph (.*)$", output, re.M).group(1).split())
        for index, fields in re.findall(r"^measured (\d) (.*)$", output, re.M):
            self.measured[int(index)] = dict(item.split("=") for item in fields.split())
        self.calls = dict(re.findall(r"^call (\w+) (\d+)$", log, re.M))
        self.violations = re.findall(r"^violation (.*)$", log, re.M)

    def valid(self, configuration):
        return int(self.measured[configuration]["valid"], 16)


@pytest.fixture
def scenario(tmp_path):
    def run(what, launches=10, library="simcuda", how="", **script):
        log = tmp_path / "log"
        done = subprocess.run([SCENARIO, what, str(launches), how], capture_output=True, text=True, timeout=60,
                              env=support.clean_environment(LD_LIBRARY_PATH=support.BUILD / library, SIMCUPTI_LOG=log,
                                                            **script))
        assert done.returncode == 0, done.stderr
        outcome = Outcome(done.stdout, log.read_text() if log.exists() else "")
        assert outcome.child == 0
        assert outcome.violations == []
        return outcome

    return run


def test_counters_measure_a_few_launches_with_each_set(scenario):
    outcome = scenario("counters", 200)
    assert outcome.complaints == [] and outcome.features == ["counters"]
    for configuration in (0, 1):
        figures = outcome.measured[configuration]
        assert outcome.valid(configuration) & (OCCUPANCY | LANES | BANKS | TIME) == OCCUPANCY | LANES | BANKS | TIME
        assert figures["a"] == "3"
        assert (figures["occupancy"], figures["lanes"], figures["banks"]) == ("0.625", "0.9375", "0.5")
        assert (figures["count"], figures["median"]) == ("3", "4096")
    assert int(outcome.calls["cuptiRangeProfilerStart"]) == int(outcome.calls["cuptiRangeProfilerStop"]) <= 8


def test_counters_turn_to_set_b_after_a_while_with_set_a(scenario):
    outcome = scenario("counters", 2000)
    for configuration in (0, 1):
        figures = outcome.measured[configuration]
        assert outcome.valid(configuration) & (BRANCHES | SECTORS) == BRANCHES | SECTORS
        assert (figures["b"], figures["branches"], figures["sectors"]) == ("1", "0.875", "5")
    assert outcome.calls["cuptiRangeProfilerEnable"] == outcome.calls["cuptiRangeProfilerDisable"] == "2"


def test_communication_kernels_and_captures_are_never_measured(scenario):
    outcome = scenario("counters", 50)
    assert outcome.valid(2) == 0 and outcome.valid(3) == 0


def test_kernels_that_the_user_names_are_never_measured(scenario):
    outcome = scenario("counters", 50, WARPWATCH_COUNTERS_SKIP="gemm,SAXPY")
    assert outcome.valid(0) == 0 and "cuptiRangeProfilerStart" not in outcome.calls


def test_a_metric_that_is_not_a_number_is_left_out_alone(scenario):
    outcome = scenario("counters", 50, SIMCUPTI_NAN="sm__warps_active.avg.pct_of_peak_sustained_active")
    assert outcome.valid(0) & (OCCUPANCY | LANES) == LANES


def test_a_metric_that_the_chip_lacks_is_dropped_alone(scenario):
    outcome = scenario("counters", 50,
                       SIMCUPTI_UNKNOWN="l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")
    assert outcome.complaints == []
    assert outcome.valid(0) & (OCCUPANCY | BANKS) == OCCUPANCY


@pytest.mark.parametrize("script", [{"SIMCUPTI_DROPPED": "1"}, {"SIMCUPTI_RANGES": "2"}, {"SIMCUPTI_RANGES": "0"}])
def test_a_range_that_is_dropped_or_not_alone_is_thrown_away(scenario, script):
    outcome = scenario("counters", 50, **script)
    assert outcome.complaints == []
    assert outcome.valid(0) == 0 and outcome.measured[0]["a"] == "0"
    assert int(outcome.calls["cuptiRangeProfilerStart"]) <= 2 * (9 + 3)  # it is not tried for ever


def test_a_measured_launch_that_takes_too_long_ends_sampling(scenario):
    outcome = scenario("counters", 50, SIMCUPTI_SLOW_STOP_MS="2500")
    assert len(outcome.complaints) == 1 and "more than 2 s" in outcome.complaints[0]
    assert "WARPWATCH_COUNTERS_SKIP=saxpy" in outcome.complaints[0]
    assert outcome.calls["cuptiRangeProfilerStart"] == "1"
    assert outcome.calls["cuptiRangeProfilerDisable"] == "1"


def test_a_measured_launch_that_never_ends_is_named_while_it_hangs():
    environment = support.clean_environment(LD_LIBRARY_PATH=support.BUILD / "simcuda", SIMCUPTI_SLOW_STOP_MS=10**7)
    with subprocess.Popen([SCENARIO, "counters", "50"], stdout=subprocess.PIPE, text=True, env=environment) as program:
        lines = iter(program.stdout.readline, "")
        said = next(line for line in lines if line.startswith("complaint"))
        assert program.poll() is None and "WARPWATCH_COUNTERS_SKIP=saxpy" in said
        program.kill()


FAILURES = [
    ("cuptiProfilerInitialize", 999, "driver and CUPTI are of the same CUDA version"),
    ("cuptiRangeProfilerEnable", 35, "NVreg_RestrictProfilingToAdminUsers=0"),
    ("cuptiRangeProfilerEnable", 39, "another profiler holds CUPTI"),
    ("cuptiRangeProfilerEnable", 26, "another profiler is using the GPU's counters"),
    ("cuptiRangeProfilerStart", 26, "another profiler is using the GPU's counters"),
    ("cuptiRangeProfilerSetConfig", 23, "another tool has disabled CUPTI"),
    ("cuptiRangeProfilerStop", 999, "driver and CUPTI are of the same CUDA version"),
    ("cuptiRangeProfilerDecodeData", 41, "confidential computing is on"),
    ("cuptiProfilerGetCounterAvailability", 40, "vGPU"),
    ("cuptiProfilerHostInitialize", 46, "does not know the GPU"),
    ("cuptiDeviceGetChipName", 43, "MIG"),
    ("cuptiProfilerHostEvaluateToGpuValues", 1, "CUPTI answered"),
]


@pytest.mark.parametrize("function,code,said", FAILURES)
def test_each_failure_is_one_line_and_ends_measuring(scenario, function, code, said):
    outcome = scenario("counters", 50, SIMCUPTI_FAIL=f"{function}={code}")
    assert len(outcome.complaints) == 1 and said in outcome.complaints[0]
    assert int(outcome.calls[function]) <= 2  # nothing is tried again
    enabled = int(outcome.calls.get("cuptiRangeProfilerEnable", 0))
    failed_enable = function == "cuptiRangeProfilerEnable"
    assert failed_enable or int(outcome.calls.get("cuptiRangeProfilerDisable", 0)) == enabled


@pytest.mark.parametrize("flag,said", [("vGpu", "vGPU"), ("confidentialCompute", "confidential computing"),
                                       ("sli", "SLI"), ("cmp", "mining"), ("wsl", "WSL"),
                                       ("architecture", "compute capability 7.5")])
def test_an_unsupported_device_names_the_flag(scenario, flag, said):
    outcome = scenario("counters", 50, SIMCUPTI_UNSUPPORTED=flag)
    assert len(outcome.complaints) == 1 and said in outcome.complaints[0]


def test_timing_counts_every_direct_launch(scenario):
    outcome = scenario("timing", 1000)
    assert outcome.complaints == [] and outcome.features == ["timing"]
    for configuration in (0, 1, 2):
        assert (outcome.measured[configuration]["count"], outcome.measured[configuration]["median"]) == ("1000", "4096")
    assert outcome.valid(3) == 0
    assert outcome.calls["cuptiSubscribe_v2"] == outcome.calls["cuptiUnsubscribe"]  # a later torch.profiler needs it
    assert outcome.calls["cuptiActivityPushExternalCorrelationId"] == outcome.calls["cuptiActivityPopExternalCorrelationId"]


def test_a_replayed_graph_is_timed_as_a_whole(scenario):
    outcome = scenario("timing", 100)
    assert outcome.graph == {"count": "100", "median": str(3 * 4096), "timing": "100"}


def test_on_request_each_kernel_of_a_graph_is_timed(scenario):
    outcome = scenario("nodes", 100)
    assert outcome.graph["count"] == "0"
    # The graph runs configuration 0 twice and 1 once; of the first replay it is not known yet what it runs.
    assert [outcome.measured[c]["count"] for c in (0, 1, 2)] == [str(100 + 2 * 99), str(100 + 99), "100"]


def test_a_driver_without_graph_times_still_times_launches(scenario):
    outcome = scenario("timing", 100, SIMCUPTI_FAIL="cuptiActivityEnable:51=2")
    assert outcome.complaints == []
    assert (outcome.graph["count"], outcome.measured[0]["count"]) == ("0", "100")


@pytest.mark.parametrize("what", ["timing", "nodes", "counters"])
def test_many_threads_launch(scenario, what):
    outcome = scenario(what, 500, how="crowd")
    assert outcome.complaints == []
    if what == "timing":
        assert (outcome.measured[0]["count"], outcome.graph["count"]) == ("2000", "2000")
    if what == "counters":
        assert 1 <= int(outcome.measured[0]["a"]) <= 3  # those that no other thread's launch fell into


@pytest.mark.parametrize("what", ["timing", "nodes", "counters"])
def test_all_is_given_back_when_another_profiler_comes(scenario, what):
    outcome = scenario(what, 200, how="yield")
    assert len(outcome.complaints) == 1 and "another profiler starts" in outcome.complaints[0]
    if what == "timing":
        assert outcome.measured[0]["count"] == "100"
        assert outcome.calls["cuptiActivityDisable"] == outcome.calls["cuptiActivityEnable"]
    if what == "counters":
        assert outcome.calls["cuptiRangeProfilerEnable"] == outcome.calls["cuptiRangeProfilerDisable"]


@pytest.mark.parametrize("what", ["timing", "nodes", "counters"])
def test_all_is_given_back_while_threads_launch(scenario, what):
    outcome = scenario(what, 500, how="crowd,yield")
    assert len(outcome.complaints) == 1 and "another profiler starts" in outcome.complaints[0]
    assert outcome.calls.get("cuptiRangeProfilerEnable") == outcome.calls.get("cuptiRangeProfilerDisable")
    assert outcome.calls.get("cuptiRangeProfilerStart") == outcome.calls.get("cuptiRangeProfilerStop")


@pytest.mark.parametrize("what", ["timing", "counters"])
@pytest.mark.parametrize("script", [{"how": "late"}, {"SIMCUPTI_FAIL": "cuptiSubscribe_v2=39"}])
def test_a_profiler_that_came_first_is_left_alone(scenario, what, script):
    outcome = scenario(what, 50, **script)
    assert len(outcome.complaints) == 1 and "another profiler holds CUPTI" in outcome.complaints[0]
    assert "cuptiActivityRegisterCallbacks" not in outcome.calls and "cuptiProfilerInitialize" not in outcome.calls


def test_the_profiler_in_the_way_is_named_where_cupti_tells(scenario):
    outcome = scenario("timing", 50, SIMCUPTI_FAIL="cuptiSubscribe_v2=39", SIMCUPTI_OWNER="CUPTI for Kineto")
    assert len(outcome.complaints) == 1 and "another profiler (CUPTI for Kineto) holds CUPTI" in outcome.complaints[0]


def test_timing_says_when_records_were_dropped(scenario):
    outcome = scenario("timing", 1000, SIMCUPTI_DROP_RECORDS="10")
    assert len(outcome.complaints) == 1 and "dropped" in outcome.complaints[0]
    assert 0 < int(outcome.measured[0]["count"]) < 1000


def test_timing_falls_back_to_event_pairs(scenario):
    outcome = scenario("timing", 100, SIMCUPTI_FAIL="cuptiActivityEnable=39")
    assert len(outcome.complaints) == 1
    assert "another profiler holds CUPTI" in outcome.complaints[0] and "event pairs" in outcome.complaints[0]
    figures = outcome.measured[0]
    assert (figures["estimated"], figures["count"], figures["median"]) == ("1", "5", "2000")
    assert outcome.valid(3) == 0


def test_both_together_measure_by_counters_only(scenario):
    outcome = scenario("both", 50)
    assert outcome.features == ["counters"]
    assert "cuptiActivityEnable" not in outcome.calls


def test_cupti_before_12_6u2_gives_timing_only(scenario):
    outcome = scenario("counters", 50, library="simcuda/cupti12",
                       WARPWATCH_CUPTI=support.BUILD / "simcuda/cupti12/libcupti.so.12")
    assert len(outcome.complaints) == 1 and "12.6 update 2" in outcome.complaints[0]
    outcome = scenario("timing", 50, WARPWATCH_CUPTI=support.BUILD / "simcuda/cupti12/libcupti.so.12")
    assert outcome.measured[0]["count"] == "50"


def test_without_libcupti_times_are_estimated_and_the_way_out_is_named(scenario):
    outcome = scenario("timing", 50, WARPWATCH_CUPTI="/nowhere/libcupti.so.13")
    assert len(outcome.complaints) == 1
    assert "/nowhere/libcupti.so.13" in outcome.complaints[0] and "WARPWATCH_CUPTI" in outcome.complaints[0]
    assert outcome.measured[0]["estimated"] == "1"


def test_the_real_libcupti_without_a_driver_ends_in_one_line(scenario):
    real = support.CUDA_HOME / "lib64/libcupti.so.13"
    assert real.exists()
    outcome = scenario("counters", 50, WARPWATCH_CUPTI=real)
    assert len(outcome.complaints) == 1
    assert "driver and CUPTI are of the same CUDA version" in outcome.complaints[0]
