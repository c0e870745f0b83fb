"""Python as people start it: isolated, in environments, behind wrappers, beside other preloads. Launches are counted and
nothing is said."""
import os
import shutil
import subprocess

import pytest

import support

PROGRAM = f"""
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, module, function, memory = (ctypes.c_void_p() for _ in range(4))
factor = ctypes.c_float(2)
values = (ctypes.c_void_p * 2)(ctypes.addressof(memory), ctypes.addressof(factor))
calls = [cuda.cuInit(0), cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0),
         cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 20)),
         cuda.cuModuleLoad(ctypes.byref(module), {str(support.SAMPLES / "kernels.fatbin")!r}.encode()),
         cuda.cuModuleGetFunction(ctypes.byref(function), module, b"scale")]
calls += [cuda.cuLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, None, values, None) for _ in range(17)]
print(sum(calls), sys.prefix)
"""
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def check(run):
    assert run.stdout.startswith("0 ") and run.stderr == "", run
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    assert run.report["totals"]["launches"] == 17 and len(run.stores) == 1
    return run


@pytest.mark.parametrize("options", [["-S"], ["-I"], ["-E", "-s"], ["-X", "dev"]], ids=" ".join)
def test_options_of_the_interpreter(simulated, program, options):
    check(simulated(["/usr/bin/python3", *options, program]))


@pytest.mark.parametrize("option", ["--symlinks", "--copies"])
def test_a_virtual_environment(simulated, program, tmp_path, option):
    """A copied interpreter with libraries of its own beside it is also what conda makes."""
    prefix = tmp_path / "environment"
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", option, prefix], check=True)
    (prefix / "lib" / "libstdc++.so.6").symlink_to("/usr/lib/x86_64-linux-gnu/libstdc++.so.6")
    run = check(simulated([prefix / "bin" / "python", program], CONDA_PREFIX=prefix,
                          LD_LIBRARY_PATH=f"{support.BUILD}/simcuda:{prefix}/lib"))
    assert run.stdout == f"0 {prefix}\n"


@pytest.mark.parametrize("wrapper", [["nice", "timeout", "100"], ["stdbuf", "-o0"], ["setsid", "-w"], ["nohup"],
                                     ["bash", "-c", 'ls / >/dev/null; "$@" && true', "bash"]], ids=lambda words: words[0])
def test_behind_a_wrapper(simulated, program, wrapper):
    if shutil.which(wrapper[0]) is None:
        pytest.skip(f"no {wrapper[0]} here")
    run = simulated([*wrapper, "/usr/bin/python3", program])
    run.stderr = run.stderr.replace("nohup: ignoring input\n", "")
    check(run)


@pytest.mark.skipif(not os.path.exists(JEMALLOC), reason="no jemalloc here: apt-get install libjemalloc2")
@pytest.mark.parametrize("order", ["{ours} {other}", "{other}:{ours}"])
def test_beside_jemalloc(simulated, program, order):
    check(simulated(["/usr/bin/python3", program], preload=order.format(ours=support.LIBRARY, other=JEMALLOC)))


def test_run_that_is_to_say_nothing(simulated, program):
    run = simulated([support.WARPWATCH, "run", "--", "/usr/bin/python3", program], preload=None, WARPWATCH_QUIET=1)
    check(run)
