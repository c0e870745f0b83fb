"""The verb `scan` from outside: kinds of files, formats, options, messages, exit status."""
import csv
import io
import json
import pathlib
import shutil
import struct
import subprocess
import zipfile

import jsonschema
import pytest

from scan_support import HERE, compile_cuda, kernels_of, nvcc, scan
from support import ROOT, WARPWATCH, clean_environment, warpwatch

SEEDS = HERE.parent / "fuzz" / "corpus"
CUBIN = SEEDS / "cubin_fuzz" / "sm_90a.cubin"
FATBIN = SEEDS / "cubin_fuzz" / "size.fatbin"
PTX = SEEDS / "cubin_fuzz" / "kernels.ptx"

FIELDS = """name mangled arch registers_per_thread static_shared_bytes stack_bytes barriers max_threads_per_block
required_block cluster parameter_bytes origin container entry""".split()


def call(*arguments):
    """status, stdout, stderr lines"""
    done = subprocess.run([str(WARPWATCH), "scan", *map(str, arguments)], capture_output=True, text=True,
                          env=clean_environment())
    return done.returncode, done.stdout, done.stderr.splitlines()


def check_schema(name, document):
    """Valid, and nothing in it that the schema does not name."""
    def closed(schema):
        if isinstance(schema, dict):
            schema = {key: closed(value) for key, value in schema.items()}
            return {"additionalProperties": False, **schema} if "properties" in schema else schema
        return [closed(item) for item in schema] if isinstance(schema, list) else schema

    schema = closed(json.loads((ROOT / "docs" / "schemas" / f"{name}.schema.json").read_text()))
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(document))
    assert not errors, errors[0]


def by_name(kernels):
    return {kernel["mangled"]: kernel for kernel in kernels}


def test_json_of_a_cubin():
    document = scan(CUBIN)
    assert document["schema"] == "warpwatch.scan/1"
    assert document["files"][0]["path"] == str(CUBIN)
    kernels = by_name(document["files"][0]["kernels"])
    assert set(kernels) == {"_Z7boundedILi64EEvPfc", "_Z9clusteredPi", "plain"}
    bounded = kernels["_Z7boundedILi64EEvPfc"]
    assert set(FIELDS) <= set(bounded)
    assert bounded["name"] == "void bounded<64>(float*, char)"
    assert (bounded["arch"], bounded["origin"], bounded["container"], bounded["entry"]) == ("sm_90a", "cubin", 0, 0)
    assert (bounded["max_threads_per_block"], bounded["static_shared_bytes"], bounded["barriers"]) == (64, 256, 1)
    assert bounded["parameter_bytes"] == 9 and bounded["cluster"] is None and bounded["required_block"] is None
    assert kernels["_Z9clusteredPi"]["cluster"] == [2, 1, 1]
    assert kernels["plain"]["max_threads_per_block"] is None


def test_ptx_has_no_resources():
    kernels = kernels_of(PTX)
    assert len(kernels) == 3
    for kernel in kernels:
        assert kernel["origin"] == "ptx" and kernel["arch"] == "sm_90a"
        for field in "registers_per_thread", "static_shared_bytes", "stack_bytes", "barriers":
            assert kernel[field] is None
    assert by_name(kernels)["_Z7boundedILi64EEvPfc"]["max_threads_per_block"] == 64


def test_required_block_and_cluster_rank(tmp_path):
    """Bounds that only PTX can express."""
    (tmp_path / "k.ptx").write_text(
        ".version 8.7\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 p) .reqntid 96, 2, 1 .reqnctapercluster 4, 1, 1 { ret; }\n")
    subprocess.run([str(pathlib.Path(nvcc()).with_name("ptxas")), "-arch=sm_90", tmp_path / "k.ptx", "-o",
                    tmp_path / "k.cubin"], check=True)
    for file in "k.ptx", "k.cubin":
        kernel, = kernels_of(tmp_path / file)
        assert kernel["required_block"] == [96, 2, 1] and kernel["cluster"] == [4, 1, 1]
    kernel, = kernels_of("--block", 256, tmp_path / "k.cubin")
    assert kernel["block_threads"] == 192  # the only size it can be launched with


