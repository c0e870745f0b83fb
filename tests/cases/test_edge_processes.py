"""Processes (edge cases 24–28, 31, 34): nothing before the first launch, nothing lost however it ends, nothing of it felt by
the program."""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import pytest
import support

PROCESSES = support.BUILD / "tests" / "clients" / "processes"


def processes(scenario, directory, *arguments, **options):
    return support.run_simulated([PROCESSES, scenario, *arguments], directory, **options)


def launches(run):
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    return {launch.grid[0]: count.launches for launch, count in run.report_counts.items()}


def test_edge_24_shells_and_compilers_stay_silent(tmp_path):
    source = tmp_path / "main.c"
    source.write_text("int main(void) { return 5; }\n")
    script = f"cd {tmp_path} && gcc -o main main.c && ls >/dev/null && ./main"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, timeout=120,
                          env=support.clean_environment(LD_PRELOAD=support.LIBRARY, WARPWATCH_OUTPUT=tmp_path,
                                                        WARPWATCH_REPORT="nonsense"))
    assert (done.returncode, done.stdout, done.stderr) == (5, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["main", "main.c"]


SEGV = pytest.param("segv", 139, marks=pytest.mark.unsanitized("its runtime takes this signal"))


@pytest.mark.parametrize("end, status", [("_exit", 3), ("return", 3), SEGV, ("abort", 134), ("kill", 137),
                                         ("term", 143)])
def test_edge_25_counts_survive_every_end(tmp_path, end, status):
    run = processes("end_by", tmp_path, end, status=status)
    assert launches(run) == {1: 1000, 2: 10}
    state = run.report["processes"][0]["state"]
    assert state == ("finished" if end == "return" else "ended")
    assert run.stderr == ""


def test_edge_26_a_child_without_launches_makes_no_store(tmp_path):
    run = processes("fork_idle", tmp_path)
    assert run.stdout == "child 7\n" and len(run.stores) == 1 and launches(run) == {1: 10}


def test_edge_26_a_child_that_launches_has_its_own_store(tmp_path):
    run = processes("fork_first", tmp_path)
    assert run.stdout == "child 0\n" and len(run.stores) == 2 and launches(run) == {1: 8, 2: 3}
    assert sorted(process["launches"] for process in run.report["processes"]) == [3, 8]


def test_edge_26_a_child_forked_too_late_is_refused_and_makes_no_store(tmp_path):
    run = processes("fork_after", tmp_path)
    assert run.stdout == "child 7\n" and len(run.stores) == 1 and launches(run) == {1: 10}


@pytest.mark.unsanitized("its runtime makes a fork of a vfork", only="thread")
def test_edge_27_a_vfork_child_that_fails_leaves_everything_intact(tmp_path):
    run = processes("vfork_fails", tmp_path)
    assert run.stdout == "child 127\n" * 3 and len(run.stores) == 1 and launches(run) == {1: 20}


def test_edge_28_equal_process_numbers_do_not_meet(tmp_path):
    """Twice the same process number, as in two containers with one output directory."""
    container = ["unshare", "--pid", "--fork", "--mount-proc"]
    refused = subprocess.run([*container, "true"], capture_output=True, text=True)
    if refused.returncode:
        pytest.skip(f"no new process namespace here: {refused.stderr.strip()}")
    for _ in range(2):
        support.run_simulated([*container, PROCESSES, "end_by", "return"], tmp_path, status=3)
    stores = sorted((tmp_path / "stores").glob("*.ww"))
    pids = {path.name.split(".")[-3] for path in stores}
    assert len(stores) == 2 and len(pids) == 1
    assert support.report(tmp_path / "stores")["totals"]["launches"] == 2020


def test_a_program_that_becomes_another_keeps_both_counts(tmp_path):
    run = processes("exec_another", tmp_path, status=3)
    assert len(run.stores) == 2 and launches(run) == {1: 1005, 2: 10}


def test_a_thread_that_is_being_cancelled_makes_the_first_launch(tmp_path):
    run = processes("cancelled", tmp_path, timeout=60)
    assert run.stdout == "cancelled\n" and run.stderr == ""
    assert launches(run) == dict.fromkeys(range(1, 3001), 1) | {3001: 2}


def test_two_hundred_short_children(tmp_path):
    run = processes("many_children", tmp_path)
    assert run.stdout == "100\n" and len(run.stores) == 200 and launches(run) == {1: 400}


def test_threads_that_come_and_go_share_counters(tmp_path):
    run = processes("short_threads", tmp_path)
    assert launches(run) == {5: 1000}
    assert run.report["processes"][0]["threads"] == 500
    assert run.stores[0].stat().st_size == 65536


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_python_multiprocessing(tmp_path, method):
    program = tmp_path / "program.py"
    program.write_text(f'''
import ctypes, multiprocessing, sys

def work(count):
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, function, memory = (ctypes.c_void_p() for _ in range(4))
    calls = [cuda.cuInit(0), cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0),
             cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 20)),
             cuda.cuModuleLoad(ctypes.byref(module), {str(support.SAMPLES / "kernels.fatbin")!r}.encode()),
             cuda.cuModuleGetFunction(ctypes.byref(function), module, b"scale")]
    factor = ctypes.c_float(2)
    values = (ctypes.c_void_p * 2)(ctypes.addressof(memory), ctypes.addressof(factor))
    for _ in range(count):
        calls.append(cuda.cuLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, None, values, None))
    return sum(calls)

if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(3) as pool:
        print(pool.map(work, [5] * 6, chunksize=1))
''')
    run = support.run_simulated(["/usr/bin/python3", program], tmp_path)
    assert run.stdout == "[0, 0, 0, 0, 0, 0]\n" and run.stderr == ""
    assert launches(run) == {3: 30} and 1 <= len(run.stores) <= 3


def test_edge_31_an_output_directory_that_is_not_there(tmp_path):
    run = processes("grow", tmp_path, WARPWATCH_OUTPUT=tmp_path / "no" / "where")
    assert run.stdout == "done\n"
    warning, = run.stderr.splitlines()
    assert warning.startswith("warpwatch: ") and str(tmp_path / "no" / "where") in warning


def test_edge_31_a_report_from_memory_once_the_directory_is_there(tmp_path):
    output = tmp_path / "later" / "still"
    run = support.run_simulated([PROCESSES, "make_directory", output], tmp_path, WARPWATCH_OUTPUT=output)
    assert run.stdout == "made\n" and len(run.stderr.splitlines()) == 1
    assert support.report(output)["totals"]["launches"] == 2
    assert len(list(output.glob("*.txt"))) == 1


def test_a_directory_that_vanishes(tmp_path):
    output = tmp_path / "gone"
    output.mkdir()
    run = processes("remove_directory", tmp_path, output, WARPWATCH_OUTPUT=output)
    assert run.stdout == "0\n" and len(run.stderr.splitlines()) <= 1
    assert not output.exists()


def test_descriptors_that_the_program_closes_and_uses_again(tmp_path):
    own = tmp_path / "own"
    run = processes("close_all", tmp_path, own)
    assert run.stdout == "0 bytes, 1\n" and run.stderr == ""
    assert sum(launches(run).values()) == 3001


@pytest.fixture
def small_disk(tmp_path):
    """A directory with room for `kilobytes`, unmounted afterwards."""
    mounted = []

    def make(kilobytes):
        directory = tmp_path / f"disk{kilobytes}"
        directory.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", directory],
                              capture_output=True)
        if done.returncode:
            pytest.skip("may not mount a small file system here")
        mounted.append(directory)
        return directory

    yield make
    for directory in mounted:
        subprocess.run(["umount", "-l", directory], check=True)


