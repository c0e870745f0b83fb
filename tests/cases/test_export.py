"""warpwatch export: every launch of a trace is in the timeline, once, in order, and what is missing is named."""
import json
import os
import signal
import struct
import subprocess
import time

import pytest

import store_files
import support

STREAMS = support.BUILD / "tests" / "clients" / "streams"
LOOP = support.BUILD / "tests" / "launch_loop"
SCHEMA_PYTHON = support.BUILD / "venv" / "perfetto" / "bin" / "python"


def export(*arguments, status=0):
    """(stdout, lines on stderr)"""
    done = subprocess.run([support.WARPWATCH, "export", *map(str, arguments)], capture_output=True, timeout=300,
                          env=support.clean_environment())
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr.decode().splitlines()


def nanoseconds(microseconds):
    whole, fraction = microseconds.split(".")
    assert len(fraction) == 3
    return int(whole) * 1000 + int(fraction)


def chrome(*paths):
    """(events of launches and losses, {pid: name}, [(pid, tid, name)], lines on stderr)"""
    out, said = export("--format", "chrome", *paths)
    raw = json.loads(out, parse_float=str)["traceEvents"]
    processes = {event["pid"]: event["args"]["name"] for event in raw if event.get("name") == "process_name"}
    threads = [(event["pid"], event["tid"], event["args"]["name"]) for event in raw if event.get("name") == "thread_name"]
    events = []
    for event in raw:
        if event["ph"] in "Xi":
            start = nanoseconds(event["ts"])
            events.append({"pid": event["pid"], "tid": event["tid"], "start_ns": start, "name": event["name"],
                           "category": [event["cat"]], "arguments": event["args"]})
            if event["ph"] == "X":
                events[-1]["end_ns"] = start + nanoseconds(event["dur"])
    return events, processes, threads, said


def launches_of(events):
    return [event for event in events if event["category"] != ["loss"]]


def counts_by_grid(events):
    counts = {}
    for event in launches_of(events):
        if event["category"] != ["graph"]:
            grid = event["arguments"]["grid"]
            counts[grid] = counts.get(grid, 0) + 1
    return counts


def direct_of_ledger(run):
    counts = {}
    for launch, count in run.ledger_counts.items():
        if count.launches > count.graph_launches:
            grid = ",".join(map(str, launch.grid))
            counts[grid] = counts.get(grid, 0) + count.launches - count.graph_launches
    return counts


def assert_in_order(events):
    last = {}
    for event in launches_of(events):
        track = (event["pid"], event["tid"])
        assert last.get(track, 0) <= event["start_ns"] <= event["end_ns"], event
        last[track] = event["end_ns"]


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    run = support.run_simulated([STREAMS, "3", "200"], tmp_path_factory.mktemp("traced"), WARPWATCH_REPORT="none",
                                WARPWATCH_TRACE=1)
    assert run.stderr == "" and run.ledger["faults"] == []
    return run


def test_every_launch_is_a_slice(traced):
    events, processes, threads, said = chrome(traced.output)
    assert said == []
    assert counts_by_grid(events) == direct_of_ledger(traced) == {"1,1,1": 600, "2,1,1": 600, "3,1,1": 1200}
    replays = [event for event in events if event["category"] == ["graph"]]
    assert len(replays) == 600
    replayed = sum(count.graph_launches for count in traced.ledger_counts.values())
    assert 2 * len(replays) == replayed
    # While another thread captures, a graph whose kernels are not described yet is counted kernel by kernel.
    assert {event["name"] for event in replays} <= {"graph", "graph of 2 kernels"}
    assert_in_order(events)
    assert len(processes) == 1 and len(threads) == len({tid for _, tid, _ in threads}) == 3
    assert all(name == f"thread {tid}" for _, tid, name in threads)


def test_a_slice_says_what_was_launched_and_where(traced):
    events = launches_of(chrome(traced.output)[0])
    own = {event["arguments"]["stream"] for event in events if event["arguments"].get("grid") == "2,1,1"}
    assert len(own) == 3 and all(int(stream, 16) for stream in own)
    default, = [event["arguments"] for event in events if event["arguments"].get("grid") == "1,1,1"][:1]
    assert default == {"stream": "default", "kernel": "scale", "grid": "1,1,1", "block": "64,1,1",
                       "dynamic_shared_bytes": 0, "device": 0}
    for thread in {event["tid"] for event in events}:
        order = [event["arguments"].get("grid", "graph") for event in events if event["tid"] == thread]
        assert order == ["1,1,1", "2,1,1", "3,1,1", "3,1,1", "graph"] * 200


