"""PyTorch, Triton and vLLM's kernels on the simulated driver: the real host side, our runtime under its SONAME. For each
program the report equals the ledger, and says what a performance engineer would say of it."""
import glob
import json
import re

import pytest

from support import BUILD, LIBRARY, ROOT, assert_documented, assert_same_launches, program_lines, warpwatch

PROGRAMS = ROOT / "tests" / "clients" / "torch"
ENVIRONMENT = BUILD / "venv" / "torch"
PYTHON = ENVIRONMENT / "bin" / "python"
RUNTIME = BUILD / "simcuda" / "libcudart.so.13"
SKIPPED = BUILD / "torch.skipped"

pytestmark = pytest.mark.skipif(SKIPPED.exists(), reason=SKIPPED.read_text().strip() if SKIPPED.exists() else "")


@pytest.fixture
def torch(simulated, tmp_path):
    """Runs a program with and without warpwatch; `repeatable` ones must make the same launches both times."""

    def run(name, *arguments, repeatable=True, launcher=(), **variables):
        assert PYTHON.exists(), "the environment could not be fetched: see build/torch.log"
        command = [PYTHON, *launcher, PROGRAMS / f"{name}.py", *arguments]
        variables = {"HOME": tmp_path, "TRITON_DEFAULT_FP_FUSION": "1",
                     "PATH": f"{ENVIRONMENT}/bin:/usr/bin:/bin", **variables}
        plain = simulated(command, preload=RUNTIME, timeout=900, **variables)
        watched = simulated(command, preload=f"{LIBRARY} {RUNTIME}", timeout=900, **variables)
        assert sorted(watched.stdout.splitlines()) == sorted(plain.stdout.splitlines())  # ranks end in any order
        assert program_lines(watched.stderr) == plain.stderr.splitlines()
        if repeatable:
            assert_same_launches(plain.ledger_counts, watched.ledger_counts)
        assert_same_launches(watched.ledger_counts, watched.report_counts)
        assert sum(count.launches for count in watched.ledger_counts.values()) > 0
        return watched

    return run


def launches(run, part):
    return sum(count.launches for launch, count in run.ledger_counts.items() if part in launch.function)


def findings(run):
    return {finding["id"] for finding in run.report["findings"]}


@pytest.mark.parametrize("optimizer", ["foreach", "fused", "forloop"])
def test_a_training_loop_is_many_launches_that_leave_sms_without_work(torch, optimizer):
    run = torch("train", "20", optimizer)
    assert_documented(f"train 20 {optimizer}", run)
    report = run.report
    assert report["totals"]["runtime_launches"] == report["totals"]["launches"]
    assert findings(run) & {"tiny-launches", "fewer-blocks-than-sms"}
    assert launches(run, "layer_norm") >= 20 * 3
    if optimizer != "forloop":
        assert launches(run, "multi_tensor_apply_kernel") >= 20


def test_a_fused_optimizer_makes_fewer_launches(torch):
    fused, loop = torch("train", "10", "fused"), torch("train", "10", "forloop")
    assert fused.report["totals"]["launches"] < loop.report["totals"]["launches"] / 2


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_data_loader_workers_leave_no_store_and_no_line(torch, method):
    run = torch("train", "5", "foreach", f"workers={method}")
    assert len(run.stores) == 1


def test_a_compiled_training_loop_launches_triton_kernels(torch):
    """Two of inductor's workers compile: they launch nothing and leave nothing."""
    run = torch("train", "5", "foreach", "compile", repeatable=False, TORCHINDUCTOR_COMPILE_THREADS="2")
    assert launches(run, "triton_") > 0 and len(run.stores) == 1


@pytest.mark.parametrize("batch", [1, 8, 64])
def test_a_decode_loop_is_sub_wave(torch, batch):
    run = torch("decode", str(batch), "50")
    assert_documented(f"decode {batch} 50", run)
    assert "fewer-blocks-than-sms" in findings(run)
    judged = [configuration["waves"] for kernel in run.report["kernels"] for configuration in kernel["configurations"]
              if configuration["launches"] >= 50]
    assert judged and all(waves < 1 for waves in judged)


def test_a_decode_loop_is_one_repeating_sequence(torch):
    steps = 200
    run = torch("decode", "1", str(steps))
    total = sum(count.launches for count in run.ledger_counts.values())
    sequences = [f["evidence"] for f in run.report["findings"] if f["id"] == "repeating-sequence"]
    assert len(sequences) == 1 and sequences[0].startswith(f"{round(total / (steps + 1))} launches, most of them too small")


