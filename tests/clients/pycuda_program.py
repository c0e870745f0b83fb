"""A client of PyCUDA, which is linked with the driver: modules from source and from a file, arrays, a reduction."""
import sys

import numpy
import pycuda.autoinit  # noqa: F401 (makes the context)
import pycuda.driver as driver
from pycuda import gpuarray
from pycuda.compiler import SourceModule


def main(path):
    module = driver.module_from_file(path)
    scale = module.get_function("scale")
    memory = driver.mem_alloc(4 * 64 * 10)
    for _ in range(6):
        scale(memory, numpy.float32(2), grid=(10, 1), block=(64, 1, 1))
    scale.prepare("Pf")
    for _ in range(4):
        scale.prepared_call((5, 1), (64, 1, 1), memory, 2.0)

    source = SourceModule("__global__ void twice(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }")
    source.get_function("twice")(memory, grid=(4, 1), block=(32, 1, 1))

    numbers = gpuarray.to_gpu(numpy.ones(5000, dtype=numpy.float32))
    (2 * numbers + numbers).get()
    gpuarray.sum(numbers).get()
    print("done")


main(sys.argv[1])
