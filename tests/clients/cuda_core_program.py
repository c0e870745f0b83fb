"""A client of cuda-core and cuda-bindings: direct launches, a cluster, a captured graph, the plain driver API.

usage: cuda_core_program.py KERNELS.fatbin     prints what it launches, in the form of sample_apps/README.md
"""
import sys

import numpy
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, ObjectCode, launch


def say(kernel, grid, block, cluster=1, shared=0, count=1, replayed=0):
    print(f"launch kernel={kernel} device=0 grid={grid},1,1 block={block},1,1 cluster={cluster},1,1 "
          f"shared={shared} count={count} replayed={replayed}")


def check(result):
    error, *values = result
    if error != driver.CUresult.CUDA_SUCCESS:
        sys.exit(f"driver error {error}")
    return values[0] if len(values) == 1 else values


def launch_directly(stream, scale, buffer):
    config = LaunchConfig(grid=(6, 1, 1), block=128)
    for _ in range(4):
        launch(stream, config, scale, buffer, numpy.float32(2))
    say("scale", 6, 128, count=4)


def launch_in_clusters(stream, scale, buffer):
    launch(stream, LaunchConfig(grid=4, cluster=2, block=64), scale, buffer, numpy.float32(2))
    say("scale", 8, 64, cluster=2)  # cuda-core counts the grid in clusters


def replay_a_graph(device, scale, offset, buffer):
    builder = device.create_graph_builder()
    builder.begin_building()
    launch(builder, LaunchConfig(grid=3, block=32), scale, buffer, numpy.float32(2))
    launch(builder, LaunchConfig(grid=3, block=32, shmem_size=128), offset, buffer, numpy.float32(1))
    graph = builder.end_building().complete()
    stream = device.create_stream()
    for _ in range(25):
        graph.launch(stream)
    stream.sync()
    say("scale", 3, 32, count=25, replayed=25)
    say("offset", 3, 32, shared=128, count=25, replayed=25)


def launch_by_the_driver_api(path, buffer):
    library = check(driver.cuLibraryLoadFromFile(path.encode(), None, None, 0, None, None, 0))
    kernel = check(driver.cuLibraryGetKernel(library, b"offset"))
    function = check(driver.cuKernelGetFunction(kernel))
    pointer = numpy.array([int(buffer.handle)], dtype=numpy.uint64)
    by = numpy.array([1], dtype=numpy.float32)
    arguments = numpy.array([pointer.ctypes.data, by.ctypes.data], dtype=numpy.uint64)
    for _ in range(9):
        check(driver.cuLaunchKernel(function, 5, 1, 1, 96, 1, 1, 384, 0, arguments.ctypes.data, 0))
    say("offset", 5, 96, shared=384, count=9)
    check(driver.cuCtxSynchronize())
    check(driver.cuLibraryUnload(library))


def main(path):
    device = Device()
    device.set_current()
    stream = device.create_stream()
    buffer = device.allocate(1 << 16, stream=stream)
    code = ObjectCode.from_fatbin(path)
    scale, offset = code.get_kernel("scale"), code.get_kernel("offset")
    print(device.name, device.compute_capability)

    launch_directly(stream, scale, buffer)
    if device.compute_capability.major >= 9:
        launch_in_clusters(stream, scale, buffer)
    stream.sync()
    replay_a_graph(device, scale, offset, buffer)
    launch_by_the_driver_api(path, buffer)
    buffer.close(stream)
    stream.sync()


main(sys.argv[1])
