"""Every figure of a scan equals what ptxas -v said when it compiled the kernel.

By default three architectures; with --long every one that the compiler knows.
"""
import pytest

from scan_support import HERE, compile_cuda, figures_of_ptxas, figures_of_scan, kernels_of, scan
from support import LONG

ALL = """75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f""".split()
ARCHITECTURES = ALL if LONG else ["75", "90a", "120"]
SOURCE = HERE / "scan_kernels.cu"


def kernels_in(arch):
    return 23 if int(arch.rstrip("af")) < 90 else 26


@pytest.mark.parametrize("mode", ["", "-rdc=true"] + (["-G", "-lineinfo", "-Xptxas=-O0"] if LONG else []))
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_equal_to_ptxas(arch, mode, tmp_path):
    cubin = tmp_path / "kernels.cubin"
    options = [mode] if mode else []
    said = figures_of_ptxas(compile_cuda("-cubin", f"-arch=sm_{arch}", "-Xptxas=-v", *options, SOURCE, "-o", cubin))
    kernels = kernels_of(cubin)
    assert len(kernels) == len(said) == kernels_in(arch)
    assert figures_of_scan(kernels, said) == said
    assert any(figures["stack_bytes"] >= 16384 for figures in said.values())
    assert ("constant_bytes" in said["empty"]) == (int(arch.rstrip("af")) < 90)
    assert {kernel["origin"] for kernel in kernels} == {"cubin"}


def test_debug_code(tmp_path):
    cubin = tmp_path / "debug.cubin"
    said = figures_of_ptxas(compile_cuda("-cubin", "-arch=sm_80", "-G", "-Xptxas=-v", SOURCE, "-o", cubin))
    assert figures_of_scan(kernels_of(cubin), said) == said


@pytest.fixture(scope="module")
def plain_fatbin(tmp_path_factory):
    """Three architectures, one of them a variant, and PTX."""
    path = tmp_path_factory.mktemp("fatbin") / "none.fatbin"
    build_fatbin(path, "none")
    return path


def build_fatbin(path, mode):
    compile_cuda("-fatbin", f"--compress-mode={mode}", "-gencode=arch=compute_75,code=sm_75",
                 "-gencode=arch=compute_90a,code=sm_90a", "-gencode=arch=compute_90,code=[sm_90,compute_90]",
                 SOURCE, "-o", path)


@pytest.mark.parametrize("mode", ["size", "speed", "balance", "default"] if LONG else ["size", "speed"])
def test_each_compression_unpacks_to_the_same(mode, plain_fatbin, tmp_path):
    packed = tmp_path / "packed.fatbin"
    build_fatbin(packed, mode)
    assert packed.stat().st_size < plain_fatbin.stat().st_size
    assert kernels_of(packed) == kernels_of(plain_fatbin)


def test_a_fatbin_holds_what_its_cubins_hold(plain_fatbin, tmp_path):
    kernels = kernels_of(plain_fatbin)
    assert {kernel["arch"] for kernel in kernels} == {"sm_75", "sm_90", "sm_90a"}
    assert {kernel["origin"] for kernel in kernels} == {"linked"}
    for arch in "75", "90", "90a":
        cubin = tmp_path / f"{arch}.cubin"
        compile_cuda("-cubin", f"-arch=sm_{arch}", SOURCE, "-o", cubin)
        part = [kernel for kernel in kernels if kernel["arch"] == f"sm_{arch}"]
        place = ("origin", "container", "entry")
        strip = lambda found: [{k: v for k, v in kernel.items() if k not in place} for kernel in found]
        assert strip(part) == strip(kernels_of(cubin))


def test_the_architecture_filter(plain_fatbin):
    names = lambda *options: [kernel["arch"] for kernel in kernels_of(*options, plain_fatbin)]
    assert set(names("--arch", "sm_75")) == set(names("--arch", "7.5")) == set(names("--arch", "75")) == {"sm_75"}
    assert set(names("--arch", "sm_90")) == {"sm_90", "sm_90a"}
    assert set(names("--arch", "sm_90a")) == {"sm_90a"}
    assert len(names("--arch", "sm_90a")) == kernels_in("90a")
    assert names("--arch", "sm_86") == []
    assert scan("--arch", "sm_86", plain_fatbin)["files"][0]["skipped_cubins"] == 3


def test_a_device_loads_one_cubin_of_a_container(plain_fatbin):
    archs = lambda device: {kernel["arch"] for kernel in kernels_of("--device", device, plain_fatbin)}
    assert archs("h200") == {"sm_90a"}
    assert archs("t4") == {"sm_75"}
    b200 = kernels_of("--device", "b200", plain_fatbin)
    assert {kernel["origin"] for kernel in b200} == {"ptx"} and {kernel["arch"] for kernel in b200} == {"sm_90"}
    assert all(kernel["registers_per_thread"] is None for kernel in b200)
    assert archs("a100") == set()
