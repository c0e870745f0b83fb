"""warpwatch report as JSON and CSV: the schema, counts against a second reader of the format, merging, selection."""
import csv
import io
import json
import os

import jsonschema
import pytest

import scan_support
import store_files
from store_files import Store
from support import ROOT, SAMPLES, warpwatch

SCHEMA = json.loads((ROOT / "docs" / "schemas" / "report.schema.json").read_text())


def strict(schema):
    """No member that the schema does not name."""
    if isinstance(schema, dict):
        schema = {name: strict(value) for name, value in schema.items()}
        return {**schema, "additionalProperties": False} if isinstance(schema.get("properties"), dict) else schema
    return [strict(item) for item in schema] if isinstance(schema, list) else schema


VALIDATOR = jsonschema.Draft202012Validator(strict(SCHEMA))


def report_of(*arguments, **options):
    text = warpwatch("report", "--format", "json", *arguments, **options)

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    report = json.loads(text, parse_constant=refuse)
    errors = [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in VALIDATOR.iter_errors(report)]
    assert not errors, "\n".join(errors[:10])
    return report


def rows_of(*arguments):
    return list(csv.DictReader(io.StringIO(warpwatch("report", "--format", "csv", *arguments), newline="")))


def counts_of(report):
    counts = {}
    for kernel in report["kernels"]:
        for row in kernel["configurations"]:
            key = store_files.Row(kernel["mangled"], row["device"], tuple(row["grid"]), tuple(row["block"]),
                                  tuple(row["cluster"] or (1, 1, 1)), row["dynamic_shared_bytes"])
            total, graph = counts.get(key, (0, 0))
            counts[key] = (total + row["launches"], graph + row["graph_launches"])
    return counts


def one_of_everything(directory):
    store = Store()
    store.device(0)
    scale, total = store.kernel("_Z5scalePfi"), store.kernel("sum", registers=48, static_shared=49152, local=64)
    a = store.configuration(scale, grid=(4, 2, 1), block=(100, 1, 1), shared=4096)
    b = store.configuration(total, grid=(265, 1, 1), block=(1024, 1, 1), flags=1)
    c = store.configuration(total, grid=(64, 1, 1), block=(256, 1, 1), cluster=(2, 1, 1))
    alias = store.configuration(scale, grid=(4, 2, 1), block=(100, 1, 1), shared=4096, valid=0, same_as=a + 1)
    body = store.body((a, 3), (b, 1), (alias, 2))
    store.count(store_files.DIRECT, a, 2**40)
    store.count(store_files.RUNTIME, c, 7)
    store.count(store_files.REPLAY, body, 1000)
    store.count(store_files.GRAPH_DIRECT, b, 5)
    store.count(store_files.FURTHER_DIRECT, total, 11)
    store.count(store_files.FURTHER_GRAPH, total, 13)
    store.count(store_files.UNCOUNTED, 0, 17)
    return store.save(directory)


def test_everything_a_store_can_hold_is_in_the_report_and_in_the_schema(tmp_path):
    path = one_of_everything(tmp_path)
    report = report_of(tmp_path)
    assert counts_of(report) == store_files.read(path)
    total = next(kernel for kernel in report["kernels"] if kernel["mangled"] == "sum")
    assert total["further"] == {"launches": 24, "graph_launches": 13}
    assert total["launches"] == 1005 + 7 + 24
    assert report["totals"]["launches"] == 2**40 + 5000 + 1005 + 7 + 24
    assert report["totals"]["graph_launches"] == 5000 + 1005 + 13
    assert report["totals"]["uncounted"] == 17
    (scale,) = [kernel for kernel in report["kernels"] if kernel["mangled"] == "_Z5scalePfi"]
    assert scale["name"] == "scale(float*, int)" and scale["short_name"] == "scale"
    assert scale["configurations"][0]["idle_lanes_per_block"] == 28
    assert {label for row in total["configurations"] for label in row["labels"]} == {"cooperative", "cluster"}


def test_64_bit_integers_are_printed_in_full(tmp_path):
    store = Store()
    store.device()
    store.count(store_files.DIRECT, store.configuration(store.kernel("k")), 2**53 + 1)
    store.save(tmp_path)
    assert '"launches":9007199254740993' in warpwatch("report", "--format", "json", tmp_path)


@pytest.mark.parametrize("sample", ["vecadd", "tail", "shared", "threads", "graph", "cooperative", "cluster", "decode"])
def test_counts_of_real_stores_equal_a_second_reading_of_the_format(simulated, sample):
    run = simulated([SAMPLES / sample])
    (path,) = run.stores
    assert counts_of(report_of(run.output)) == store_files.read(path)


