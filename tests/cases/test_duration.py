"""A process's time begins where its first launch does: what launch calls took is never more than all of it."""
import pathlib
import struct

import pytest

import store_files
import support

CLIENTS = support.BUILD / "tests" / "clients"
ONE_THREAD = [[support.SAMPLES / name] for name in ("vecadd", "graph", "cluster", "library")] + [[CLIENTS / "graphs", "capture"]]


def name_of(command):
    return "-".join(pathlib.Path(part).name for part in command)


@pytest.mark.parametrize("times", ["1", "0"])
@pytest.mark.parametrize("command", ONE_THREAD, ids=name_of)
def test_launch_calls_of_one_thread_fit_into_its_life(simulated, command, times):
    process, = simulated(command, WARPWATCH_TIMES=times).report["processes"]
    assert process["threads"] == 1 and process["seconds"] > 0
    if times == "1":
        assert 0 < process["launch_call_ns"] + process["gap_ns"] <= process["seconds"] * 1e9


@pytest.fixture(scope="module")
def slow_first(tmp_path_factory):
    """Three launches of which the first takes a tenth of a second, as one that loads its code may."""
    def run(**variables):
        return support.run_simulated([CLIENTS / "linked"], tmp_path_factory.mktemp("slow_first"),
                                     preload=f"{support.LIBRARY}:{CLIENTS / 'libslow_preload.so'}", **variables)
    return run


def test_the_first_launch_is_part_of_it(slow_first):
    run = slow_first()
    process, = run.report["processes"]
    assert process["launches"] == 3 and process["launch_call_ns"] >= 100e6 and process["seconds"] >= 0.1
    (store,) = run.stores
    start_realtime_ns, = struct.unpack_from("<Q", store.read_bytes(), 32)
    assert int(store.name.split(".")[-2]) - start_realtime_ns >= 99e6  # the name is of when the file was made


def test_the_first_launch_is_part_of_it_without_times(slow_first):
    run = slow_first(WARPWATCH_TIMES=0)
    process, = run.report["processes"]
    assert process["seconds"] >= 0.1 and process["launch_call_ns"] is None
    counters = store_files.read_records(run.stores[0].read_bytes())[store_files.COUNTERS]
    assert [store_files.COUNTER.unpack(counter)[2:4] for counter in counters] == [(3, 0)]


def test_a_trace_begins_with_the_first_launch(slow_first):
    """Its start is the zero of the trace, one unit of 16 ticks; no launch lies before it."""
    records = store_files.read_records(slow_first(WARPWATCH_TRACE=1).stores[0].read_bytes())[store_files.TRACE]
    traced = [store_files.TRACED.unpack(record) for record in records]
    starts = [when & (1 << 48) - 1 for target, _, when in traced if when and target != store_files.NONE]
    assert starts[0] == 1 and starts == sorted(starts) and starts[1] > 1000000  # 100 ms of 16 ns at the slowest


def test_of_a_killed_process_its_launches_tell(tmp_path):
    """Its last sign of life was after one second; its busier thread's calls and gaps make three."""
    store = store_files.Store(state=1)
    configuration = store.configuration(store.kernel("k"), store.device())
    for gap_ns in (2900000000, 100):
        store.append(store_files.SHARDS, store_files.SHARD.pack(7, 0, gap_ns, 9, *24 * [0], 0))
    store.append(store_files.COUNTERS, store_files.COUNTER.pack(configuration, store_files.NONE, 10, 100000000, 0, 0))
    process, = support.report(store.save(tmp_path))["processes"]
    assert process["seconds"] == 3
