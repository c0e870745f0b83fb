"""Nsight Compute on the sample programs, beside what the report of the same programs says."""
import csv
import re
import shutil

from machine import SAMPLES, last_line

PROGRAMS = ("vecadd", "tail", "registers", "shared", "divergence", "strided", "banks")
LAUNCHES = 8
# ncu's metric, what it is in the report, what one unit of the report's is in ncu's, and how far apart they may be.
EXACT, SAMPLED = 0.001, 0.05
METRICS = [
    ("launch__registers_per_thread", "registers_per_thread", 1, EXACT),
    ("launch__shared_mem_per_block_static", "static_shared_bytes", 1, EXACT),
    ("launch__shared_mem_per_block_dynamic", "dynamic_shared_bytes", 1, EXACT),
    ("launch__occupancy_limit_blocks", "limits.blocks", 1, EXACT),
    ("launch__occupancy_limit_registers", "limits.registers", 1, EXACT),
    ("launch__occupancy_limit_shared_mem", "limits.shared_memory", 1, EXACT),
    ("launch__occupancy_limit_warps", "limits.threads", 1, EXACT),
    ("launch__waves_per_multiprocessor", "waves", 1, 0.01),
    ("sm__maximum_warps_per_active_cycle_pct", "theoretical_occupancy", 100, EXACT),
    ("sm__warps_active.avg.pct_of_peak_sustained_active", "achieved_occupancy", 100, SAMPLED),
    ("smsp__sass_average_branch_targets_threads_uniform.pct", "branch_efficiency", 100, 0.01),
    ("smsp__thread_inst_executed_per_inst_executed.ratio", "lane_utilization", 32, 0.01),
]


def number(text):
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def numbers(text):
    return [int(part) for part in re.findall(r"\d+", text or "")]


def ours(kernel, configuration, field):
    value = {**kernel, **configuration}
    for part in field.split("."):
        value = (value or {}).get(part)
    return value


def limited(field, value, configuration):
    """ncu shows no limit above that of blocks."""
    return min(value, configuration["limits"]["blocks"]) if field.startswith("limits.") and value is not None else value


def compare(row, kernel, configuration):
    figures, differences = {}, []
    for metric, field, unit, tolerance in METRICS:
        theirs = number(row.get(metric))
        mine = ours(kernel, configuration, field)
        figures[field] = {"ncu": theirs, "warpwatch": mine}
        if theirs is None or mine is None:
            continue
        theirs = limited(field, theirs / unit, configuration)
        mine = limited(field, mine, configuration)
        if abs(theirs - mine) > tolerance * max(1, abs(theirs)):
            differences.append(f"{row.get('Kernel Name')} {configuration['grid']} {configuration['block']}: {field} "
                               f"{mine:.4f}, ncu {theirs:.4f}")
    return figures, differences


def configuration_of(row, report):
    for kernel in report["kernels"]:
        for configuration in kernel["configurations"]:
            if (kernel["mangled"], configuration["grid"], configuration["block"]) == \
                    (row.get("Kernel Name"), numbers(row.get("Grid Size")), numbers(row.get("Block Size"))):
                return kernel, configuration
    return None, None


def program(run, tool, name):
    done = run.program([tool, "--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "mangled",
                        "--clock-control", "none", "--cache-control", "none", "--launch-count", LAUNCHES,
                        "--metrics", ",".join(metric for metric, *_ in METRICS), SAMPLES / name], seconds=45)
    table = list(csv.DictReader([line for line in done.stdout.splitlines() if line.startswith('"')]))[1:]
    if not table:  # the first row holds units
        denied = "ERR_NVGPUCTRPERM" in done.stdout + done.stderr
        cause = "no permission for counters" if denied else last_line(done.stdout + done.stderr)
        run.result("ncu", name, f"left out: {cause}")
        return
    report = run.report(run.stores / "counters" / name)
    launches, differences = [], []
    for row in table:
        kernel, configuration = configuration_of(row, report)
        if kernel is None:
            differences.append(f"{row.get('Kernel Name')} {row.get('Grid Size')} {row.get('Block Size')}: not in the report")
            continue
        figures, found = compare(row, kernel, configuration)
        launches.append(figures)
        differences += found
    run.result("ncu", f"{name}, {len(table)} launches", f"{len(differences)} figures differ" if differences else "equal",
               launches=launches, differences=differences)


def ncu(run):
    tool = shutil.which("ncu") or shutil.which("/usr/local/cuda/bin/ncu")
    if run.dry or not tool:
        run.result("ncu", "Nsight Compute", "left out: " + ("a dry run" if run.dry else "no ncu on PATH"))
        return
    for name in PROGRAMS:
        program(run, tool, name)