def test_occupancy_fields():
    plain = by_name(kernels_of(CUBIN))["plain"]
    assert "blocks_per_sm" not in plain and plain["best_occupancy"] == 1
    assert plain["best_block_threads"][:3] == [64, 128, 256]
    kernels = by_name(kernels_of("--block", 256, "--device", "H200", CUBIN))
    plain, bounded = kernels["plain"], kernels["_Z7boundedILi64EEvPfc"]
    assert (plain["blocks_per_sm"], plain["theoretical_occupancy"], plain["limiters"]) == (8, 1, ["threads"])
    assert (bounded["block_threads"], bounded["blocks_per_sm"]) == (64, 32)  # its own bound
    plain = by_name(kernels_of("--block", 256, "--dynamic-shared", 100 * 1024, CUBIN))["plain"]
    assert (plain["blocks_per_sm"], plain["limiters"]) == (2, ["shared_memory"])


def test_the_model_agrees():
    """The occupancy of a scan is the one that `warpwatch model` computes from the figures of the scan."""
    for kernel in kernels_of("--block", 192, "--dynamic-shared", 30000, CUBIN):
        model = json.loads(warpwatch("model", "occupancy", "--json", "--cc", "9.0", "--threads",
                                     kernel["block_threads"], "--registers", kernel["registers_per_thread"],
                                     "--static-shared", kernel["static_shared_bytes"], "--dynamic-shared", 30000,
                                     "--barriers", kernel["barriers"]))
        for field in "blocks_per_sm", "theoretical_occupancy", "limiters":
            assert model[field] == kernel[field]


@pytest.mark.parametrize("options", [[], ["--block", 256, "--device", "t4"], ["--arch", "9.0", "--block", 1]])
def test_json_keeps_to_its_schema(options):
    check_schema("scan", scan(*options, *sorted(SEEDS.glob("*_fuzz/*.*"))))


def test_kernel_filter_takes_both_names():
    assert [kernel["mangled"] for kernel in kernels_of("--kernel", "^void bounded<64>", CUBIN)] \
        == [kernel["mangled"] for kernel in kernels_of("--kernel", "_Z7bounded", CUBIN)] == ["_Z7boundedILi64EEvPfc"]
    assert kernels_of("--kernel", "nothing", CUBIN) == []


def test_csv_holds_what_json_holds():
    document = kernels_of("--block", 128, CUBIN)
    rows = list(csv.DictReader(io.StringIO(warpwatch("scan", "--format", "csv", "--block", 128, CUBIN))))
    assert len(rows) == len(document)

    def text(value):
        if isinstance(value, list):
            return ("x" if all(isinstance(v, int) for v in value) and len(value) == 3 else "+").join(map(str, value))
        return "" if value is None else str(value)

    for row, kernel in zip(rows, document):
        assert row.pop("path") == str(CUBIN)
        assert list(row) == list(kernel)
        for field in set(FIELDS) | {"theoretical_occupancy", "blocks_per_sm"}:
            assert row[field] == text(kernel[field]), field
        assert row["limiters"] == "+".join(kernel["limiters"])


def test_text_names_what_matters():
    text = warpwatch("scan", "--device", "h200", CUBIN)
    assert "NVIDIA H200" in text and "3 kernels" in text
    assert "bounded<64>" in text and "sm_90a" in text and "limited by" in text
    assert "hidden" not in text


def test_a_device_that_can_run_nothing_of_it():
    assert "nothing of it runs on NVIDIA B200\n" in warpwatch("scan", "--device", "b200", CUBIN)
    assert "nothing of it" not in warpwatch("scan", "--device", "b200", "--kernel", "no such kernel", PTX)


