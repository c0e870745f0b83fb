"""A decode loop as a serving engine runs it: one token a step for each sequence of a batch, out of library calls.
   decode.py BATCH STEPS [graph]
With `graph` the step is captured once and replayed."""
import sys

import torch
from torch import nn

batch, steps = int(sys.argv[1]), int(sys.argv[2])
use_graph = "graph" in sys.argv[3:]
WIDTH, LAYERS = 512, 2


class Block(nn.Module):
    """What is left of a transformer block without its matrix products: norms, gating, residuals."""

    def __init__(self):
        super().__init__()
        self.norm, self.gate = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        h = self.norm(x)
        return x + torch.nn.functional.silu(self.gate(h)) * h


model = nn.Sequential(nn.Embedding(1000, WIDTH), *[Block() for _ in range(LAYERS)]).cuda().eval()
tokens = torch.zeros(batch, dtype=torch.long, device="cuda")


def step():
    return model(tokens).softmax(-1).argmax(-1)


with torch.no_grad():
    step()
    if use_graph:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        for _ in range(steps):
            graph.replay()
    else:
        for _ in range(steps):
            step()
torch.cuda.synchronize()
print(f"decoded {steps} steps of {batch}")
