"""A rank of a distributed job: the same training step everywhere, a gradient exchange by gloo in host memory.
   torchrun --nproc-per-node N ranks.py STEPS ODD
Rank ODD was started with another optimizer setting: it updates parameters one by one."""
import os
import sys

import torch
import torch.distributed as distributed
from torch import nn

steps, odd = int(sys.argv[1]), int(sys.argv[2])
distributed.init_process_group("gloo")
rank = distributed.get_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.LayerNorm(256), nn.GELU(), nn.LayerNorm(256)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), foreach=rank != odd)
for _ in range(steps):
    model(torch.randn(32, 256).cuda()).pow(2).mean().backward()
    for parameter in model.parameters():
        gradient = parameter.grad.cpu()
        distributed.all_reduce(gradient)
        parameter.grad.copy_(gradient)
    optimizer.step()
    optimizer.zero_grad()
torch.cuda.synchronize()
distributed.barrier()
distributed.destroy_process_group()
# One write, so that lines of ranks do not mix.
os.write(1, f"rank {rank} trained {steps} steps\n".encode())
