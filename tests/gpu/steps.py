"""The steps that need nothing but a driver: samples in every way of watching, occupancy, conformance, a profiler."""
import concurrent.futures
import csv
import io
import os

from machine import AGAIN, BUILD, LIBRARY, PLUGIN, SAMPLES, last_line
from support import counts_of_output, counts_of_report, warpwatch_lines

MODES = {
    "plain": {},
    "timing": {"WARPWATCH_TIMING": 1},
    "counters": {"WARPWATCH_COUNTERS": 1, "AGAIN": 50, "LD_PRELOAD": f"{AGAIN}:{LIBRARY}"},
    "graph nodes": {"WARPWATCH_TIMING_NODES": 1},
    "injection": {"CUDA_INJECTION64_PATH": PLUGIN, "LD_PRELOAD": ""},
}
ONLY = {"graph nodes": ["graph"], "injection": ["vecadd", "tiny", "graph", "modules", "library", "threads"]}


def differences_of(said, seen):
    return [f"{launch.function} {launch.grid} {launch.block}: said {said.get(launch)}, reported {seen.get(launch)}"
            for launch in sorted(said.keys() | seen.keys(), key=str) if said.get(launch) != seen.get(launch)]


def measured_figures(report):
    totals = report["totals"]
    rows = [row for kernel in report["kernels"] for row in kernel["configurations"]]
    by = totals["measured_launches"] or {}
    count = sum(by.values())
    return {"measured": by, "measuring_ns": totals["measuring_ns"], "graph_gpu_ns": totals["graph_gpu_ns"],
            "measuring_ns_per_measured_launch": totals["measuring_ns"] / count if count else None,
            "configurations_measured": sum(row["measured_launches"] is not None for row in rows),
            "configurations": len(rows)}


def sample(run, mode, name):
    directory = run.stores / mode.replace(" ", "-") / name
    done = run.program([SAMPLES / name], directory, **MODES[mode])
    if done.returncode:
        return f"failed: status {done.returncode}, {last_line(done.stderr)}", {}
    report = run.report(directory)
    differences = differences_of(counts_of_output(done.stdout), counts_of_report(report))
    figures = measured_figures(report) | {"warnings": warpwatch_lines(done.stderr), "differences": differences,
                                          "launches": report["totals"]["launches"],
                                          "hook_ns_per_launch": report["totals"]["hook_ns_per_launch"]}
    outcome = "different" if differences else "equal"
    if mode in ("timing", "counters"):
        outcome += f", {figures['configurations_measured']} of {figures['configurations']} configurations measured"
    return outcome, figures


def samples(run):
    names = sorted(path.name for path in SAMPLES.iterdir() if path.is_file() and os.access(path, os.X_OK))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:  # what is measured has the GPU to itself
        for name, (outcome, figures) in zip(names, pool.map(lambda name: sample(run, "plain", name), names)):
            run.result("samples", f"{name} (plain)", outcome, **figures)
    for mode in list(MODES)[1:]:
        for name in ONLY.get(mode, names):
            outcome, figures = sample(run, mode, name)
            run.result("samples", f"{name} ({mode})", outcome, **figures)


def occupancy(run):
    done = run.program([BUILD / "tests" / "occupancy_sweep", SAMPLES / "kernels.fatbin", "offset", "scale"])
    if done.returncode:
        run.result("occupancy", "sweep", f"failed: {last_line(done.stderr)}")
        return
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    fields = ["cc", "threads", "registers", "static_shared", "dynamic_shared"]
    table = "\n".join([",".join(fields)] + [",".join(row[field] for field in fields) for row in rows]) + "\n"
    model = list(csv.DictReader(io.StringIO(run.warpwatch("model", "occupancy", "--batch", input=table))))
    differences = [f"{row}: the model says {judged['blocks_per_sm']}" for row, judged in zip(rows, model)
                   if row["driver_blocks"] != judged["blocks_per_sm"]]
    run.result("occupancy", f"{len(rows)} driver answers", "different" if differences or not rows else "equal",
               answers=len(rows), differing=len(differences), differences=differences[:20])


def conformance_program(run, program):
    done = run.program([program], CONFORMANCE_CODE=BUILD / "tests" / "conformance" / "code")
    lines = done.stdout.splitlines()
    wrong = [line for line in lines if line.startswith("not ok")]
    unverified = [line for line in lines if "(unverified)" in line and "differs" in line]
    if done.returncode not in (0, 77) and not wrong:
        wrong = [f"status {done.returncode}: {last_line(done.stderr or done.stdout)}"]
    outcome = {0: "as documented", 77: "left out: no driver"}.get(done.returncode, f"{len(wrong)} differ")
    if unverified and done.returncode == 0:
        outcome += f", {len(unverified)} guesses were wrong"
    return outcome, wrong + unverified


def conformance(run):
    programs = [path for path in sorted((BUILD / "tests").glob("conformance_*"))
                if path.name != "conformance_faults" and path.is_file() and os.access(path, os.X_OK)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda path: conformance_program(run, path), programs)
        for path, (outcome, differences) in zip(programs, results):
            run.result("conformance", path.name.removeprefix("conformance_"), outcome, differences=differences)


def profiler(run):
    """A CUPTI client in the watched process, which starts later."""
    program = [BUILD / "tests" / "other_profiler", SAMPLES / "kernels.fatbin", "linked", "later", 100, 50, 10]
    for mode in ("plain", "timing", "counters"):
        done = run.program(program, run.stores / "profiler" / mode, **MODES[mode])
        recorded = "kernels 50, foreign buffers 0" in done.stdout
        outcome = "works" if recorded else f"different: {last_line(done.stdout + done.stderr)}"
        run.result("profiler", f"later, beside {mode}", outcome, output=done.stdout, warnings=warpwatch_lines(done.stderr))


def cupti(run):
    """What CUPTI's documents do not say: costs, and what it takes while the range profiler is enabled."""
    done = run.program([BUILD / "tests" / "cupti_probe", SAMPLES / "kernels.fatbin"])
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    for name, value in found.items():
        run.result("cupti", name.replace("_", " "), value)
    if done.returncode:
        run.result("cupti", "the rest", f"left out: status {done.returncode}, {last_line(done.stderr)}")