def test_ranks_are_processes_of_one_file(tmp_path):
    for rank in (0, 1):
        support.run_simulated([STREAMS, "1", "10"], tmp_path / str(rank), WARPWATCH_REPORT="none", WARPWATCH_TRACE=1,
                              RANK=rank, WORLD_SIZE=2)
    events, processes, _, said = chrome(tmp_path / "0" / "stores", tmp_path / "1" / "stores")
    assert said == [] and len(launches_of(events)) == 2 * 50
    replays = [event for event in events if event["category"] == ["graph"]]
    assert [event["name"] for event in replays] == 20 * ["graph of 2 kernels"]
    assert {(event["arguments"]["kernels"], event["arguments"]["runs"]) for event in replays} == {(2, "scale, scale")}
    assert sorted(name.split(":")[0] for name in processes.values()) == ["rank 0", "rank 1"]
    starts = [sorted(event["start_ns"] for event in events if event["pid"] == pid) for pid in processes]
    first, second = sorted(starts)
    assert first[-1] < second[0], "the second rank begins after the first has ended"


def test_launches_that_had_no_room_are_counted(tmp_path):
    done = subprocess.run([LOOP, "-t", "2", "-n", "300000"], capture_output=True, text=True, timeout=300,
                          env=support.clean_environment(LD_PRELOAD=support.LIBRARY, WARPWATCH_OUTPUT=tmp_path,
                                                        LD_LIBRARY_PATH=support.BUILD / "tests" / "noop",
                                                        WARPWATCH_REPORT="none", WARPWATCH_TRACE=1, WARPWATCH_TRACE_MB=1))
    assert done.returncode == 0 and done.stderr == ""
    events, _, threads, said = chrome(tmp_path)
    kept = len(launches_of(events))
    lost = [event["arguments"]["launches"] for event in events if event["category"] == ["loss"]]
    assert len(threads) == 2 and 0 < len(lost) <= 2
    assert kept + sum(lost) == 2 * 300001 and 40000 < kept < 70000
    line, = said
    assert f"no room for {sum(lost)} of {2 * 300001} launches" in line and "WARPWATCH_TRACE_MB" in line
    assert_in_order(events)


def test_threads_that_come_and_go(tmp_path):
    """Each takes over the ring of one that has ended; those that come when all room is taken get a little."""
    times = 12500 if support.LONG else 250
    run = support.run_simulated([STREAMS, "8", "20", str(times)], tmp_path, WARPWATCH_REPORT="none", WARPWATCH_TRACE=1,
                                WARPWATCH_TRACE_MB=1, timeout=3000)
    events, _, threads, said = chrome(run.output)
    lost = sum(event["arguments"]["launches"] for event in events if event["category"] == ["loss"])
    assert sum(direct_of_ledger(run).values()) + run.ledger["calls"]["cuGraphLaunch"] == 8 * 20 * 5 * times
    assert len(launches_of(events)) + lost == 8 * 20 * 5 * times
    assert len(said) == (1 if lost else 0)
    assert_in_order(events)
    assert len({tid for _, tid, name in threads if name.startswith("thread ")}) > 8


def test_every_thread_has_some_room(tmp_path):
    run = support.run_simulated([STREAMS, "200", "1"], tmp_path, WARPWATCH_REPORT="none", WARPWATCH_TRACE=1,
                                WARPWATCH_TRACE_MB=1)
    events, _, threads, said = chrome(run.output)
    assert said == [] and len(launches_of(events)) == 1000 and len({tid for _, tid, _ in threads}) == 200
    assert_in_order(events)


def test_killed_at_any_moment(tmp_path):
    """What had returned is there; what was under way may be."""
    command = [support.DEV, "sim", "--ledger", tmp_path / "ledger.json", "--", "env", f"LD_PRELOAD={support.preloaded(support.LIBRARY)}",
               f"WARPWATCH_OUTPUT={tmp_path}", "WARPWATCH_TRACE=1", STREAMS, "2", "100000000"]
    program = subprocess.Popen(list(map(str, command)), env=support.clean_environment(), start_new_session=True)
    while not (stores := list(tmp_path.glob("*.ww"))) or stores[0].stat().st_size < 400000:
        assert program.poll() is None
        time.sleep(0.01)
    pid = int(stores[0].name.split(".")[-3])
    os.kill(pid, signal.SIGKILL)
    assert program.wait(timeout=60) == 128 + signal.SIGKILL
    ledger = sum(direct_of_ledger(support.Run(command, 0, "", "", tmp_path / "ledger.json", tmp_path)).values())
    events, _, _, said = chrome(tmp_path)
    assert said == []
    assert ledger - 2 <= sum(counts_by_grid(events).values()) <= ledger
    assert_in_order(events)


# --- Perfetto -----------------------------------------------------------------------------------------------------------


