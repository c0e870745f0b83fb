"""Libraries that nobody here compiled: every kernel equals what NVIDIA's cuobjdump says of it. With --long only.

Writes the table of docs/scan.md to build/scan-libraries.md.
"""
import os
import pathlib

import pytest

from cuobjdump_support import (costs, differences, only_kernels, usage_of_cuobjdump, usage_of_scan,
                               wrap_hidden_containers)
from scan_support import nvcc, scan
from support import BUILD, LONG

pytestmark = pytest.mark.skipif(not LONG, reason="compares whole libraries: ./dev test --long")

TOOLKIT = pathlib.Path(nvcc()).parents[1] / "lib64"
# Kernels of CUDA 13.0.88's libraries, counted by a reader that shares no code with this one.
COUNTS = {"cublas": 23178, "cublasLt": 45327, "cudnn_engines_precompiled": 56336, "cudnn_adv": 28126,
          "cudnn_ops": 13698, "cufft": 3124, "curand": 2664, "cusolver": 26480, "cusparse": 40400, "nccl": 830}
FURTHER = ["cusolverMg", "cudnn_cnn", "cudnn_engines_runtime_compiled", "cupti"]
TABLE = BUILD / "scan-libraries.md"


def library(name):
    found = sorted(TOOLKIT.glob(f"lib{name}.so.*"))
    if not found:
        pytest.skip(f"{TOOLKIT} has no lib{name}")
    return found[0]


@pytest.fixture(scope="module", autouse=True)
def table():
    TABLE.write_text("| library | kernels | differences | scan | scan --format csv | cuobjdump | ratio |\n"
                     "|---|---|---|---|---|---|---|\n")


def add_to_table(path, kernels, differing, scratch):
    text, csv, theirs = costs(path, scratch)
    assert text.megabytes < 300 and csv.megabytes < 300
    figures = " | ".join(f"{cost.seconds:.2f} s, {cost.megabytes:,.0f} MB" for cost in (text, csv, theirs))
    with TABLE.open("a") as stream:
        stream.write(f"| {path.name} | {kernels:,} | {differing} | {figures} | "
                     f"{theirs.seconds / text.seconds:.1f} |\n")


def compare(path, scratch):
    """Number of kernels, after each was found equal; 0 if cuobjdump could not read all of the file."""
    linked, others = usage_of_scan(path)
    theirs, complete = usage_of_cuobjdump(path, scratch)
    if not complete:
        read = only_kernels(theirs, linked | others)
        assert read and not read - (linked + others), "what cuobjdump did read is found too"
        return 0
    if hidden := wrap_hidden_containers(path, scratch):
        theirs += usage_of_cuobjdump(hidden, scratch)[0]
    kernels = linked.total() + others.total()
    differing = differences(theirs, linked, others)
    add_to_table(path, kernels, differing.total(), scratch)
    assert not differing, "\n".join(map(str, list(differing.items())[:10]))
    return kernels


@pytest.mark.parametrize("name", list(COUNTS) + FURTHER)
def test_toolkit_library(name, tmp_path):
    kernels = compare(library(name), tmp_path)
    assert kernels > 0
    if "13.0" in str(TOOLKIT.resolve()) and name in COUNTS:
        assert kernels == COUNTS[name]


def test_cufft_holds_ptx_and_link_time_code():
    file, = scan(library("cufft"))["files"]
    assert (file["ptx_only_containers"], file["lto_only_containers"]) == (8131, 12728)
    assert sum(kernel["origin"] == "ptx" for kernel in file["kernels"]) == 8131


def compare_packages(name, tmp_path, least):
    total = 0
    for path in sorted((BUILD / "venv" / name).rglob("*.so")):
        if scan(path)["files"][0]["kernels"]:
            total += compare(path, tmp_path)
    assert total >= least, f"{name} was not fetched: see build/{name}.log"


def test_packages(tmp_path):
    """bitsandbytes has a library for each CUDA from 11.8 on, so both ways of keeping figures in a cubin occur."""
    compare_packages("scan_packages", tmp_path, 15000)


@pytest.mark.skipif(os.environ.get("WARPWATCH_TEST_LARGE") != "1", reason="fetches 1.2 GB: WARPWATCH_TEST_LARGE=1")
def test_large_packages(tmp_path):
    compare_packages("scan_packages_large", tmp_path, 200000)
