"""A decode loop in PyTorch: eager, compiled, or replayed as a CUDA graph. Prints one line of JSON: what a step takes,
and how many kernels torch.profiler sees in one.

decode_loops.py eager|compile|graph STEPS [profile]"""
import json
import statistics
import sys
import time

import torch
from torch import nn

mode, steps = sys.argv[1], int(sys.argv[2])
WIDTH, LAYERS, BATCH, ROUNDS = 512, 4, 8, 5


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.silu(self.up(self.norm(x))))


model = nn.Sequential(nn.Embedding(1000, WIDTH), *[Block() for _ in range(LAYERS)]).cuda().half().eval()
model = torch.compile(model) if mode == "compile" else model
tokens = torch.zeros(BATCH, dtype=torch.long, device="cuda")


def step():
    return model(tokens).softmax(-1).argmax(-1)


def count_kernels(once):
    from torch.profiler import ProfilerActivity, profile
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        once()
        torch.cuda.synchronize()
    return sum(1 for event in profiler.events()
               if event.device_type == torch.autograd.DeviceType.CUDA and not event.name.startswith(("Mem", "mem")))


with torch.no_grad():
    for _ in range(3):
        step()
    once = step
    if mode == "graph":
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            step()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        once = graph.replay
    once()
    rounds = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(steps // ROUNDS):
            once()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - start) / (steps // ROUNDS))
    kernels = count_kernels(once) if "profile" in sys.argv else None
print(json.dumps({"step_us": statistics.median(rounds) * 1e6, "kernels_per_step": kernels}))
