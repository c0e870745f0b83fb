"""What the scan tests share: compile, and read what ptxas -v says of each kernel."""
import functools
import json
import pathlib
import re
import subprocess

import support

HERE = pathlib.Path(__file__).resolve().parent


@functools.lru_cache
def nvcc():
    """The compiler that the build found."""
    cache = (support.BUILD / "CMakeCache.txt").read_text()
    return re.search(r"^WARPWATCH_NVCC:\w+=(.*)$", cache, re.MULTILINE)[1]


def compile_cuda(*arguments):
    """Returns what the compiler printed."""
    done = subprocess.run([nvcc(), *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def scan(*arguments, status=0):
    return json.loads(support.warpwatch("scan", "--format", "json", *arguments, status=status))


def kernels_of(*arguments):
    """The kernels of one file."""
    files = scan(*arguments)["files"]
    assert len(files) == 1 and files[0]["undecodable"] == []
    return files[0]["kernels"]


def figures_of_ptxas(output):
    """{kernel: figures} from the output of -Xptxas -v. A figure that ptxas leaves out is 0.

    Constant memory is said for architectures before sm_90 only.
    """
    figures, name = {}, None
    for line in output.splitlines():
        if found := re.search(r"Compiling entry function '(.+)' for '(\w+)'", line):
            name = found[1]
            figures[name] = {"arch": found[2]}
        elif found := re.search(r"Function properties for (\S+)", line):
            name = found[1]
        elif (found := re.search(r"(\d+) bytes stack frame", line)) and name in figures:
            figures[name]["stack_bytes"] = int(found[1])
        elif found := re.search(r"Used (\d+) registers", line):
            number = lambda unit: int(m[1]) if (m := re.search(rf"(\d+)(?: bytes)? {unit}", line)) else 0
            barriers = re.search(r"used (\d+) barriers", line)
            figures[name].update(
                registers_per_thread=int(found[1]),
                barriers=int(barriers[1]) if barriers else 0,
                static_shared_bytes=number("smem"),
            )
            if "cmem[0]" in line:
                figures[name]["constant_bytes"] = number(r"cmem\[0\]")
    return figures


def figures_of_scan(kernels, like):
    """The same figures of a scan as `like` has for each kernel."""
    return {
        kernel["mangled"]: {field: kernel[field] for field in like[kernel["mangled"]]}
        for kernel in kernels
        if kernel["mangled"] in like
    }
