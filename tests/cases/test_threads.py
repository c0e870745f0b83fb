"""Many threads at once (edge case 29): exact totals, whatever goes on beside them."""
import re
import subprocess

import pytest
import store_files
import support

CLIENTS = support.BUILD / "tests" / "clients"
MANY = 20000 if support.SANITIZER == "thread" else 1000000  # launches of each of 64 threads


def test_edge_29_64_threads_of_a_million_launches(tmp_path):
    """On the driver that does nothing, so that all that happens is counting."""
    launches = MANY
    done = subprocess.run([support.BUILD / "tests" / "launch_loop", "-t", "64", "-c", "100", "-n", str(launches)],
                          capture_output=True, text=True, timeout=300,
                          env=support.clean_environment(LD_PRELOAD=support.LIBRARY, WARPWATCH_OUTPUT=tmp_path,
                                                        WARPWATCH_REPORT="none"))
    assert done.returncode == 0 and done.stderr == ""
    report = support.report(tmp_path)
    assert report["totals"]["launches"] == 64 * (launches + 100)
    rows = report["kernels"][0]["configurations"]
    assert [row["launches"] for row in rows] == [64 * (launches // 100 + 1)] * 100
    assert report["processes"][0]["threads"] == 64 and report["totals"]["lost"] == 0


def test_edge_29_threads_beside_loading_updates_and_captures(tmp_path):
    run = support.run_simulated([CLIENTS / "stress", "64", str(MANY) if support.ALL_LENGTHS else "3000"], tmp_path,
                                timeout=3000)
    assert run.stderr == "" and run.ledger["faults"] == []
    support.assert_same_launches(run.ledger_counts, run.report_counts)


def test_a_counter_knows_of_one_stream_or_several(tmp_path):
    run = support.run_simulated([CLIENTS / "streams", "3", "20"], tmp_path, WARPWATCH_REPORT="none")
    assert run.stderr == "" and run.ledger["faults"] == []
    store, = run.stores
    records = store_files.read_records(store.read_bytes())
    grids = [store_files.CONFIGURATION.unpack(raw)[2] for raw in records[store_files.CONFIGURATIONS]]
    marks, votes = {}, {}
    for target, _, launches, _, _, stream in map(store_files.COUNTER.unpack, records[store_files.COUNTERS]):
        if target >> 28 == store_files.DIRECT and launches:
            grid = grids[target & 0x0FFFFFFF]
            marks.setdefault(grid, []).append(stream >> 16)
            votes.setdefault(grid, []).append((stream & 0xFFFF) / launches)
    assert len(set(marks[1])) == 1 and len(set(marks[2])) == 3, "the default stream is one, the threads' own are three"
    # Shapes first met while some thread captures are described twice, so there may be more than one counter a thread.
    assert set(votes[1] + votes[2]) == {1} and 0 in votes[3]


def test_a_trace_keeps_every_launch_within_its_bounds(tmp_path):
    done = subprocess.run([support.BUILD / "tests" / "launch_loop", "-t", "4", "-c", "10", "-n", "200000"],
                          capture_output=True, text=True, timeout=300,
                          env=support.clean_environment(LD_PRELOAD=support.LIBRARY, WARPWATCH_OUTPUT=tmp_path,
                                                        WARPWATCH_REPORT="none", WARPWATCH_TRACE=1, WARPWATCH_TRACE_MB=4))
    assert done.returncode == 0 and done.stderr == ""
    store, = tmp_path.glob("*.ww")
    assert store.stat().st_size < 6 << 20
    assert support.report(tmp_path)["totals"]["launches"] == 4 * 200010


@pytest.mark.unsanitized("a sanitizer takes more memory than what is measured")
def test_memory_stays_within_its_budget(tmp_path):
    """≤ 2 MB + 256 B a configuration + 32 B a (thread, configuration), of memory that is not the program's."""
    def resident(threads, configurations, preload):
        script = f"""
import resource, subprocess
subprocess.run(["{support.BUILD}/tests/launch_loop", "-t", "{threads}", "-c", "{configurations}", "-n", "1"], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
        environment = support.clean_environment(WARPWATCH_OUTPUT=tmp_path, WARPWATCH_REPORT="none")
        if preload:
            script = script.replace("subprocess.run(", f"subprocess.run(env=dict(__import__('os').environ, "
                                                       f"LD_PRELOAD='{support.LIBRARY}'), args=")
        done = subprocess.run(["/usr/bin/python3", "-c", script], capture_output=True, text=True, timeout=120,
                              env=environment, check=True)
        return int(re.findall(r"^\d+$", done.stdout, re.M)[-1]) * 1024

    for threads, configurations in [(1, 1), (1, 10000), (64, 1000)]:
        added = resident(threads, configurations, True) - resident(threads, configurations, False)
        budget = (2 << 20) + 256 * configurations + 32 * threads * configurations
        assert added <= budget, (threads, configurations, added, budget)
