"""cuobjdump --dump-resource-usage as an oracle: what it says of each kernel, also of containers it does not find."""
import mmap
import re
import struct
import subprocess
import sys
from collections import Counter, namedtuple

import scan_support
import support

CUOBJDUMP = support.BUILD / "venv" / "cuobjdump"
CONTAINER_START = struct.pack("<IHH", 0xBA55ED50, 1, 16)

Cost = namedtuple("Cost", "seconds megabytes")
Usage = namedtuple("Usage", "arch mangled registers stack shared constant")


def cuobjdump():
    found = sorted(CUOBJDUMP.glob("lib/python3*/site-packages/nvidia/cu13/bin/cuobjdump"))
    assert found, "cuobjdump was not fetched: see build/cuobjdump.log"
    found[0].chmod(0o755)
    return found[0]


def dump(path):
    """The command whose output holds every kernel of every architecture."""
    return [cuobjdump(), "--dump-resource-usage", "--all-fatbin", path]


def usage_of_cuobjdump(path, scratch):
    """Counter of Usage, and whether cuobjdump came to the end: 13.4 gives up on some cubins of CUDA 12.1."""
    output = scratch / "cuobjdump.txt"
    with output.open("w") as stream:
        done = subprocess.run(dump(path), stdout=stream, stderr=subprocess.PIPE, text=True, timeout=1800)
    usage, arch, name = Counter(), None, None
    with output.open() as lines:
        for line in lines:
            if line.startswith("arch = "):
                arch = line.split()[2]
            elif line.startswith(" Function "):
                name = line[len(" Function "):].rstrip()[:-1]
            elif line.startswith("  REG:"):
                field = dict(item.rsplit(":", 1) for item in line.split())
                usage[Usage(arch, name, int(field["REG"]), int(field["STACK"]), int(field["SHARED"]),
                            int(field.get("CONSTANT[0]", 0)))] += 1
    return usage, "fatal" not in done.stderr


def usage_of_scan(path):
    """The same of a scan: of linked kernels and of the others. Its stack is the kernel's own, cuobjdump's is with
    all callees, 0 if unknown."""
    linked, others = Counter(), Counter()
    file, = scan_support.scan(path)["files"]
    assert file["undecodable"] == []
    for kernel in file["kernels"]:
        if kernel["origin"] != "ptx":
            usage = linked if kernel["origin"] == "linked" else others
            usage[Usage(kernel["arch"], kernel["mangled"], kernel["registers_per_thread"],
                        kernel["cumulative_stack_bytes"] or 0, kernel["static_shared_bytes"],
                        kernel["constant_bytes"])] += 1
    return linked, others


def without_reserved(usage):
    """cuobjdump counts the 1 KB that the system reserves from sm_90 on, where a linked kernel uses any."""
    result = Counter()
    for row, count in usage.items():
        reserved = 1024 if int(re.match(r"sm_(\d+)", row.arch)[1]) >= 90 and row.shared >= 1024 else 0
        result[row._replace(shared=row.shared - reserved)] += count
    return result


def differences(theirs, linked, others):
    """Rows that only one of them has. Code that is not linked has no reserved 1 KB."""
    theirs = only_kernels(theirs, linked | others)
    missing = others - theirs
    theirs = theirs - others
    only_theirs, only_ours = without_reserved(theirs - linked), linked - theirs
    return missing + (only_theirs - only_ours) + (only_ours - only_theirs)


# In a small process of its own: a child's peak memory begins with that of the process it was forked from.
MEASURE = """
import resource, subprocess, sys, time
start = time.monotonic()
subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL)
seconds = time.monotonic() - start
print(seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, file=sys.stderr)
"""


def cost(command, scratch):
    """Cost of a command that writes to a file."""
    with (scratch / "output").open("w") as stream:
        done = subprocess.run([sys.executable, "-c", MEASURE, *map(str, command)], stdout=stream,
                              stderr=subprocess.PIPE, text=True, check=True)
    return Cost(*map(float, done.stderr.split()))


def costs(path, scratch):
    """The best of three of each, in turn: scan's text, scan's table of all kernels, cuobjdump's list of all kernels."""
    scan = [support.WARPWATCH, "scan", path]
    commands = scan, [*scan, "--format", "csv"], dump(path)
    rounds = [[cost(command, scratch) for command in commands] for _ in range(3)]
    return [min(measured) for measured in zip(*rounds)]


def only_kernels(usage, kernels):
    """cuobjdump lists the device functions of relocatable code too."""
    names = {(row.arch, row.mangled) for row in kernels}
    return Counter({row: count for row, count in usage.items() if (row.arch, row.mangled) in names})


# --- containers that no wrapper leads to: cuobjdump does not find them ---------------------------------------


def sections(image):
    """name, offset, size of an ELF file's sections"""
    table, = struct.unpack_from("<Q", image, 40)
    count, names = struct.unpack_from("<HH", image, 60)
    header = lambda index: struct.unpack_from("<IIQQQQIIQQ", image, table + 64 * index)
    for index in range(count):
        name, _, _, _, offset, size, *_ = header(index)
        start = header(names)[4] + name
        yield image[start:image.find(b"\0", start)].decode(), offset, size


def containers(image):
    at = 0
    while (at := image.find(CONTAINER_START, at)) >= 0:
        size = 16 + struct.unpack_from("<Q", image, at + 8)[0]
        if at % 8 == 0 and at + size <= len(image):
            yield at, size
            at += size
        else:
            at += 1


def wrap_hidden_containers(path, scratch):
    """A library with the containers of `path` that lie outside the usual sections, each with a wrapper. None: there
    are none."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        usual = [(offset, size) for name, offset, size in sections(image) if name in (".nv_fatbin", "__nv_relfatbin")]
        hidden = [(at, size) for at, size in containers(image)
                  if not any(offset <= at < offset + length for offset, length in usual)]
    if not hidden:
        return None
    with open(scratch / "hidden.s", "w") as assembly:
        for index, (at, size) in enumerate(hidden):
            assembly.write(f'.section .nv_fatbin,"a"\n.align 8\nc{index}: .incbin "{path}",{at},{size}\n'
                           '.section .nvFatBinSegment,"aw"\n.align 8\n'
                           f".long 0x466243b1,1\n.quad c{index}\n.quad 0\n")
    library = scratch / "hidden.so"
    subprocess.run(["gcc", "-shared", "-nostdlib", scratch / "hidden.s", "-o", library], check=True)
    return library
