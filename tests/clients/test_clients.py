"""Foreign clients on the simulated driver: report == ledger, and output and ledger as without warpwatch."""
import re

import pytest

from support import BUILD, CUDA_HOME, ROOT, SAMPLES, assert_same_launches

CLIENTS = ROOT / "tests" / "clients"
FATBIN = SAMPLES / "kernels.fatbin"

# name of the environment and of the program: arguments, variables
PROGRAMS = {
    "cuda_core": ([FATBIN], {}),
    "numba": ([], {"CUDA_HOME": CUDA_HOME}),
    "pycuda": ([FATBIN], {"PATH": f"{CUDA_HOME}/bin:/usr/bin:/bin"}),
    "tinygrad": ([], {"DEV": "CUDA:PTX", "CACHELEVEL": "0"}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_report_equals_ledger(watched_and_not, name):
    python = BUILD / "venv" / name / "bin" / "python"
    assert python.exists(), f"{name} could not be fetched: see build/{name}.log"
    arguments, variables = PROGRAMS[name]
    run = watched_and_not([python, CLIENTS / f"{name}_program.py", *arguments], HOME=BUILD, **variables)
    assert_same_launches(run.ledger_counts, run.report_counts)

    least = re.search(r"launches at least (\d+) of (\d+) kernels", run.stdout)
    if least:
        assert sum(count.launches for count in run.ledger_counts.values()) >= int(least.group(1))
        assert len({launch.function for launch in run.ledger_counts}) >= int(least.group(2))
