"""A pool of Ray workers, each with launches of its own; the environment of each names the library and a rank.
   ray_program.py KERNELS.fatbin ODD
The worker of rank ODD launches `scale` ninety times and not a hundred."""
import os
import sys

import ray

WORKERS = 4


@ray.remote(num_cpus=0)
class Worker:
    def __init__(self, image):
        from cuda.bindings import driver
        self.driver = driver
        self.check(driver.cuInit(0))
        context = self.check(driver.cuDevicePrimaryCtxRetain(0))
        self.check(driver.cuCtxSetCurrent(context))
        module = self.check(driver.cuModuleLoad(image.encode()))
        self.scale = self.check(driver.cuModuleGetFunction(module, b"scale"))
        self.memory = self.check(driver.cuMemAlloc(1 << 20))

    def check(self, result):
        error, *values = result
        assert error == self.driver.CUresult.CUDA_SUCCESS, error
        return values[0] if values else None

    def work(self, launches):
        import ctypes
        memory, factor = ctypes.c_uint64(int(self.memory)), ctypes.c_float(2)
        arguments = (ctypes.c_void_p * 2)(ctypes.addressof(memory), ctypes.addressof(factor))
        for _ in range(launches):
            self.check(self.driver.cuLaunchKernel(self.scale, 40, 1, 1, 128, 1, 1, 0, 0, ctypes.addressof(arguments), 0))
        return launches


def main():
    image, odd = sys.argv[1], int(sys.argv[2])
    watch = {name: os.environ[name] for name in ("WATCH_PRELOAD",) if name in os.environ}
    ray.init(num_cpus=WORKERS, include_dashboard=False, logging_level="error", log_to_driver=False)
    workers = []
    for rank in range(WORKERS):
        variables = {"RANK": str(rank), **({"LD_PRELOAD": watch["WATCH_PRELOAD"]} if watch else {})}
        workers.append(Worker.options(runtime_env={"env_vars": variables}).remote(image))
    counts = ray.get([worker.work.remote(90 if rank == odd else 100) for rank, worker in enumerate(workers)])
    print("launched", counts)
    ray.shutdown()  # ends the workers where they stand


if __name__ == "__main__":
    main()
