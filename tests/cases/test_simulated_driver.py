"""The simulated driver's own promises: the ledger, simrun, what variables change. Without warpwatch."""
import json
import signal
import subprocess
import sys

import pytest

from support import BUILD, CUDA_HOME, DEV, Count, Launch, clean_environment, preloaded, run_simulated

PYTHON = ["env", f"LD_PRELOAD={preloaded()}", sys.executable]
CONFORMANCE = BUILD / "tests"
CODE = BUILD / "tests" / "conformance" / "code"


@pytest.fixture
def run(tmp_path):
    count = 0

    def simulate(name, *arguments, **options):
        nonlocal count
        count += 1
        return run_simulated([CONFORMANCE / f"conformance_{name}", *arguments], tmp_path / str(count), preload=None,
                             CONFORMANCE_CODE=CODE, **options)

    return simulate


def launch(function, grid, block, device=0, shared=0, cluster=None):
    return Launch(function, device, grid, block, cluster, shared)


def test_ledger_holds_accepted_launches(run):
    """Every launch of launches.c by hand: 2 blocks of 64 but for the old functions."""
    ledger = run("launches", device="h200,t4").ledger_counts
    assert ledger == {
        launch("plain", (2, 1, 1), (64, 1, 1)): Count(4 + 3 + 1 + 1, 0),
        launch("plain", (2, 1, 1), (64, 1, 1), device=1): Count(2, 0),
        launch("plain", (1, 1, 1), (16, 4, 1), shared=512): Count(1, 0),
        launch("plain", (3, 2, 1), (16, 4, 1), shared=512): Count(2, 0),
        launch("bounded", (2, 1, 1), (64, 1, 1)): Count(1, 0),
        launch("bounded", (2, 1, 1), (64, 1, 1), device=1): Count(1, 0),
    }


def test_refused_launches_are_calls_only(run):
    result = run("launch_errors")
    accepted = sum(count.launches for count in result.ledger_counts.values())
    calls = sum(count for name, count in result.ledger["calls"].items() if name.startswith("cuLaunch"))
    refused = sum("launch" in line.lower() and "CUDA_ERROR" in line for line in result.stdout.splitlines())
    assert accepted + refused == calls
    assert launch("plain", (16, 1, 1), (64, 1, 1), cluster=(8, 1, 1)) in result.ledger_counts


def test_threads_lose_nothing(run):
    counts = run("threads").ledger_counts
    assert [counts[launch("plain", (4, 1, 1), (block, 1, 1))] for block in (128, 64, 32)] == [Count(1600, 0)] * 3
    assert counts[launch("bounded", (1, 1, 1), (256, 1, 1))] == Count(80, 0)


@pytest.mark.parametrize("mistake, fault", [
    ("none", []),
    ("late-query", []),
    ("unloaded-function", ["use after unload or destruction: cuLaunchKernel"]),
    ("destroyed-stream", ["use after unload or destruction: cuStreamSynchronize"]),
    ("function-as-kernel", ["wrong kind of handle: cuKernelGetName"]),
    ("early-query", ["query before first launch: cuFuncGetAttribute plain"]),
    ("query-while-capturing", ["query while capturing: cuOccupancyMaxActiveBlocksPerMultiprocessor plain"]),
    ("host-function", ["call inside a host function: cuStreamQuery"]),
    ("after-teardown", ["call after teardown: cuLaunchKernel"]),
])
def test_faults_of_the_client(run, mistake, fault):
    assert run("faults", mistake).ledger["faults"] == fault


def test_eager_loading_has_no_early_query(run):
    assert run("faults", "early-query", CUDA_MODULE_LOADING="EAGER").ledger["faults"] == []


def test_each_process_has_a_ledger(run):
    """processes.c: a child before initialisation, the parent, and a child after it, which is refused."""
    result = run("processes")
    assert len(result.ledgers) == 3
    launches = [ledger["launches"] for ledger in result.ledgers]
    assert sorted(map(len, launches)) == [0, 0, 1]
    assert sorted(ledger["calls"].get("cuLaunchKernel", 0) for ledger in result.ledgers) == [0, 1, 1]


