"""A small training loop: forward, loss, backward, optimizer step.
   train.py STEPS foreach|fused|forloop [compile] [workers=fork|spawn]
Matrix products are left out: cuBLAS carries a runtime of its own that wants NVIDIA's driver."""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

steps, optimizer_kind = int(sys.argv[1]), sys.argv[2]
options = sys.argv[3:]
WIDTH = 256


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(1000, WIDTH)
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.dropout = nn.Dropout(0.1)

    def forward(self, tokens):
        x = self.embedding(tokens).mean(1)
        for norm in self.norms:
            x = x + self.dropout(torch.nn.functional.gelu(norm(x)))
        return x


def batches(method):
    """The same batches from this process, or from two worker processes started by `method`."""
    data = TensorDataset(torch.randint(0, 1000, (steps * 32, 16)), torch.randn(steps * 32, WIDTH))
    workers = {"num_workers": 2, "multiprocessing_context": method} if method else {}
    return DataLoader(data, batch_size=32, **workers)


def main():
    torch.manual_seed(0)
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=optimizer_kind == "foreach",
                                  fused=optimizer_kind == "fused")
    forward = torch.compile(model) if "compile" in options else model
    method = next((o.split("=")[1] for o in options if o.startswith("workers=")), None)
    for tokens, target in batches(method):
        loss = (forward(tokens.cuda()) - target.cuda()).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    print(f"trained {steps} steps, {optimizer_kind}")


if __name__ == "__main__":
    main()