ALIKE = """
template <int N> __global__ void fill(int *p) { p[threadIdx.x] = 1; }
template __global__ void fill<1>(int *); template __global__ void fill<2>(int *);
template <typename T, int A, int B, int C, int D, int E> __global__ void folded(int *p) { p[threadIdx.x] = 2; }
template __global__ void folded<int, 1, 2, 3, 4, 5>(int *);
template __global__ void folded<int, 1, 2, 3, 4, 6>(int *);
__global__ void __launch_bounds__(256) heavy(float *p) { __shared__ float s[10000]; s[threadIdx.x] = *p;
    __syncthreads(); *p = s[3]; }
"""


def test_kernels_with_the_same_figures_share_a_line(tmp_path):
    (tmp_path / "k.cu").write_text(ALIKE)
    compile_cuda("-cubin", "-arch=sm_90", tmp_path / "k.cu", "-o", tmp_path / "k.cubin")
    lines = warpwatch("scan", tmp_path / "k.cubin").splitlines()
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)
    table = next(i for i, line in enumerate(lines) if "limited by" in line and "regs" in line)
    heavy, name, advice, light, *names, other_blocks = lines[table + 1:]
    assert heavy.split()[:3] == ["62.5", "%", "<=256"] and name.strip() == "heavy"
    assert advice.strip() == "-> shared_memory to 37888: 6 blocks, 75.0 %"
    assert light.split()[0] == "100.0"
    assert [name.strip() for name in names] == ["fill<1>", "fill<2>", "folded<int, 1, 2, 3, ...> (2 kernels)"]
    assert other_blocks.strip() == "-> 64, 128, 512 and 1024 threads do as well"
    assert "... and 3 more kernels" in warpwatch("scan", "--top", 2, tmp_path / "k.cubin")


@pytest.fixture(scope="module")
def relocatable_library(tmp_path_factory):
    """Two relocatable objects linked into a library: each kernel is there before and after the link."""
    folder = tmp_path_factory.mktemp("relocatable")
    (folder / "a.cu").write_text("extern __device__ int f(int); __global__ void a(int *p) { *p = f(*p); }\n"
                                 "void *keep_a = (void *)a;\n")
    (folder / "b.cu").write_text("__device__ int f(int x) { int l[30]; for (int i = 0; i < 30; i++) l[i * x % 30] = i;"
                                 "return l[x]; } static __global__ void b(int *p) { *p = f(*p); }\n"
                                 "void *keep_b = (void *)b;\n")
    library = folder / "library.so"
    compile_cuda("-rdc=true", "-arch=sm_80", "-shared", "-Xcompiler=-fPIC", folder / "a.cu", folder / "b.cu", "-o",
                 library)
    return library


def test_linked_and_pre_link_copies_are_told_apart(relocatable_library):
    kernels = kernels_of(relocatable_library)
    linked = [kernel for kernel in kernels if kernel["origin"] == "linked"]
    before = [kernel for kernel in kernels if kernel["origin"] == "pre-link"]
    assert sorted(kernel["name"] for kernel in linked) == sorted(kernel["name"] for kernel in before)
    assert sorted(kernel["name"] for kernel in linked) == ["a(int*)", "b(int*)"]
    assert len({(kernel["container"], kernel["entry"], kernel["name"]) for kernel in kernels}) == 4
    text = warpwatch("scan", relocatable_library)
    assert "2 kernels left out below: relocatable copies of linked ones" in text and "pre-link" not in text