@pytest.mark.parametrize("kilobytes", [16, 64, 68, 100, 256, 300, 1000])
def test_edge_34_a_full_disk_is_one_warning(tmp_path, small_disk, kilobytes):
    disk = small_disk(kilobytes)
    run = processes("grow", tmp_path, WARPWATCH_OUTPUT=disk, WARPWATCH_REPORT="none")
    assert run.stdout == "done\n"
    warning, = run.stderr.splitlines()
    assert warning.startswith("warpwatch: ") and "No space left" in warning
    if list(disk.glob("*.ww")):
        totals = support.report(disk)["totals"]
        assert totals["launches"] + totals["lost"] == 21000 and totals["further"] + totals["lost"] > 0


LIMITS = ["-f 100", "-n 8",
          pytest.param("-f 0", marks=pytest.mark.unsanitized("its runtime ends with SIGXFSZ", only="thread")),
          pytest.param("-v 100000", marks=pytest.mark.unsanitized("its runtime takes terabytes of address space"))]


@pytest.mark.parametrize("limit", LIMITS)
def test_limits_of_the_program_are_its_own(tmp_path, limit):
    """File size (without SIGXFSZ), address space, descriptors: on a driver that needs none of them."""
    done = subprocess.run(["bash", "-c", f"ulimit {limit}; exec {support.BUILD}/tests/launch_loop -n 20000 -c 20000"],
                          capture_output=True, text=True, timeout=60,
                          env=support.clean_environment(LD_PRELOAD=support.LIBRARY, WARPWATCH_OUTPUT=tmp_path,
                                                        WARPWATCH_REPORT="none"))
    assert done.returncode == 0 and float(done.stdout) > 0
    assert len(done.stderr.splitlines()) <= 1
    if list(tmp_path.glob("*.ww")):
        totals = support.report(tmp_path)["totals"]
        assert totals["launches"] + totals["lost"] == 40000


