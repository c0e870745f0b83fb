"""Reports in the schema of warpwatch.report/1 made by hand, for tests of what shows them.

The occupancy arithmetic is the four-limit textbook model, good enough to make figures that belong together."""

import math

H200 = {
    "index": 0, "host": "node17", "ordinal": 0, "uuid": "GPU-5c1f9a52-0e5e-4a52-9f1e-3f6d5d2b7a10",
    "name": "NVIDIA H200 (simulated)", "compute_capability": "9.0", "sms": 132, "max_threads_per_sm": 2048,
    "simulated": True,
}

GEMM = ("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_64x3_tn_align8>"
        "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_64x3_tn_align8::Params)")
ADD = ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
       "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)")

# name, short name, registers, static shared bytes, local bytes, launches shapes: (grid, block, dynamic bytes, launches, graph, labels)
TRAINING = [
    (GEMM, "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_64x3_tn", 230, 0, 0, [
        ((265, 1, 1), (128, 1, 1), 98304, 48000, 48000, []),
        ((528, 1, 1), (128, 1, 1), 98304, 12000, 6000, []),
    ]),
    (ADD, "vectorized_elementwise_kernel<4, CUDAFunctor_add>", 32, 0, 0, [
        ((1, 1, 1), (128, 1, 1), 0, 412345, 400000, []),
        ((40960, 1, 1), (128, 1, 1), 0, 9600, 0, []),
    ]),
    ("flash_fwd_splitkv_kernel(Flash_fwd_params)", "flash_fwd_splitkv_kernel", 255, 1024, 512, [
        ((16, 8, 1), (128, 1, 1), 81920, 24000, 24000, []),
    ]),
    ("rms_norm_kernel(float*, float const*, float)", "rms_norm_kernel", 40, 132, 0, [
        ((4096, 1, 1), (1000, 1, 1), 0, 24000, 0, []),
    ]),
    ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
     96, 32768, 0, [((24, 1, 1), (544, 1, 1), 0, 3200, 0, ["communication"])]),
    ("persistent_matmul_kernel", "persistent_matmul_kernel", 168, 0, 0, [
        ((132, 1, 1), (384, 1, 1), 180000, 6400, 0, ["persistent"]),
        ((66, 2, 1), (256, 1, 1), 65536, 1600, 0, ["cluster"]),
    ]),
    ("grid_reduce(double*, int)", "grid_reduce", 64, 8192, 0, [((264, 1, 1), (512, 1, 1), 0, 200, 0, ["cooperative"])]),
]


