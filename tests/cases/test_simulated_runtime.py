"""The simulated libcudart beside NVIDIA's: the same exports, the same way to the driver, the same answers without one."""
import subprocess
import sys

import pytest
import support

OURS = support.BUILD / "simcuda" / "libcudart.so.13"
THEIRS = support.CUDA_HOME / "lib64" / "libcudart.so.13"
LOGGING_DRIVER = support.BUILD / "tests" / "clients" / "logging"

pytestmark = pytest.mark.skipif(not THEIRS.exists(), reason=f"no {THEIRS} to compare with")

COUNT_DEVICES = """
import ctypes, sys
runtime = ctypes.CDLL(sys.argv[1])
version, count = ctypes.c_int(-1), ctypes.c_int(-1)
print("runtime", runtime.cudaRuntimeGetVersion(ctypes.byref(version)), version.value)
print("driver", runtime.cudaDriverGetVersion(ctypes.byref(version)), version.value)
print("devices", runtime.cudaGetDeviceCount(ctypes.byref(count)), count.value)
print("errors", runtime.cudaPeekAtLastError(), runtime.cudaGetLastError(), runtime.cudaGetLastError())
print("memory", runtime.cudaFree(None), runtime.cudaDeviceReset(), runtime.cudaSetDevice(0))
"""


def count_devices(runtime, **variables):
    done = subprocess.run([sys.executable, "-c", COUNT_DEVICES, runtime], capture_output=True, text=True, timeout=60,
                          env=support.clean_environment(LD_PRELOAD="", **variables))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def theirs_is_13_0():
    return count_devices(THEIRS)[0] == "runtime 0 13000"


def exports(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in done.stdout.splitlines()}


def look_ups(runtime):
    lines = count_devices(runtime, LD_LIBRARY_PATH=LOGGING_DRIVER)
    return [line for line in lines if line.startswith("look-up ")]


def test_it_exports_what_nvidias_exports_under_the_same_version():
    missing = exports(THEIRS) - exports(OURS)
    assert not missing or not theirs_is_13_0(), sorted(missing)


def test_without_a_driver_the_answers_are_nvidias():
    assert count_devices(OURS)[1:] == count_devices(THEIRS)[1:]


def test_it_looks_for_the_driver_as_nvidias_does():
    """First "" at version 0, then cuInit, both forms of cuGetProcAddress, and all others by name, version and flag, in one
    order. NVIDIA's also asks for OpenGL, EGL and VDPAU, and for older versions of some functions."""
    if not theirs_is_13_0():
        pytest.skip("the versions asked for are those of CUDA 13.0")
    ours, theirs = look_ups(OURS), look_ups(THEIRS)
    assert len(ours) > 300 and ours[:4] == theirs[:4]
    assert not set(ours) - set(theirs)
    legacy = [theirs.index(line) for line in ours if line.endswith(" 0")]
    assert legacy == sorted(legacy)
