"""Triton on its own: a fused softmax, and a matrix product with autotuning whose candidates differ in tile and stages.
   triton_kernels.py
Prints the configurations that the autotuner was given, so that the test can look for each in the report."""
import torch
import triton
import triton.language as tl


@triton.jit
def softmax(output, rows, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(rows + row * stride + at, mask=at < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(output + row * stride + at, e / tl.sum(e, axis=0), mask=at < columns)


CANDIDATES = [
    triton.Config({"M": 64, "N": 64, "K": 32}, num_warps=4, num_stages=2),
    triton.Config({"M": 128, "N": 64, "K": 32}, num_warps=4, num_stages=3),
    triton.Config({"M": 128, "N": 128, "K": 64}, num_warps=8, num_stages=3),
    triton.Config({"M": 128, "N": 256, "K": 64}, num_warps=8, num_stages=4),
]


@triton.autotune(CANDIDATES, key=["size"])
@triton.jit
def matmul(a, b, c, size, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, size, K):
        x = tl.load(a + rows[:, None] * size + (k + inner)[None, :])
        y = tl.load(b + (k + inner)[:, None] * size + columns[None, :])
        total += tl.dot(x, y)
    tl.store(c + rows[:, None] * size + columns[None, :], total.to(tl.float16))


x = torch.empty(1823, 781, device="cuda")
softmax[(x.shape[0],)](torch.empty_like(x), x, x.stride(0), x.shape[1], BLOCK=1024)

size = 1024
a, b, c = (torch.empty(size, size, device="cuda", dtype=torch.float16) for _ in range(3))
matmul[lambda meta: (size // meta["M"], size // meta["N"])](a, b, c, size)
torch.cuda.synchronize()
for candidate in CANDIDATES:
    tile = candidate.kwargs
    print(f"candidate grid={size // tile['M']},{size // tile['N']},1 block={32 * candidate.num_warps},1,1")