def limits(registers, threads, shared):
    warps = math.ceil(threads / 32)
    allocated = math.ceil(registers * 32 / 256) * 256
    return {
        "threads": 64 // warps,
        "blocks": 32,
        "registers": 4 * (16384 // allocated) // warps if registers else 32,
        "shared_memory": 233472 // (math.ceil((shared + 1024) / 128) * 128),
        "barriers": None,
    }


def lift(allowed, least, threads):
    """One imaginary next step, so that the view has one to show."""
    limiter = min((key for key in allowed if allowed[key] is not None), key=lambda key: allowed[key])
    steps = {"registers": 64, "shared_memory": 49152, "threads": threads // 2, "blocks": threads * 2}
    return [{"what": "threads" if limiter == "blocks" else limiter, "to": steps[limiter], "blocks_per_sm": least + 1}]


def configuration(registers, static, grid, block, dynamic, launches, graph, labels, device=0, processes=(0,), sms=132,
                  measured=None):
    threads, blocks = math.prod(block), math.prod(grid)
    allowed = limits(registers, threads, static + dynamic)
    least = min(value for value in allowed.values() if value is not None)
    slots = least * sms
    waves = blocks / slots
    idle = 1 - blocks / (math.ceil(waves) * slots)
    excused = set(labels) & {"cooperative", "persistent", "communication"}
    share, graph_share = launches // len(processes), graph // len(processes)
    return {
        "device": device, "grid": list(grid), "block": list(block),
        "cluster": [2, 1, 1] if "cluster" in labels else None, "dynamic_shared_bytes": dynamic,
        "launches": share * len(processes), "graph_launches": graph_share * len(processes),
        "runtime_launches": share - graph_share,
        "by_process": [{"process": p, "launches": share, "graph_launches": graph_share} for p in processes],
        "blocks_per_sm": least, "theoretical_occupancy": least * math.ceil(threads / 32) / 64,
        "limiters": [key for key, value in allowed.items() if value == least], "limits": allowed,
        "slots": slots, "waves": waves, "full_waves": int(waves), "idle_sms": max(0, sms - blocks),
        "idle_sm_waves": 0 if excused else idle * sms * math.ceil(waves) * share * len(processes),
        "context_sms": None, "elsewhere": None, "lift": lift(allowed, least, threads),
        "tail_fullness": waves % 1 or 1, "tail_waste": idle,
        "idle_lanes_per_block": -threads % 32, "achieved_occupancy": None, "branch_efficiency": None,
        "lane_utilization": None, "sectors_per_request": None, "bank_conflicts_per_request": None, "gpu_ns": None,
        "labels": labels, "sources": {"theoretical_occupancy": "driver", "blocks_per_sm": "driver"},
        **(measured or {}),
    }


def kernel(name, short_name, registers, static, local, configurations, mangled=None):
    return {
        "name": name, "short_name": short_name, "mangled": mangled or "_Z" + str(len(short_name)) + short_name,
        "launches": sum(c["launches"] for c in configurations), "registers_per_thread": registers,
        "static_shared_bytes": static, "local_bytes": local, "max_threads_per_block": 1024,
        "further": {"launches": 0, "graph_launches": 0}, "configurations": configurations,
    }


def process(rank, host="node17", state="finished", launches=0):
    return {
        "host": host, "pid": 41200 + (rank or 0), "rank": rank, "command": "python train.py --config llama-7b.yaml --bf16",
        "start": "2025-11-29T21:49:59.120Z", "seconds": 184.2, "state": state, "launches": launches, "lost": 0,
        "uncounted": 0, "hook_ns_per_launch": 21.4, "damage": None,
    }


def report(kernels, findings=(), devices=(H200,), processes=None):
    processes = processes if processes is not None else [process(None)]
    configurations = [c for k in kernels for c in k["configurations"]]
    launches = sum(k["launches"] for k in kernels)
    for index, entry in enumerate(processes):
        entry["launches"] = sum(p["launches"] for c in configurations for p in c["by_process"] if p["process"] == index)
    return {
        "schema": "warpwatch.report/1", "processes": processes, "devices": list(devices),
        "totals": {
            "launches": launches, "graph_launches": sum(c["graph_launches"] for c in configurations),
            "runtime_launches": sum(c["runtime_launches"] for c in configurations), "kernels": len(kernels),
            "configurations": len(configurations), "launch_call_ns": 2815 * launches, "gap_ns": 25335 * launches,
            "lost": sum(p["lost"] for p in processes), "uncounted": sum(p["uncounted"] for p in processes),
        },
        "elsewhere": None, "kernels": kernels, "findings": list(findings),
    }


def finding(id, title, severity, kernel, configuration, launches, cost, evidence, advice):
    return {"id": id, "title": title, "severity": severity, "kernel": kernel, "configuration": configuration, "launches": launches,
            "cost": cost, "share": cost and cost / 1.6e8, "evidence": evidence, "advice": advice}


TRAINING_FINDINGS = [
    finding("tiny-launches", "Many launches far too small for the GPU", "high", 1, 0, 412345, 54400000,
            "412,345 launches of 1 block of 128 threads, 2,239 a second; the device holds 2,112 such blocks at once.",
            "Fuse it with the kernel that follows it, rms_norm_kernel, or give one launch the work of many."),
    finding("tail-waste", "The last wave is nearly empty", "high", 0, 0, 48000, 6312000,
            "265 blocks on 264 slots are 1.004 waves: the second wave runs 1 block, and 49.8 % of the slots stay idle.",
            "Launch at most 264 blocks, one full wave, each with 0.4 % more of the work."),
    finding("occupancy-registers", "Registers limit the warps on an SM", "medium", 2, 0, 24000, 1630000,
            "255 registers a thread let 2 blocks of 4 warps on an SM, 12.5 % of its warps.",
            "With at most 168 registers a thread, 3 blocks fit: __launch_bounds__(128, 3)."),
    finding("block-not-warp-multiple", "The block size is not a multiple of 32", "low", 3, 0, 24000, 66000,
            "1,000 threads are 32 warps, the last with 8 of 32 lanes used.",
            "Use 992 or 1,024 threads a block."),
    finding("local-memory", "The kernel keeps data in local memory", "low", 2, None, 24000, None,
            "512 bytes a thread lie in local memory: spilled registers, or arrays indexed at run time.",
            "Index small arrays with constants, or allow more registers."),
]


def training(ranks=2):
    """A two-rank training run as a PyTorch user would see it."""
    everyone = tuple(range(ranks))
    kernels = [
        kernel(name, short, registers, static, local,
               [configuration(registers, static, *shape[:5], shape[5], device=device, processes=(device,), sms=132)
                for shape in shapes for device in everyone])
        for name, short, registers, static, local, shapes in TRAINING]
    devices = [dict(H200, index=i, ordinal=i, uuid=H200["uuid"][:-1] + str(i)) for i in everyone]
    return report(kernels, TRAINING_FINDINGS, devices, [process(i) for i in everyone])


def clean():
    return report([kernel("saxpy(int, float, float*, float*)", "saxpy", 16, 0, 0,
                          [configuration(16, 0, (13200 * 8, 1, 1), (256, 1, 1), 0, 100, 0, [])])])


def measured():
    """With GPU times and counters."""
    times = {"count": 100, "min": 1800, "median": 2100, "max": 91000, "total": 254000}
    extra = {"gpu_ns": times, "achieved_occupancy": 0.31, "branch_efficiency": 0.82, "lane_utilization": 0.55,
             "sectors_per_request": 31.5, "bank_conflicts_per_request": 0.0}
    return report([kernel("transpose(float*, float const*)", "transpose", 24, 4096, 0,
                          [configuration(24, 4096, (1024, 1, 1), (256, 1, 1), 0, 100, 0, [], measured=extra)])])


def many(count):
    """`count` configurations over count/20 kernels."""
    kernels = []
    for k in range(max(1, count // 20)):
        registers = 16 + 8 * (k % 28)
        kernels.append(kernel(f"void synthetic::kernel_{k}<float>(float*, int)", f"kernel_{k}<float>", registers, 0, 0, [
            configuration(registers, 0, (1 + (k * 37 + i * i * 61) % 5000, 1, 1), (32 * (1 + (k + i) % 8), 1, 1), 1024 * (i % 9),
                          1 + (k * i * 7919) % 10007, 0, [])
            for i in range(20)]))
    return report(kernels)


HOSTILE_NAMES = [
    "</script><script>window.pwned=1</script>",
    "<!--<script>",
    "<img src=x onerror=window.pwned=1>",
    "\"'><svg onload=window.pwned=1>",
    "gemm\u202e\u2066txet neddih\u2069",
    "line\nbreak\ttab\u0000nul\u001b[31m",
    "]]>&lt;b&gt;&amp;\u2028\u2029",
    "__proto__", "constructor", "k" * 4000, "",
]


def hostile():
    kernels = [kernel(name, name, 32, 0, 0, [configuration(32, 0, (7, 1, 1), (64, 1, 1), 0, 10 + i, 0, [name])], mangled=name)
               for i, name in enumerate(HOSTILE_NAMES)]
    findings = [finding(name, name, name, i, 0, 1, 1, name, name) for i, name in enumerate(HOSTILE_NAMES)]
    return report(kernels, findings, processes=[dict(process(None), command=HOSTILE_NAMES[0], host=HOSTILE_NAMES[2])])


def unknowns():
    """Everything that may be null is null."""
    entry = configuration(32, 0, (7, 1, 1), (64, 1, 1), 0, 10, 0, [])
    for key in ("blocks_per_sm", "theoretical_occupancy", "slots", "waves", "full_waves", "tail_fullness", "tail_waste", "idle_sms", "idle_sm_waves"):
        entry[key] = None
    entry.update(limiters=None, limits=None, lift=[], sources={})
    unknown = kernel("mystery", "mystery", None, None, None, [entry])
    unknown["max_threads_per_block"] = None
    cannot_run = configuration(32, 0, (7, 1, 1), (64, 1, 1), 0, 3, 0, [])
    cannot_run.update(blocks_per_sm=0, theoretical_occupancy=0, limiters=["shared_memory"], slots=0, waves=None, full_waves=None,
                      tail_fullness=None, tail_waste=None, idle_sms=None, idle_sm_waves=None)
    broken = kernel("too_big", "too_big", 32, 0, 0, [cannot_run])
    lossy = dict(process(None, state="ended"), lost=17, uncounted=4, hook_ns_per_launch=None, seconds=None)
    return report([unknown, broken], processes=[lossy])


def unpacked(packed):
    """The report that a page holds, its configurations taken out of their columns."""
    def value(column, place):
        if isinstance(column, list):
            return column[place]
        return column["values"][column["at"][place] if "at" in column else 0]

    def shares(numbers):
        return [dict(zip(("process", "launches", "graph_launches"), numbers[i:i + 3])) for i in range(0, len(numbers), 3)]

    columns, place = packed.pop("columns"), 0
    for kernel in packed["kernels"]:
        places = range(place, place + kernel["configurations"])
        kernel["configurations"] = [{name: value(column, at) for name, column in columns.items()} for at in places]
        for entry in kernel["configurations"]:
            entry["by_process"] = shares(entry["by_process"])
        place = places.stop
    assert place == packed["totals"]["configurations"]
    return packed
