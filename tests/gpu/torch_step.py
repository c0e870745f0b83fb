"""PyTorch decode loops: what watching costs a step, and whether as many kernels are counted as torch.profiler sees."""
import json
import pathlib
import shutil
import subprocess

from machine import last_line
from support import warpwatch_lines

LOOPS = pathlib.Path(__file__).with_name("decode_loops.py")
STEPS = 1000


def why_not(run, python):
    if run.dry:
        return "a dry run"
    try:
        probe = subprocess.run([python, "-c", "import torch; assert torch.cuda.is_available()"], capture_output=True,
                               timeout=60)
        return "no PyTorch with CUDA here" if probe.returncode else None
    except (OSError, subprocess.TimeoutExpired):
        return "PyTorch does not start"


def loop(run, python, mode, steps, *words, **options):
    done = run.program([python, LOOPS, mode, steps, *words], seconds=90, own_libraries=False,
                       TORCHINDUCTOR_CACHE_DIR=run.stores / "inductor", **options)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return (json.loads(lines[-1]) if lines else None), done


def launches(run, directory):
    return run.report(directory)["totals"]["launches"]


def mode_of(run, python, mode):
    """Twice as many steps launch a known number of kernels more: start-up and compilation drop out."""
    plain, done = loop(run, python, mode, STEPS, "profile")
    directories = [run.stores / "torch" / f"{mode}-{steps}" for steps in (STEPS, 2 * STEPS)]
    watched = [loop(run, python, mode, steps, watch=directory)[0] for steps, directory in zip((STEPS, 2 * STEPS), directories)]
    if plain is None or None in watched:
        run.result("torch", mode, f"left out: {last_line(done.stderr)}")
        return
    counted = (launches(run, directories[1]) - launches(run, directories[0])) / STEPS
    step_us = [figures["step_us"] for figures in watched]
    cost = f"{min(step_us) / plain['step_us']:.3f} × the time of a step without"
    same = counted == plain["kernels_per_step"]
    run.result("torch", mode, cost if same else f"different: {cost}", plain_step_us=plain["step_us"],
               watched_step_us=step_us, kernels_per_step={"warpwatch": counted, "torch.profiler": plain["kernels_per_step"]},
               differences=[] if same else [f"{counted} kernels a step counted, torch.profiler sees "
                                            f"{plain['kernels_per_step']}"])


def later_profiler(run, python):
    plain, _ = loop(run, python, "eager", STEPS, "profile")
    figures, done = loop(run, python, "eager", STEPS, "profile", watch=run.stores / "torch" / "profiled", WARPWATCH_TIMING=1)
    kernels = [part and part["kernels_per_step"] for part in (plain, figures)]
    works = kernels[0] and kernels[0] == kernels[1]
    run.result("torch", "torch.profiler beside --timing", "works" if works else f"different: {kernels}",
               warnings=warpwatch_lines(done.stderr))


def torch(run):
    python = shutil.which("python3")
    reason = why_not(run, python)
    if reason:
        run.result("torch", "decode loops", f"left out: {reason}")
        return
    for mode in ("eager", "graph", "compile"):
        mode_of(run, python, mode)
    later_profiler(run, python)