@pytest.mark.parametrize("batch", [1, 64])
def test_a_decode_loop_under_a_graph_is_counted_replay_by_replay(torch, batch):
    steps = 50
    run = torch("decode", str(batch), str(steps), "graph")
    assert_documented(f"decode {batch} {steps} graph", run)
    totals = run.report["totals"]
    replayed = sum(count.graph_launches for count in run.ledger_counts.values())
    assert totals["graph_launches"] == replayed >= steps * 10
    assert totals["uncounted"] == 0


def test_triton_shows_every_autotuning_candidate_with_its_shared_memory(torch):
    run = torch("triton_kernels", repeatable=False)
    rows = [(configuration, kernel) for kernel in run.report["kernels"] if kernel["mangled"] == "matmul"
            for configuration in kernel["configurations"]]
    candidates = re.findall(r"candidate grid=(\S+) block=(\S+)", run.stdout)
    shape = lambda dimensions: ",".join(map(str, dimensions))
    seen = {(shape(configuration["grid"]), shape(configuration["block"])) for configuration, _ in rows}
    assert len(candidates) == 4 and set(candidates) <= seen
    shared = [configuration["dynamic_shared_bytes"] for configuration, _ in rows]
    assert max(shared) > 48 * 1024  # beyond the default limit, and still with an occupancy above 0
    assert all(configuration["blocks_per_sm"] >= 1 for configuration, _ in rows)
    assert len({kernel["registers_per_thread"] for _, kernel in rows}) > 1
    assert all("triton" in configuration["labels"] for configuration, _ in rows)
    advice = [f["advice"] for f in run.report["findings"] if f["kernel"] is not None]
    assert advice and all("tiles" in each and "threads" not in each for each in advice)


@pytest.mark.parametrize("batch", [1, 8, 64])
def test_vllm_kernels_launch_one_block_per_token(torch, batch):
    extension = glob.glob(f"{ENVIRONMENT}/lib/python3*/site-packages/vllm/_C_stable_libtorch.abi3.so")
    assert extension, "vLLM's wheel holds no _C_stable_libtorch"
    run = torch("vllm_decode", extension[0], str(batch), "50")
    assert_documented(f"vllm_decode {batch} 50", run)
    for kernel in ("rms_norm_kernel", "fused_add_rms_norm_kernel", "rotary_embedding_kernel",
                   "reshape_and_cache_flash_kernel", "act_and_mul_kernel"):
        grids = {launch.grid for launch in run.ledger_counts if kernel in launch.function}
        assert grids and all(grid[0] in (batch, batch * 2) or grid[1] == batch for grid in grids), (kernel, grids)
    assert "fewer-blocks-than-sms" in findings(run)


def test_vllm_extensions_are_read_to_the_last_entry():
    """All modules of the wheel, without a GPU and without loading them."""
    folder = ENVIRONMENT / "lib"
    packages = list(folder.glob("python3*/site-packages/vllm"))
    assert packages, "the environment holds no vLLM"
    scan = json.loads(warpwatch("scan", "--format", "json", "--device", "h100", packages[0]))
    assert all(file["undecodable"] == [] for file in scan["files"])
    kernels = [kernel for file in scan["files"] for kernel in file["kernels"]]
    assert len(kernels) > 10000
    for part in ("rms_norm_kernel", "rotary_embedding_kernel", "reshape_and_cache_flash_kernel", "act_and_mul_kernel"):
        judged = [kernel["best_occupancy"] for kernel in kernels if part in kernel["name"] and kernel["best_occupancy"]]
        assert judged and min(judged) > 0.5, part


def test_torchrun_leaves_a_store_for_each_rank_and_the_odd_one_is_named(torch):
    ranks, steps, odd = 4, 10, 2
    run = torch("ranks", str(steps), str(odd), launcher=("-m", "torch.distributed.run", "--nproc-per-node", str(ranks)),
                OMP_NUM_THREADS="1", WARPWATCH_REPORT="none")
    assert len(run.stores) == ranks
    report = run.report
    assert sorted(process["rank"] for process in report["processes"]) == list(range(ranks))
    named = [finding for finding in report["findings"] if finding["id"] == "odd-rank"]
    assert len(named) == 1 and named[0]["evidence"].startswith(f"rank {odd} on "), named
    kernel = report["kernels"][named[0]["kernel"]]
    by_rank = [0] * ranks
    for configuration in kernel["configurations"]:
        for row in configuration["by_process"]:
            by_rank[report["processes"][row["process"]]["rank"]] += row["launches"]
    others = {by_rank[rank] for rank in range(ranks) if rank != odd}
    assert len(others) == 1 and by_rank[odd] not in others
    assert f" {by_rank[odd]} times, 3 other ranks {others.pop()} times; " in named[0]["evidence"]
