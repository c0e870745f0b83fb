"""A client of CuPy, whose modules hold NVIDIA's runtime: a kernel from a file, launched; says how far it comes."""
import sys

import cupy


def main(path):
    module = cupy.RawModule(path=path)
    scale = module.get_function("scale")
    memory = cupy.cuda.alloc(1024)
    for _ in range(5):
        scale((2,), (64,), (memory, cupy.float32(2)))
    cupy.cuda.Device().synchronize()


try:
    main(sys.argv[1])
    print("done")
except cupy.cuda.runtime.CUDARuntimeError as error:
    print(error)
