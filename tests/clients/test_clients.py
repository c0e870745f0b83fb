"""Foreign clients on the simulated driver: report == ledger, and output and ledger as without warpwatch."""
import pytest

from support import BUILD, CUDA_HOME, ROOT, SAMPLES, assert_documented, assert_same_launches

CLIENTS = ROOT / "tests" / "clients"
FATBIN = SAMPLES / "kernels.fatbin"

# name of the environment and of the program: arguments, variables
PROGRAMS = {
    "cuda_core": ([FATBIN], {}),
    "numba": ([], {"CUDA_HOME": CUDA_HOME}),
    "pycuda": ([FATBIN], {"PATH": f"{CUDA_HOME}/bin:/usr/bin:/bin"}),
    "drjit": ([], {}),
    "halide": ([], {}),
    "tinygrad": ([], {"DEV": "CUDA:PTX", "CACHELEVEL": "0"}),
}


def python_of(name):
    venv = BUILD / "venv" / name
    assert (venv / "requirements.txt").exists(), f"{name} could not be fetched: see build/{name}.log"
    return venv / "bin" / "python"


@pytest.mark.parametrize("name", PROGRAMS)
def test_report_equals_ledger(watched_and_not, name):
    arguments, variables = PROGRAMS[name]
    run = watched_and_not([python_of(name), CLIENTS / f"{name}_program.py", *arguments], HOME=BUILD, **variables)
    assert_same_launches(run.ledger_counts, run.report_counts)
    assert_documented(name, run)


def test_taichi_opens_its_library_with_deepbind_and_is_not_disturbed(watched_and_not):
    """A known limit, docs/limits.md: its launches are made and not seen."""
    run = watched_and_not([python_of("taichi"), CLIENTS / "taichi_program.py"], HOME=BUILD)
    assert sum(count.launches for count in run.ledger_counts.values()) > 20
    assert run.stores == []


def test_cupy_comes_as_far_as_the_runtime_within_it_and_is_not_disturbed(watched_and_not):
    """NVIDIA's runtime, linked into CuPy, asks the driver for a table that only NVIDIA's has: see docs/real-binaries.md."""
    run = watched_and_not([python_of("cupy"), CLIENTS / "cupy_program.py", FATBIN], HOME=BUILD)
    assert run.stdout == "cudaErrorNotSupported: operation not supported\n"
    assert run.ledger_counts == {} and run.stores == []
