"""Executable graphs (edge cases 16–19): what replays launch equals the driver's ledger, to the launch."""
import pytest
import support

GRAPHS = support.BUILD / "tests" / "clients" / "graphs"


def graphs(scenario, directory, **options):
    """The run; report and ledger are equal, and no question came at a bad moment."""
    run = support.run_simulated([GRAPHS, scenario], directory, **options)
    assert run.stderr == "" and run.ledger["faults"] == []
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    return run


def by_grid(run):
    return {launch.grid[0]: tuple(count) for launch, count in run.report_counts.items()}


def test_edge_16_capture_adds_nothing_and_replays_count(tmp_path):
    run = graphs("capture", tmp_path)
    assert by_grid(run) == {1: (5, 5), 2: (5, 5), 3: (5, 5), 4: (1, 0)}


def test_edge_16_nothing_but_a_capture_makes_no_store(tmp_path):
    run = support.run_simulated([GRAPHS, "capture_only"], tmp_path)
    assert run.stores == [] and run.stderr == "" and run.ledger["faults"] == []


def test_launches_beside_a_capture_count_and_are_described_later(tmp_path):
    run = graphs("beside_capture", tmp_path)
    assert by_grid(run) == {1: (2, 0), 2: (2, 2), 3: (3, 0), 4: (1, 0), 5: (1, 0)}
    kernels = {kernel["mangled"]: kernel for kernel in run.report["kernels"]}
    assert sorted(kernels) == ["offset", "scale"]
    assert all(kernel["registers_per_thread"] for kernel in kernels.values())


def test_a_capture_that_breaks_is_over(tmp_path):
    run = graphs("broken_capture", tmp_path)
    assert by_grid(run) == {2: (2, 0)} and run.stdout == "1\n1\n"


def test_a_replay_under_capture_does_not_run(tmp_path):
    assert by_grid(graphs("capture_a_replay", tmp_path)) == {1: (3, 3), 2: (3, 3)}


def test_edge_17_child_graphs_recurse_and_a_disabled_node_adds_nothing(tmp_path):
    assert by_grid(graphs("child_and_disabled", tmp_path)) == {1: (9, 9), 2: (9, 9), 3: (6, 6)}


def test_edge_18_set_parameters_credits_old_and_new(tmp_path):
    run = graphs("set_parameters", tmp_path)
    assert run.stdout == "1\n"
    assert by_grid(run) == {1: (2, 2), 2: (20, 20), 3: (3, 3), 4: (9, 9), 5: (6, 6)}


def test_edge_18_parameters_of_a_child_graph(tmp_path):
    assert by_grid(graphs("set_child", tmp_path)) == {1: (2, 2), 2: (5, 5), 3: (3, 3), 4: (5, 5)}


def test_edge_18_a_failed_update_changes_nothing(tmp_path):
    run = graphs("update", tmp_path)
    assert run.stdout == "1\n"
    assert by_grid(run) == {1: (2, 2), 2: (2, 2), 3: (7, 7), 4: (12, 12), 6: (5, 5)}


def test_edge_19_an_address_used_again_starts_fresh(tmp_path):
    run = graphs("reuse", tmp_path)
    assert run.stdout == "used again\n"
    assert by_grid(run) == {grid: (1, 1) for grid in range(1, 65)}


def test_clones_and_every_way_to_instantiate(tmp_path):
    assert by_grid(graphs("forms", tmp_path)) == {1: (7, 7), 2: (6, 6)}


def test_a_graph_replayed_by_another_thread(tmp_path):
    assert by_grid(graphs("other_thread", tmp_path)) == {1: (5, 5)}


@pytest.mark.parametrize("scenario, requests", [("conditional", 4), ("for_device", 4)])
def test_what_the_host_cannot_count_is_named(tmp_path, scenario, requests):
    run = graphs(scenario, tmp_path)
    assert run.report["totals"]["uncounted"] == requests
    assert run.report["processes"][0]["uncounted"] == requests


def test_a_node_that_the_device_may_change_is_not_claimed(tmp_path):
    """The driver launches it as it is, as far as the host knows; whether the device changed it or switched it off, none can say."""
    run = support.run_simulated([GRAPHS, "updatable"], tmp_path)
    assert {launch.grid[0]: tuple(count) for launch, count in run.ledger_counts.items()} == {1: (5, 5), 2: (5, 5), 3: (5, 5)}
    assert by_grid(run) == {1: (5, 5), 3: (5, 5)}
    assert run.report["totals"]["uncounted"] == 5
    assert "5 of nodes that the" in support.warpwatch("report", run.output)


@pytest.mark.skipif(not support.LONG, reason="70,000 graph updates: --long")
def test_more_shapes_than_configurations_are_still_counted(tmp_path):
    run = support.run_simulated([GRAPHS, "endless_change"], tmp_path)
    scale, = run.report["kernels"]
    assert scale["launches"] == 70000 and len(scale["configurations"]) == 65536
    assert scale["further"] == {"launches": 70000 - 65536, "graph_launches": 70000 - 65536}
