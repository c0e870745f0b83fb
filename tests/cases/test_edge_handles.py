"""Handles of kernels (edge cases 20–23): names and attributes stay right when handles come, change and go."""
import pytest
import support

HANDLES = support.BUILD / "tests" / "clients" / "handles"
PENDING = HANDLES.with_name("pending")


def handles(scenario, directory, **options):
    run = support.run_simulated([HANDLES, scenario], directory, **options)
    assert run.stderr == "" and run.ledger["faults"] == []
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    return run


def by_kernel(run):
    return {(launch.function, launch.device, launch.grid[0]): count.launches
            for launch, count in run.report_counts.items()}


@pytest.mark.parametrize("driver", ["13000", "12020"])
def test_edge_20_a_handle_used_again_gets_the_new_name(tmp_path, driver):
    run = handles("reload", tmp_path, SIMCUDA_DRIVER_VERSION=driver)
    assert run.stdout == "a handle was used again for the other kernel\n"
    assert by_kernel(run) == {("scale", 0, 1): 64, ("offset", 0, 2): 64}


def test_reloading_for_ever_does_not_make_the_store_grow(tmp_path):
    run = handles("reload", tmp_path)
    assert [len(kernel["configurations"]) for kernel in run.report["kernels"]] == [1, 1]


def test_edge_21_a_kernel_without_a_device_runs_on_each(tmp_path):
    run = handles("kernel", tmp_path, device="h200,a100")
    assert by_kernel(run) == {("scale", 0, 1): 3, ("scale", 0, 2): 1, ("scale", 1, 1): 1, ("scale", 1, 2): 1}
    assert [device["name"] for device in run.report["devices"]] == ["NVIDIA H200 (simulated)",
                                                                    "NVIDIA A100-SXM4-80GB (simulated)"]


def test_edge_21_no_question_for_kernels_is_put_to_a_function(tmp_path):
    run = handles("function_only", tmp_path)
    assert not [call for call in run.ledger["calls"] if call.startswith(("cuKernel", "cuLibrary"))]


def test_a_kernel_in_all_its_forms(tmp_path):
    run = handles("forms_of_kernel", tmp_path)
    assert sum(by_kernel(run).values()) == 5 and {name for name, _, _ in by_kernel(run)} == {"scale", "offset"}


def test_edge_22_a_driver_that_cannot_name_functions(tmp_path):
    run = handles("function_only", tmp_path, SIMCUDA_DRIVER_VERSION=12020)
    assert "cuFuncGetName" not in run.ledger["calls"]
    assert by_kernel(run) == {("scale", 0, 1): 1, ("scale", 0, 2): 1}


def test_attributes_set_between_launches_make_another_configuration(tmp_path):
    run = handles("attributes", tmp_path)
    rows = [(row["grid"][0], row["carveout_percent"], row["launches"])
            for row in run.report["kernels"][0]["configurations"]]
    assert sorted(rows, key=str) == [(1, 100, 2), (1, None, 3), (2, 100, 1)]


@pytest.mark.parametrize("device", ["h200", "a100", "t4"])
def test_occupancy_is_that_of_the_attributes_at_the_launch(tmp_path, device):
    run = handles("carveouts", tmp_path, device=device)
    rows = {(row["carveout_percent"], row["blocks_per_sm"]) for row in run.report["kernels"][0]["configurations"]}
    said = {tuple(map(int, line.split())) for line in run.stdout.splitlines()}
    assert rows == said and len({blocks for _, blocks in said}) > 1


@pytest.mark.parametrize("device", ["h200", "h200,h200"])
def test_contexts_come_and_go(tmp_path, device):
    run = handles("contexts", tmp_path, device=device)
    assert sum(by_kernel(run).values()) == 12


@pytest.mark.parametrize("owner", ["module", "library", "context"])
def test_code_that_ends_while_it_is_asked_about(tmp_path, owner):
    """What was met during a capture is asked about later, by the thread that ends the capture."""
    alone = support.run_simulated([PENDING, owner], tmp_path / "alone", preload=None)
    assert alone.stdout == "nobody asked\n"
    run = support.run_simulated([PENDING, owner], tmp_path / "watched")
    assert run.stdout == "the end waited for the answers\n" and run.stderr == ""
    assert run.ledger["faults"] == []
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    row, = run.report["kernels"][0]["configurations"]
    assert row["launches"] == 1 and row["blocks_per_sm"] > 0