def test_csv_has_a_row_for_each_configuration_and_adds_up(tmp_path):
    one_of_everything(tmp_path)
    report, rows = report_of(tmp_path), rows_of(tmp_path)
    assert sum(int(row["launches"]) for row in rows) == report["totals"]["launches"]
    shaped = [row for row in rows if row["grid_x"]]
    assert len(shaped) == report["totals"]["configurations"] and len(rows) == len(shaped) + 1
    flat = {(kernel["mangled"], *row["grid"]): (kernel, row) for kernel in report["kernels"]
            for row in kernel["configurations"]}
    for row in shaped:
        kernel, configuration = flat[(row["mangled"], *(int(row[f"grid_{axis}"]) for axis in "xyz"))]
        assert row["name"] == kernel["name"] and int(row["kernel_launches"]) == kernel["launches"]
        assert int(row["launches"]) == configuration["launches"]
        assert float(row["tail_waste"]) == configuration["tail_waste"]
        assert float(row["theoretical_occupancy"]) == configuration["theoretical_occupancy"]
        assert row["limiters"] == "+".join(configuration["limiters"])
        assert row["source_waves"] == configuration["sources"]["waves"]
        assert row["gpu_ns_median"] == "" and row["achieved_occupancy"] == ""
        assert row["device_name"] == "NVIDIA H200 (simulated)" and row["device_simulated"] == "true"


# --- many processes ----------------------------------------------------------------------------------------