def killed(directory, scenario, wait_seconds):
    """Runs three threads of launches, kills the process so long after it has begun, and returns the launches of ledger
    and report."""
    (directory / "stores").mkdir(parents=True)
    ledger = directory / "ledger.json"
    command = [support.BUILD / "simcuda" / "simrun", "--device", "h200", "--ledger", ledger, "--", "env",
               f"LD_PRELOAD={support.preloaded(support.LIBRARY)}", f"WARPWATCH_OUTPUT={directory / 'stores'}",
               PROCESSES, scenario, "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=support.clean_environment()) as runner:
        assert runner.stdout.readline() == "running\n"
        child = pathlib.Path(f"/proc/{runner.pid}/task/{runner.pid}/children").read_text().split()[0]
        time.sleep(wait_seconds)
        os.kill(int(child), signal.SIGKILL)
        runner.wait(60)
    launched = sum(count.launches for file in support.ledgers(ledger)
                   for count in support.counts_of_ledger(file).values())
    counted = 0
    # A kill may come while the first launch, not returned yet, makes the file.
    if any(path.read_bytes()[:8] == b"WARPWTCH" for path in (directory / "stores").glob("*.ww")):
        report = support.report(directory / "stores")
        assert report["processes"][0]["state"] == "ended" and report["totals"]["lost"] == 0
        counted = report["totals"]["launches"]
    return launched, counted


@pytest.mark.parametrize("scenario", ["for_ever", "grow_for_ever"])
def test_killed_at_any_moment(tmp_path, scenario):
    """ledger − running threads ≤ report ≤ ledger, at a thousand moments in all where there is time for it."""
    moments = random.Random(scenario)
    for attempt in range(500 if support.LONG else 8):
        directory = tmp_path / str(attempt)
        # Most of the growth is in the first milliseconds.
        launched, counted = killed(directory, scenario, moments.choice([0.001, 0.01, 0.1]) * moments.random())
        assert launched - 3 <= counted <= launched, attempt
        shutil.rmtree(directory)


@pytest.mark.parametrize("variable, value, accepts", [
    ("WARPWATCH_TIMES", "yes", "0 or 1"), ("WARPWATCH_TRACE", "2", "0 or 1"), ("WARPWATCH_REPORT", "pdf", "text, json"),
    ("WARPWATCH_FILTER", "(", "regular expression")])
def test_a_wrong_variable_is_one_line_and_the_default(tmp_path, variable, value, accepts):
    run = processes("fork_idle", tmp_path, **{variable: value})
    line, = run.stderr.splitlines()
    assert line.startswith(f"warpwatch: {variable}: ") and accepts in line
    assert launches(run) == {1: 10}


def test_disabled_means_untouched(tmp_path):
    run = processes("end_by", tmp_path, "return", status=3, WARPWATCH_DISABLE=1)
    assert run.stores == [] and run.stderr == ""


def test_the_command_is_not_beside_the_library(tmp_path):
    alone = tmp_path / "alone" / "libwarpwatch.so"
    alone.parent.mkdir()
    shutil.copy(support.LIBRARY, alone)
    run = processes("end_by", tmp_path, "return", status=3, preload=alone)
    line, = run.stderr.splitlines()
    assert line.startswith("warpwatch: ") and str(run.stores[0]) in line
    assert list(run.output.glob("*.txt")) == []


def test_reports_in_several_formats(tmp_path):
    run = processes("end_by", tmp_path, "return", status=3, WARPWATCH_REPORT="text,json,csv,html")
    suffixes = sorted(path.suffix for path in run.output.iterdir())
    assert suffixes == [".csv", ".html", ".json", ".txt", ".ww"] and run.stderr == ""
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in run.output.glob("*.ww"))