def test_link_time_code_is_named(tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k(int *p) { *p = 1; }\n")
    compile_cuda("-dc", "-gencode=arch=compute_80,code=lto_80", tmp_path / "k.cu", "-o", tmp_path / "k.o")
    file, = scan(tmp_path / "k.o")["files"]
    assert file["kernels"] == [] and file["lto_only_containers"] == 1 and file["undecodable"] == []
    assert "LTO-IR only" in warpwatch("scan", tmp_path / "k.o")


def test_ptx_only_code_is_named(tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k(int *p) { *p = 1; }\n")
    compile_cuda("-c", "-gencode=arch=compute_80,code=compute_80", tmp_path / "k.cu", "-o", tmp_path / "k.o")
    kernel, = kernels_of(tmp_path / "k.o")
    assert (kernel["origin"], kernel["name"], kernel["registers_per_thread"]) == ("ptx", "k(int*)", None)
    assert "PTX only" in warpwatch("scan", tmp_path / "k.o")


def test_directories_are_walked(tmp_path):
    """As caches of Triton and inductor are laid out: a folder a kernel, texts beside the cubin."""
    for name in "one", "two":
        (tmp_path / name).mkdir()
        shutil.copy(CUBIN, tmp_path / name / "kernel.cubin")
        (tmp_path / name / "kernel.json").write_text("{}")
    files = scan(tmp_path)["files"]
    assert [file["path"] for file in files] == [str(tmp_path / name / "kernel.cubin") for name in ("one", "two")]


def test_the_text_takes_small_files_of_a_directory_together(tmp_path):
    """PTX beside a cubin of the same kernel is no kernel of its own; a file that was named stands alone."""
    cache = tmp_path / "cache"
    (tmp_path / "k.cu").write_text("__global__ void k(int *p) { *p = 1; }\n")
    for name in "one", "two":
        (cache / name).mkdir(parents=True)
        for kind in "cubin", "ptx":
            compile_cuda(f"-{kind}", "-arch=sm_80", tmp_path / "k.cu", "-o", cache / name / f"k.{kind}")
    text = warpwatch("scan", cache)
    assert f"{cache} (4 files with up to 16 kernels): 2 kernels\n  2 cubins, 2 PTX, 0 LTO-IR\n" in text
    assert "k (2 kernels)" in text and "of PTX only" not in text and text.count("limited by (") == 1
    assert text.count(f"{cache}/one/k.") == 0
    alone = warpwatch("scan", cache / "one" / "k.cubin", cache / "one" / "k.ptx")
    assert "k.cubin: 1 kernel\n" in alone and "k.ptx: 1 kernel\n" in alone and "1 kernel of PTX only" in alone
    (cache / "two" / "k.cubin").unlink()
    assert f"{cache / 'one'} (2 files" in warpwatch("scan", cache / "one", cache / "two" / "k.ptx")


def test_a_cubin_inside_another_file(tmp_path):
    """As in the pickled caches of numba."""
    (tmp_path / "cache.nbc").write_bytes(b"\x80\x04pickle" + CUBIN.read_bytes() + b"." + CUBIN.read_bytes() + b"..")
    assert len(kernels_of(tmp_path / "cache.nbc")) == 6


def test_a_bad_file_among_good_ones(tmp_path):
    (tmp_path / "broken.so").write_bytes(b"\x7fELF" + b"\0" * 60)
    status, output, errors = call("--format", "json", tmp_path / "broken.so", CUBIN, tmp_path / "missing")
    assert status == 0 and len(json.loads(output)["files"]) == 1
    assert len(errors) == 2 and all(line.startswith("warpwatch: file '") for line in errors)


def test_a_link_that_leads_nowhere(tmp_path):
    (tmp_path / "link.so").symlink_to("nowhere")
    assert call(tmp_path / "link.so") == (3, "", [f"warpwatch: file '{tmp_path}/link.so': the link leads nowhere"])


@pytest.mark.parametrize("make", [
    lambda path: None,
    lambda path: path.mkdir(),
    lambda path: path.write_bytes(b"PK\3\4" + bytes(100)),
    lambda path: path.write_bytes(b"!<thin>\n" + bytes(100)),
    lambda path: path.symlink_to("/dev/null"),
])
def test_nothing_readable(tmp_path, make):
    make(tmp_path / "it")
    status, _, errors = call(tmp_path / "it")
    assert status == 3 and len(errors) == 1 and "/it'" in errors[0]


def test_files_without_device_code(tmp_path):
    (tmp_path / "text").write_text("hello\n")
    assert warpwatch("scan", tmp_path / "text") == f"{tmp_path}/text: no device code\n"
    assert warpwatch("scan", tmp_path) == "no device code found\n"
    assert scan(tmp_path / "text")["files"][0]["kernels"] == [] and scan(tmp_path)["files"] == []


def test_a_broken_container_is_named(tmp_path):
    broken = bytearray(FATBIN.read_bytes())
    broken[100] ^= 0xFF
    (tmp_path / "broken.fatbin").write_bytes(broken)
    assert scan(tmp_path / "broken.fatbin")["files"][0]["undecodable"][0]["reason"]
    assert "undecodable" in warpwatch("scan", tmp_path / "broken.fatbin")


def host_elf(content, count):
    """An ELF file with that many sections, which all are the same bytes."""
    table = 64 + len(content)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, count, 0)
    section = struct.pack("<IIQQQQIIQQ", 0, 1, 2, 0, 64, len(content), 0, 0, 8, 0)
    return header + content + bytes(64) + section * (count - 1)


def test_sections_that_overlap_are_read_once(tmp_path):
    (tmp_path / "library.so").write_bytes(host_elf(FATBIN.read_bytes() + bytes(4 << 20), 60000))
    assert len(kernels_of(tmp_path / "library.so")) == len(kernels_of(FATBIN))


def test_headers_of_cubins_one_in_the_other(tmp_path):
    """Each of 262,144 headers claims 65,535 sections, and one far behind is bad: no work for 10^10 steps."""
    file_bytes = 16 << 20
    header = lambda offset, size: struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 190, 1, offset, size, 64, 0, 64,
                                              0, 0, 64, 65535, 0)
    many = header(0, 0) * 59999 + header(2 * file_bytes, file_bytes // 2)
    (tmp_path / "loose.bin").write_bytes(b"X" + many * (file_bytes // len(many) + 1) + bytes(4 << 20))
    assert warpwatch("scan", tmp_path / "loose.bin").endswith("no device code\n")


@pytest.mark.parametrize("compression, kernels", [(zipfile.ZIP_STORED, 3), (zipfile.ZIP_DEFLATED, None)])
def test_packages(tmp_path, compression, kernels):
    """What lies in a package as it is, is found; what is compressed, is not."""
    package = tmp_path / "package.whl"
    with zipfile.ZipFile(package, "w", compression) as archive:
        archive.write(CUBIN, "kernels.cubin")
    if kernels:
        assert len(kernels_of(package)) == kernels
    else:
        assert call(package) == (3, "", [f"warpwatch: file '{package}': it is compressed: unpack it first"])


def test_a_package_with_the_look_of_containers(tmp_path):
    """Compressed data may hold a container's header by chance: still no list of damages."""
    package = tmp_path / "package.whl"
    header = bytes.fromhex("50ed55ba01001000") + struct.pack("<Q", 4000)
    package.write_bytes(b"PK\3\4" + bytes(60) + header + b"\xaa" * 5000)
    assert call(package) == (3, "", [f"warpwatch: file '{package}': it is compressed: unpack it first"])


# --- two builds ---------------------------------------------------------------------------------------------

BEFORE = """
static __global__ void same(int *p) { *p = 1; }
__global__ void __launch_bounds__(64) grows(float *p) { __shared__ float s[64]; s[threadIdx.x] = *p; __syncthreads(); *p = s[3]; }
__global__ void removed(int *p) { *p = 3; }
void *keep = (void *)same;
"""
AFTER = BEFORE.replace("s[64]", "s[6000]").replace("removed", "added") + "// so that the hash of the file differs\n"


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("builds")
    for name, source in ("before", BEFORE), ("after", AFTER):
        (folder / f"{name}.cu").write_text(source)
        compile_cuda("-cubin", "-rdc=true", "-arch=sm_89", folder / f"{name}.cu", "-o", folder / f"{name}.cubin")
    return folder / "before.cubin", folder / "after.cubin"


def compare(builds, *arguments):
    before, after = builds
    status, output, errors = call("--compare", before, "--format", "json", *arguments, after)
    assert errors == []
    check_schema("scan-compare", json.loads(output))
    return status, json.loads(output)


def test_what_changed_between_two_builds(builds):
    status, document = compare(builds)
    assert status == 0 and document["schema"] == "warpwatch.scan-compare/1"
    assert [document[key] for key in ("changed", "added", "removed", "same")] == [1, 1, 1, 1]
    changed, added, removed = document["kernels"]
    assert (changed["status"], changed["name"], changed["arch"]) == ("changed", "grows(float*)", "sm_89")
    assert (changed["before"]["static_shared"], changed["after"]["static_shared"]) == (256, 24000)
    assert changed["after"]["occupancy"] < changed["before"]["occupancy"] == 1
    assert (added["name"], added["before"]) == ("added(int*)", None)
    assert (removed["name"], removed["after"]) == ("removed(int*)", None)


@pytest.mark.parametrize("condition, kernels", [
    ("static_shared>+23743", 1), ("static_shared>+23744", 0), ("static_shared>+1000%", 1), ("static_shared>0", 1),
    ("occupancy<-0.1", 1), ("occupancy<0.999", 1), ("registers>+0", 0), ("registers>0", 3), ("stack>0", 0),
])
def test_conditions(builds, condition, kernels):
    status, document = compare(builds, "--fail-on", "barriers>+100", "--fail-on", condition)
    assert document["fail_on"] == [{"condition": "barriers>+100", "kernels": 0},
                                   {"condition": condition, "kernels": kernels}]
    assert status == (1 if kernels else 0)


def test_a_build_compared_with_itself(builds):
    status, document = compare((builds[0], builds[0]), "--fail-on", "registers>+0", "--fail-on", "occupancy<-0")
    assert status == 0 and document["kernels"] == [] and document["same"] == 3
    assert "0 kernels changed" in warpwatch("scan", "--compare", builds[0], builds[0])


def test_text_and_csv_of_a_comparison(builds):
    text = warpwatch("scan", "--compare", *builds, "--fail-on", "occupancy<-0.9")
    assert "static_shared 256 -> 24000" in text and "holds occupancy<-0.9: 0 kernels" in text
    rows = list(csv.DictReader(io.StringIO(warpwatch("scan", "--format", "csv", "--compare", *builds))))
    assert [row["status"] for row in rows] == ["changed", "added", "removed", "same"]
    assert (rows[0]["before_static_shared"], rows[0]["after_static_shared"]) == ("256", "24000")


def test_a_comparison_with_nothing_is_refused(builds, tmp_path):
    (tmp_path / "empty.so").write_text("no device code\n")
    for pair in (builds[0], tmp_path / "empty.so"), (tmp_path / "empty.so", builds[0]):
        status, output, errors = call("--compare", *pair, "--fail-on", "registers>0")
        assert (status, output) == (3, "")
        assert errors == [f"warpwatch: file '{tmp_path}/empty.so': no device code to compare"]


@pytest.mark.parametrize("condition", ["", "registers", "registers>", "registers=8", "regs>8", "registers>8%",
                                       "registers>+8x", "registers>nan", "registers>+inf", "registers> 8"])
def test_what_is_no_condition(builds, condition):
    status, output, errors = call("--compare", builds[0], "--fail-on", condition, builds[1])
    assert status == 2 and output == "" and len(errors) == 1 and "--fail-on" in errors[0]


@pytest.mark.parametrize("arguments, word", [
    (["--fail-on", "stack>0"], "--fail-on"), (["--compare", CUBIN, CUBIN], "--compare"),
    (["--arch", "hopper"], "--arch"), (["--device", "abacus"], "--device"), (["--block", "0"], "--block"),
    (["--block", "1025"], "--block"), (["--kernel", "("], "--kernel"), (["--format", "xml"], "--format"),
    (["--nonsense"], "scan"), (["--top", "-1"], "--top"),
])
def test_usage_errors(arguments, word):
    status, output, errors = call(*arguments, CUBIN)
    assert status == 2 and output == "" and len(errors) == 1 and word in errors[0]


def test_no_file_is_a_usage_error():
    status, _, errors = call()
    assert status == 2 and len(errors) == 1


def test_help():
    status, output, errors = call("--help")
    assert status == 0 and output.startswith("usage: warpwatch scan") and errors == []
