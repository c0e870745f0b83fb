"""Ranks of one job as launchers start them: a store each, one merged report, and the odd one named with the kernel
and the counts."""
import shutil

import pytest

import support

RANK = support.BUILD / "tests" / "clients" / "rank"
MPIRUN = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
RANKS, ODD = 4, 2

# What a launcher gives its processes, $rank being the rank.
LAUNCHERS = {
    "SLURM_PROCID": "SLURM_PROCID=$rank SLURM_NTASKS=4 SLURM_LOCALID=$((rank % 2)) SLURM_NODEID=$((rank / 2))",
    "PMI_RANK": "PMI_RANK=$rank PMI_SIZE=4",
    "RANK": "RANK=$rank WORLD_SIZE=4 LOCAL_RANK=$rank SLURM_PROCID=0",  # torchrun as one task of a SLURM job
}


def job(variable):
    return ["sh", "-c", f"for rank in 0 1 2 3; do {LAUNCHERS[variable]} {RANK} {variable} {ODD} & done; wait"]


def check_merged(run):
    assert sorted(run.stdout.splitlines()) == [f"rank {rank}" for rank in range(RANKS)]
    assert len(run.stores) == RANKS
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    report = run.report
    assert sorted(process["rank"] for process in report["processes"]) == list(range(RANKS))
    kernels = {kernel["name"]: kernel for kernel in report["kernels"]}
    assert kernels["offset"]["launches"] == 7
    by_rank = {report["processes"][row["process"]]["rank"]: row["launches"]
               for row in kernels["scale"]["configurations"][0]["by_process"]}
    assert by_rank == {rank: 90 if rank == ODD else 100 for rank in range(RANKS)}
    odd, = [finding for finding in report["findings"] if finding["id"] == "odd-rank"]
    assert report["kernels"][odd["kernel"]]["name"] == "scale"
    assert odd["evidence"].startswith(f"rank {ODD} on ")
    assert "launched scale 90 times, 3 other ranks 100 times; 2 kernels differ in all." in odd["evidence"]


@pytest.mark.skipif(MPIRUN is None, reason="no mpirun here: apt-get install openmpi-bin")
def test_mpirun(simulated):
    run = simulated([MPIRUN, "--oversubscribe", "-n", str(RANKS), "-x", f"LD_PRELOAD={support.preloaded(support.LIBRARY)}",
                     RANK, "OMPI_COMM_WORLD_RANK", str(ODD)],
                    preload=None, LD_PRELOAD=None, WARPWATCH_REPORT="none", OMPI_ALLOW_RUN_AS_ROOT=1,
                    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
    check_merged(run)


@pytest.mark.parametrize("variable", LAUNCHERS)
def test_a_launcher_that_tells_ranks_by_variables(simulated, variable):
    run = simulated(job(variable), WARPWATCH_REPORT="none")
    assert run.stderr == ""
    check_merged(run)


def test_run_watches_a_whole_job_and_writes_one_report(simulated):
    run = simulated([support.WARPWATCH, "run", "--", *job("SLURM_PROCID")], preload=None)
    check_merged(run)
    page, = run.output.glob("*.txt")
    assert f"rank {ODD} on " in page.read_text()
    assert run.stderr.count("\n") == 1 and str(page) in run.stderr