def ranks(directory, count, odd=None):
    for rank in range(count):
        store = Store(pid=100 + rank, rank=rank, host=b"node%d" % (rank // 4))
        store.device(rank % 4)
        store.count(store_files.DIRECT, store.configuration(store.kernel("step"), grid=(264, 1, 1), block=(256, 1, 1)),
                    990 if rank == odd else 1000)
        store.save(directory)


def test_ranks_merge_by_process_host_and_device(tmp_path):
    ranks(tmp_path, 8)
    report = report_of(tmp_path)
    assert [process["rank"] for process in report["processes"]] == list(range(8))
    assert [(host["name"], host["processes"], host["launches"]) for host in report["hosts"]] == [
        ("node0", 4, 4000), ("node1", 4, 4000)]
    assert len(report["devices"]) == 8
    (kernel,) = report["kernels"]
    assert kernel["launches"] == 8000 and len(kernel["configurations"]) == 8
    assert report["odd_ranks"] == []


def test_a_rank_with_another_launch_mix_is_named_with_kernel_and_counts(tmp_path):
    ranks(tmp_path, 8, odd=5)
    report = report_of(tmp_path)
    assert report["odd_ranks"] == [{"process": 5, "kernel": 0, "launches": 990, "usual": 1000, "usual_ranks": 7}]
    text = warpwatch("report", tmp_path)
    assert "rank 5" in text.lower() and "990" in text and "step" in text


def test_a_damaged_rank_is_not_accused_of_another_mix(tmp_path):
    ranks(tmp_path, 8)
    (damaged,) = tmp_path.glob("*.105.*.ww")
    os.truncate(damaged, damaged.stat().st_size // 2)
    report = report_of(tmp_path)
    assert [bool(process["damage"]) for process in report["processes"]] == [rank == 5 for rank in range(8)]
    assert report["processes"][5]["launches"] < 1000
    assert report["odd_ranks"] == [] and "odd-rank" not in {f["id"] for f in report["findings"]}


def test_the_same_store_named_twice_counts_once(tmp_path):
    path = one_of_everything(tmp_path / "a")
    copy = tmp_path / "b" / path.name
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    once = report_of(path)["totals"]["launches"]
    assert report_of(path, path, path.parent, copy)["totals"]["launches"] == once


def test_equal_names_with_other_resources_are_kernels_of_their_own(tmp_path):
    for pid, registers in ((1, 32), (2, 40), (3, 40)):
        store = Store(pid=pid)
        store.device()
        store.count(store_files.DIRECT, store.configuration(store.kernel("scale", registers)), 10)
        store.save(tmp_path)
    report = report_of("--sort", "launches", tmp_path)
    assert [(kernel["short_name"], kernel["launches"]) for kernel in report["kernels"]] == [
        ("scale [40 registers]", 20), ("scale [32 registers]", 10)]
    assert report["kernels"][0]["configurations"][0]["by_process"] == [
        {"process": 1, "launches": 10, "graph_launches": 0}, {"process": 2, "launches": 10, "graph_launches": 0}]


def test_unnamed_kernels_of_two_processes_are_not_one(tmp_path):
    for pid in (1, 2):
        store = Store(pid=pid)
        store.device()
        store.count(store_files.DIRECT, store.configuration(store.kernel("kernel@0x7f00", valid=5)), 1)
        store.save(tmp_path)
    assert len(report_of(tmp_path)["kernels"]) == 2


# --- selection ---------------------------------------------------------------------------------------------

@pytest.fixture
def three_kernels(tmp_path):
    store = Store()
    store.device()
    for name, grid, launches in (("alpha", 1, 10), ("beta", 132 * 8, 5000), ("gamma", 200, 100)):
        store.count(store_files.DIRECT, store.configuration(store.kernel(name), grid=(grid, 1, 1), block=(256, 1, 1)),
                    launches)
    store.save(tmp_path)
    return tmp_path


def names(report):
    return [kernel["mangled"] for kernel in report["kernels"]]


def test_what_wastes_most_comes_first(three_kernels):
    assert names(report_of(three_kernels)) == ["gamma", "alpha", "beta"]


@pytest.mark.parametrize("field, order", [("launches", ["beta", "gamma", "alpha"]), ("name", ["alpha", "beta", "gamma"]),
                                          ("tail_waste", ["alpha", "gamma", "beta"]), ("waves", ["alpha", "gamma", "beta"])])
def test_sort(three_kernels, field, order):
    assert names(report_of("--sort", field, three_kernels)) == order


def test_top_and_kernel_select_and_totals_stay_those_of_the_run(three_kernels):
    assert names(report_of("--top", "2", three_kernels)) == ["gamma", "alpha"]
    report = report_of("--kernel", "^(al|be)", three_kernels)
    assert names(report) == ["alpha", "beta"] and report["totals"]["launches"] == 5110
    assert report_of("--kernel", "nothing", three_kernels)["kernels"] == []


def test_findings_point_at_kernels_that_are_there(three_kernels):
    for arguments in ([], ["--top", "1"], ["--kernel", "gamma"], ["--sort", "name"]):
        report = report_of(*arguments, three_kernels)
        for finding in report["findings"]:
            if finding["kernel"] is not None and finding["configuration"] is not None:
                assert report["kernels"][finding["kernel"]]["configurations"][finding["configuration"]]


# --- another device ----------------------------------------------------------------------------------------

def test_the_same_launches_judged_elsewhere(tmp_path):
    store = Store()
    store.device()
    store.count(store_files.DIRECT, store.configuration(store.kernel("big"), grid=(264, 1, 1), block=(256, 1, 1),
                                                         shared=200 << 10), 3)
    store.save(tmp_path)
    report = report_of("--device", "RTX4090", tmp_path)
    assert report["elsewhere"]["compute_capability"] == "8.9" and report["elsewhere"]["sms"] == 128
    (row,) = report["kernels"][0]["configurations"]
    assert row["blocks_per_sm"] == 1 and row["elsewhere"]["slots"] == 0
    assert row["elsewhere"]["waves"] is None and row["elsewhere"]["limiters"] == ["shared_memory"]
    assert "cannot run" in warpwatch("report", "--device", "rtx4090", tmp_path)


# --- what only the image says ------------------------------------------------------------------------------

@pytest.mark.parametrize("driver_blocks, limiters, barriers", [(4, ["barriers"], 16), (3, ["driver"], 16), 
                                                               (32, ["threads", "blocks"], None)])
def test_barriers_come_from_the_image_where_the_driver_allows_fewer_blocks(tmp_path, driver_blocks, limiters, barriers):
    cubin = tmp_path / "named.cubin"
    scan_support.compile_cuda("-cubin", "-arch=sm_90", "-o", cubin, ROOT / "tests" / "cases" / "scan_kernels.cu")
    name = "_Z14named_barriersILi16EEvPi"
    (scanned,) = [kernel for kernel in scan_support.kernels_of(cubin) if kernel["mangled"] == name]
    assert scanned["barriers"] == 16
    store = Store()
    store.device()
    kernel = store.kernel(name, registers=scanned["registers_per_thread"], image=str(cubin))
    store.count(store_files.DIRECT, store.configuration(kernel, block=(64, 1, 1), valid=3, driver_blocks=driver_blocks), 1)
    store.save(tmp_path)
    (kernel,) = report_of(tmp_path)["kernels"]
    assert kernel["barriers"] == barriers
    (row,) = kernel["configurations"]
    assert row["blocks_per_sm"] == driver_blocks and row["limiters"] == limiters
    assert row["sources"]["blocks_per_sm"] == "driver"