def test_kept_after_sigkill(tmp_path):
    ledger = tmp_path / "ledger.json"
    program = f"""
import ctypes, os, signal
cuda = ctypes.CDLL("libcuda.so.1")
call = lambda name, *arguments: [getattr(cuda, name)(*arguments)] == [0] or os._exit(1)
context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuModuleLoad", ctypes.byref(module), b"{CODE}/code.fatbin")
call("cuModuleGetFunction", ctypes.byref(function), module, b"scale")
for _ in range(1234):
    call("cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, None, None, None)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([DEV, "sim", "--ledger", ledger, "--", *PYTHON, "-c", program],
                          env=clean_environment(), timeout=60)
    assert done.returncode == 128 + signal.SIGKILL
    assert [row["count"] for row in json.loads(ledger.read_text())["launches"]] == [1234]


def simrun(*arguments, **options):
    return subprocess.run([DEV, "sim", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          env=clean_environment(), **options)


def test_exit_status_is_the_commands(tmp_path):
    assert simrun("--", "sh", "-c", "exit 42").returncode == 42
    assert simrun("--", "sh", "-c", "kill -TERM $$").returncode == 128 + signal.SIGTERM
    assert simrun("--", tmp_path / "missing").returncode == 127
    assert simrun("--device", "h200").returncode == 2
    assert simrun("--ledgers", "x", "--", "true").returncode == 2


def test_command_that_uses_no_driver_has_an_empty_ledger(tmp_path):
    assert simrun("--ledger", tmp_path / "ledger", "--", "true").returncode == 0
    assert json.loads((tmp_path / "ledger").read_text()) == {"launches": [], "calls": {}, "faults": []}


def test_existing_ledger_is_not_overwritten(tmp_path):
    (tmp_path / "ledger").write_text("mine")
    assert simrun("--ledger", tmp_path / "ledger", "--", CONFORMANCE / "conformance_contexts").returncode == 0
    assert (tmp_path / "ledger").read_text() == "mine"
    assert len(list(tmp_path.glob("ledger.*"))) == 1


def test_unwritable_ledger_is_an_error(tmp_path):
    done = simrun("--ledger", tmp_path / "missing" / "ledger", "--", CONFORMANCE / "conformance_contexts")
    assert done.returncode == 1 and "missing/ledger" in done.stderr


def test_nothing_is_left_behind(tmp_path):
    (tmp_path / "temporary").mkdir()
    done = subprocess.run([DEV, "sim", "--ledger", tmp_path / "ledger", "--", CONFORMANCE / "conformance_modules"],
                          capture_output=True, timeout=60,
                          env=clean_environment(TMPDIR=tmp_path / "temporary", CONFORMANCE_CODE=CODE))
    assert done.returncode == 0
    assert list((tmp_path / "temporary").iterdir()) == []


DEVICES = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int()
print(cuda.cuInit(0), end="")
if cuda.cuDeviceGetCount(ctypes.byref(count)) == 0:
    for i in range(count.value):
        name = ctypes.create_string_buffer(100)
        cuda.cuDeviceGetName(name, 100, i)
        print("", name.value.decode(), end="")
"""


@pytest.mark.parametrize("devices, visible, printed", [
    ("h200", None, "0 NVIDIA H200 (simulated)"),
    ("T4,a100", None, "0 Tesla T4 (simulated) NVIDIA A100-SXM4-80GB (simulated)"),
    ("t4,a100", "1,0", "0 NVIDIA A100-SXM4-80GB (simulated) Tesla T4 (simulated)"),
    ("t4,a100", "1,7,0", "0 NVIDIA A100-SXM4-80GB (simulated)"),
    ("t4", "", "100"),
    ("rtx1", None, "100"),
])
def test_devices(devices, visible, printed):
    variables = [] if visible is None else [f"CUDA_VISIBLE_DEVICES={visible}"]
    done = simrun("--device", devices, "--", "env", *variables, *PYTHON, "-c", DEVICES)
    assert done.stdout == printed


@pytest.mark.parametrize("version, present, absent", [
    (12020, "cuGetProcAddress_v2", "cuFuncGetName"),
    (11080, "cuGetProcAddress", "cuGetProcAddress_v2"),
    (13000, "cuFuncGetName", "cuNoSuchFunction"),
])
def test_older_drivers_export_less(version, present, absent):
    program = f"import ctypes; cuda = ctypes.CDLL('libcuda.so.1'); print([hasattr(cuda, n) for n in {present, absent}])"
    done = simrun("--", "env", f"SIMCUDA_DRIVER_VERSION={version}", *PYTHON, "-c", program)
    assert done.stdout == "[True, False]\n"


def test_penalty_lowers_every_occupancy_answer(run):
    lines = run("occupancy", status=1, SIMCUDA_BLOCKS_PER_SM_PENALTY=1).stdout
    assert "not ok" in lines and "blocks_of(plain, 256, 0) == threads / 256" in lines


def test_driver_that_looks_itself_up(run):
    assert run("contexts", SIMCUDA_SELF_LOOKUP=1).ledger["faults"] == []


REAL_RUNTIME = """
import ctypes, sys
runtime = ctypes.CDLL(sys.argv[1])
count = ctypes.c_int(-1)
print(runtime.cudaGetDeviceCount(ctypes.byref(count)), count.value)
"""


def test_real_runtime_looks_up_its_functions(watched_and_not):
    """NVIDIA's own libcudart finds the whole driver through cuGetProcAddress, then asks for a private interface,
    which this driver does not have: it gives up with "not supported"."""
    library = CUDA_HOME / "lib64" / "libcudart.so.13"
    run = watched_and_not([sys.executable, "-c", REAL_RUNTIME, library])
    assert run.stdout == "801 -1\n"
    assert run.ledger["calls"]["cuGetProcAddress_v2"] > 400
    assert run.ledger["launches"] == []