def test_kernels_that_the_filter_leaves_out_are_one_line(tmp_path):
    graphs = support.BUILD / "tests" / "clients" / "graphs"
    run = support.run_simulated([graphs, "set_parameters"], tmp_path, WARPWATCH_FILTER="^off")
    kernels = {kernel["mangled"]: kernel for kernel in run.report["kernels"]}
    assert kernels["offset"]["launches"] == 3
    rest, = [kernel for name, kernel in kernels.items() if name != "offset"]
    assert rest["launches"] == rest["further"]["launches"] == 37
    assert run.report["totals"]["launches"] == sum(count.launches for count in run.ledger_counts.values())


@pytest.mark.unsanitized("its runtime holds locks where the thread is interrupted", only="thread")
@pytest.mark.parametrize("scenario", ["handler_forks", "handler_launches", "cancelled_anywhere"])
def test_threads_interrupted_at_any_instruction(tmp_path, scenario):
    """Of launches that a handler makes in the middle of another, and of one in whose middle a thread ends, either may be."""
    done = subprocess.run([PROCESSES.parent / "interrupted", scenario], capture_output=True, text=True, timeout=120,
                          env=support.clean_environment(LD_PRELOAD=support.LIBRARY, WARPWATCH_OUTPUT=tmp_path,
                                                        LD_LIBRARY_PATH=support.BUILD / "tests" / "noop"))
    assert (done.returncode, done.stderr) == (0, "")
    launched, uncertain = map(int, re.fullmatch(r"launched (\d+) and (\d+)\n", done.stdout).groups())
    totals = support.report(tmp_path)["totals"]
    assert launched <= totals["launches"] + totals["lost"] <= launched + uncertain and totals["lost"] <= uncertain


@pytest.mark.unsanitized("its runtime does not see such a process start either", only="thread")
def test_processes_that_no_fork_handler_sees(tmp_path):
    done = subprocess.run([PROCESSES.parent / "interrupted", "unseen_forks"], capture_output=True, text=True, timeout=120,
                          env=support.clean_environment(LD_PRELOAD=support.LIBRARY, WARPWATCH_OUTPUT=tmp_path,
                                                        LD_LIBRARY_PATH=support.BUILD / "tests" / "noop"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "failed 0\n", "")
    processes = support.report(tmp_path)["processes"]
    assert len(processes) == 101 and sorted(process["launches"] for process in processes)[:100] == [50] * 100
