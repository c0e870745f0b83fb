"""A client of numba-cuda: a kernel over vectors, a matrix product through shared memory, a library reduction."""
import numpy
from numba import cuda, float32

TILE = 16


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@cuda.jit
def matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    row, column = cuda.grid(2)
    total = float32(0)
    for start in range(0, a.shape[1], TILE):
        tile_a[cuda.threadIdx.x, cuda.threadIdx.y] = a[row, start + cuda.threadIdx.y]
        tile_b[cuda.threadIdx.x, cuda.threadIdx.y] = b[start + cuda.threadIdx.x, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[cuda.threadIdx.x, k] * tile_b[k, cuda.threadIdx.y]
        cuda.syncthreads()
    c[row, column] = total


@cuda.reduce
def add(a, b):
    return a + b


def main():
    x = cuda.to_device(numpy.ones(10000, dtype=numpy.float32))
    y = cuda.to_device(numpy.ones(10000, dtype=numpy.float32))
    for _ in range(7):
        saxpy[79, 128](2.0, x, y)
    a, b, c = (cuda.to_device(numpy.ones((128, 128), dtype=numpy.float32)) for _ in range(3))
    for _ in range(3):
        matmul[(8, 8), (TILE, TILE)](a, b, c)
    stream = cuda.stream()
    saxpy[79, 128, stream](2.0, x, y)
    stream.synchronize()
    add(x)
    print("done")


main()
