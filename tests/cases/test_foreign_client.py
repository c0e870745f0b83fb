"""A client that is not of this project, from PyPI, on the simulated driver: the whole set is in tests/clients."""
from support import ROOT, SAMPLES, assert_documented, assert_same_launches, counts_of_output

VENV = ROOT / "build" / "venv" / "cuda_core"


def test_cuda_core(watched_and_not):
    assert (VENV / "requirements.txt").exists(), "cuda-core could not be fetched: see build/cuda_core.log"
    run = watched_and_not([VENV / "bin" / "python", ROOT / "tests/clients/cuda_core_program.py", SAMPLES / "kernels.fatbin"])
    said = counts_of_output(run.stdout)
    assert len(said) == 5
    assert_same_launches(said, run.ledger_counts)
    assert_same_launches(said, run.report_counts)
    assert_documented("cuda_core", run)
