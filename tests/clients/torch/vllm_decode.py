"""One decode step of a Llama-like layer with vLLM's own kernels, as its engine calls them: norms, rotary embedding, cache
write, gated activation. One block per token, so that a small batch leaves most of a large GPU idle.
   vllm_decode.py EXTENSION BATCH STEPS      EXTENSION: vllm/_C_stable_libtorch.abi3.so"""
import sys

import torch

extension, batch, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.ops.load_library(extension)
HIDDEN, FEED_FORWARD, HEADS, KV_HEADS, HEAD = 4096, 14336, 32, 8, 128
BLOCKS, BLOCK = 64, 16


def empty(*shape):
    return torch.empty(*shape, device="cuda", dtype=torch.bfloat16)


hidden, residual, weight = empty(batch, HIDDEN), empty(batch, HIDDEN), empty(HIDDEN)
query, key, value = empty(batch, HEADS * HEAD), empty(batch, KV_HEADS * HEAD), empty(batch, KV_HEADS * HEAD)
gate_up, activated = empty(batch, 2 * FEED_FORWARD), empty(batch, FEED_FORWARD)
rotary = empty(8192, HEAD)
positions = torch.zeros(batch, dtype=torch.long, device="cuda")
slots = torch.zeros(batch, dtype=torch.long, device="cuda")
key_cache, value_cache = empty(BLOCKS, BLOCK, KV_HEADS, HEAD), empty(BLOCKS, BLOCK, KV_HEADS, HEAD)
one = torch.ones((), device="cuda")

for _ in range(steps):
    torch.ops._C.rms_norm(hidden, residual, weight, 1e-6)
    torch.ops._C.rotary_embedding(positions, query, key, HEAD, rotary, True)
    torch.ops._C_cache_ops.reshape_and_cache_flash(key.view(batch, KV_HEADS, HEAD), value.view(batch, KV_HEADS, HEAD),
                                                   key_cache, value_cache, slots, "auto", one, one)
    torch.ops._C.fused_add_rms_norm(hidden, residual, weight, 1e-6)
    torch.ops._C.silu_and_mul(activated, gate_up)
torch.cuda.synchronize()
print(f"decoded {steps} steps of {batch} with vLLM's kernels")