def fields(data):
    """{field: [number or bytes]} of a message on the wire."""
    def number(at):
        value = shift = 0
        while True:
            value |= (data[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if not data[at - 1] & 0x80:
                return value, at

    found, at = {}, 0
    while at < len(data):
        tag, at = number(at)
        assert tag & 7 in (0, 2)
        value, at = number(at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
            assert at <= len(data)
        found.setdefault(tag >> 3, []).append(value)
    return found


def test_perfetto_has_the_same_slices(traced):
    events = launches_of(chrome(traced.output)[0])
    out, said = export(traced.output)
    packets = [fields(packet) for packet in fields(out)[1]]
    assert said == [] and packets[0][13] == [1]
    begun = [(packet[8][0], fields(packet[11][0])) for packet in packets if 11 in packet and fields(packet[11][0])[9] == [1]]
    ended = [packet[8][0] for packet in packets if 11 in packet and fields(packet[11][0])[9] == [2]]
    assert [start for start, _ in begun] == [event["start_ns"] for event in events]
    assert ended == [event["end_ns"] for event in events]
    assert [event[11][0] & 0xFFFFFF for _, event in begun] == [event["tid"] for event in events]


@pytest.mark.skipif(not support.LONG and not SCHEMA_PYTHON.exists(), reason="Perfetto's schema is fetched by --long")
def test_perfetto_by_the_published_schema(traced, tmp_path):
    assert SCHEMA_PYTHON.exists(), "perfetto could not be fetched: see build/perfetto.log"
    export("-o", tmp_path / "trace", traced.output)
    done = subprocess.run([SCHEMA_PYTHON, support.ROOT / "tests/cases/perfetto_events.py", tmp_path / "trace"],
                          capture_output=True, text=True, check=True, timeout=300)
    decoded = json.loads(done.stdout)
    events, processes, threads, _ = chrome(traced.output)
    assert decoded["events"] == events
    assert decoded["processes"] == {str(pid): name for pid, name in processes.items()}
    assert decoded["threads"] == [list(thread) for thread in threads]


# --- made by hand -------------------------------------------------------------------------------------------------------


def traced_store(pid, host, launches):
    """Launches are (thread or None, target, start, duration), thread marks where the thread is given."""
    store = store_files.Store(pid=pid, host=host)
    kernel = store.kernel("evil\x1b[31m\"\n")
    store.configuration(kernel, store.device())
    store.append(store_files.STREAMS, struct.pack("<Q", 1))
    store.append(store_files.SHARDS, store_files.SHARD.pack(7, 1, 0, 0, *24 * [0], 0))
    for thread, target, start, duration in launches:
        if thread is not None:
            store.append(store_files.TRACE, store_files.TRACED.pack(store_files.NONE, thread, 1))
        store.append(store_files.TRACE, store_files.TRACED.pack(target, duration, start))
    return store


def test_the_same_pid_on_two_hosts_is_two_processes(tmp_path):
    for host in (b"node1", b"node2"):
        traced_store(42, host, [(100, 0, 10, 1)]).save(tmp_path / host.decode())
    events, processes, _, said = chrome(tmp_path / "node1", tmp_path / "node2")
    assert said == [] and len(events) == 2 and len(processes) == 2
    assert {name.split("(")[1] for name in processes.values()} == {"node1, pid 42)", "node2, pid 42)"}


def test_threads_that_shared_a_ring(tmp_path):
    traced_store(1, b"node1", [(None, 0, 5, 1), (100, 0, 10, 1), (None, 0, 20, 1), (101, 0, 30, 1)]).save(tmp_path)
    events, _, threads, _ = chrome(tmp_path)
    assert [name for _, _, name in threads] == ["an ended thread (shard 0)", "thread 100", "thread 101"]
    assert [event["tid"] for event in events][1:] == [100, 100, 101]
    assert [event["start_ns"] for event in events] == [80, 160, 320, 480]


def test_a_ring_that_went_round_is_put_in_order(tmp_path):
    traced_store(1, b"node1", [(None, 0, 50, 1), (None, 0, 60, 1), (None, 0, 0, 0), (None, 0, 30, 1)]).save(tmp_path)
    assert [event["start_ns"] for event in chrome(tmp_path)[0]] == [480, 800, 960]


def test_what_a_hostile_store_says_is_shown_harmlessly(tmp_path):
    unreadable = [(2, 0xFFFFFF), (5, 3), (7, 0), (15, 1)]
    store = traced_store(1, b"no\nde", [(1, kind << 28 | index, 10 + kind, 2**32 - 1) for kind, index in unreadable] +
                         [(None, 0, 2**48 - 1 | 77 << 48, 1)])
    store.save(tmp_path)
    events, processes, _, _ = chrome(tmp_path)
    assert [event["name"] for event in events] == ["unreadable"] * 4 + ['evil\\x1b[31m"\\x0a']
    assert events[-1]["arguments"]["stream"] == "unknown"
    assert "no\\x0ade" in processes[1]
    assert_in_order(events)
    assert export("-o", tmp_path / "trace", tmp_path)[0] == b""


def test_nothing_to_export(tmp_path):
    run = support.run_simulated([STREAMS, "1", "1"], tmp_path, WARPWATCH_REPORT="none")
    _, (line,) = export(run.output, status=3)
    assert "no trace in it" in line and "--trace" in line
    assert export("--format", "svg", status=2)[1] == ["warpwatch: --format 'svg': give perfetto or chrome"]
    assert export(tmp_path / "none", status=3)[1]
    assert export("-o", tmp_path / "out", run.output, status=3) and not (tmp_path / "out").exists()
