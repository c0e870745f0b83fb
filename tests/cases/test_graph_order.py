"""Kernels in branches of a graph that run side by side are labelled concurrent, and not accused of the SMs that they leave
idle; kernels that have the GPU to themselves are. (clients/ordered.c says how a graph is described.)"""
import random
import struct

import pytest

import store_files
import support

CLIENTS = support.BUILD / "tests" / "clients"


def ordered(directory, *nodes, replays=3, **options):
    run = support.run_simulated([CLIENTS / "ordered", replays, *nodes], directory, **options)
    assert run.stderr == "" and run.ledger["faults"] == []
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    return run


def labels(run):
    """By blocks of the grid, which tell the kernels apart."""
    return {row["grid"][0]: row["labels"] for kernel in run.report["kernels"] for row in kernel["configurations"]}


def beside(run):
    return {blocks for blocks, names in labels(run).items() if "concurrent" in names}


CASES = {
    "a chain": ("k1 k2:< k3:<", set()),
    "fork and join": ("k1 k2:0 k3:0 k4:1,2", {2, 3}),
    "nothing orders them": ("k1 k2 k3", {1, 2, 3}),
    "added in another order": ("e k3:0 k2:0 k1 e:3 k4:1,2,4", {1, 2, 3}),
    "a branch of copies": ("k1 c:0 c:< k2:0 k3:2,3", set()),
    "a copy that nothing waits for": ("k1 c:0 k2:0 k3:2", set()),
    "ordered through a copy": ("k1 c:0 k2:1", set()),
    "ordered through nothing and the host": ("k1 k2 e:0,1 h:2 k3:3 k4:3", {1, 2, 3, 4}),
    "one long branch, one short": ("k1 k2:0 k3:1 k4:2 k5:0 k6:3,4 k7:5", {2, 3, 4, 5}),
    "a child graph beside a kernel": ("k1 ( k2 k3:< ):0 k4:0 k5:1,2", {2, 3, 4}),
    "a child graph between kernels": ("k1 ( k2 k3:< ):0 k4:1", set()),
    "a child graph that forks": ("k1 ( k2 k3 ):0 k4:1", {2, 3}),
    "a child of a child": ("k1 ( ( k2 ) k3:0 ):0 ( ( k4 ) ):0 k5:1,2", {2, 3, 4}),
    "a child without kernels": ("k1 ( c ):0 k2:0 k3:1,2", set()),
    "a child passes order on": ("k1 ( c ):0 k2:1", set()),
    "a disabled branch": ("k1 k2:0 d3:0 k4:1,2", set()),
    "one of three branches is disabled": ("k1 k2:0 d3:0 k4:0 k5:1,2,3", {2, 4}),
    "a disabled kernel passes order on": ("k1 d2:0 k3:1", set()),
    "a body beside it": ("k1 i:0 k2:0", {2}),
    "a body between kernels": ("k1 i:0 k2:1", set()),
    "updated to other shapes": ("k1 k2:0 k3:0 k4:1,2 u", {4, 6}),
}


@pytest.mark.parametrize("nodes, expected", CASES.values(), ids=[name.replace(" ", "-") for name in CASES])
def test_who_may_run_beside_another(tmp_path, nodes, expected):
    assert beside(ordered(tmp_path, *nodes.split())) == expected


def test_only_those_are_accused(tmp_path):
    report = ordered(tmp_path, *"k8 k9:0 k10:0 k11:1,2".split(), replays=1000).report
    (finding,) = [finding for finding in report["findings"] if finding["id"] == "fewer-blocks-than-sms"]
    rows = [row for kernel in report["kernels"] for row in kernel["configurations"]]
    assert finding["launches"] == 2000 and sorted(row["grid"][0] for row in rows if not row["labels"]) == [8, 11]


@pytest.mark.parametrize("nodes, expected", [("k8 k8:0 k8:0 k8:0", {8}), ("k8 k8:0 k8:0 k8:1,2", set()),
                                             ("k8 k8:0 k8:0 k8:0 k8:1,2,3", {8})])
def test_of_one_configuration_the_majority_decides(tmp_path, nodes, expected):
    """Three of four; two of four, which is no majority; three of five."""
    run = ordered(tmp_path, *nodes.split())
    assert beside(run) == expected and len(labels(run)) == 1
    (body,) = store_files.read_records(run.stores[0].read_bytes())[store_files.BODIES]
    _, count, *_, beside_count, _ = store_files.BODY.unpack(body)
    assert (count, beside_count) == (2, 1)  # one node for those alone, one for those beside others


def test_branches_and_streams_add_up(tmp_path):
    """The same configuration in two processes: the one's launches all have company, the other's, which are more, none."""
    forked, alone = ordered(tmp_path / "forked", "k8", "k8", replays=10), ordered(tmp_path / "alone", "k8", replays=50)
    assert beside(forked) == {8} and beside(alone) == set()
    (row,) = support.report(forked.output, alone.output)["kernels"][0]["configurations"]
    assert row["launches"] == 70 and row["labels"] == []


def test_a_dependency_on_the_start_of_a_kernel_orders_but_is_named(tmp_path):
    """As for launches of their own: they overlap at their ends only."""
    assert labels(ordered(tmp_path, "k1", "k2:p<", "k3:<")) == {1: [], 2: ["programmatic"], 3: []}


def test_a_driver_without_edge_data(tmp_path):
    run = ordered(tmp_path, "k1", "k2:0", "k3:0", "k4:1,2", SIMCUDA_DRIVER_VERSION=12020)
    assert beside(run) == {2, 3}


@pytest.mark.parametrize("nodes, expected", [(["k8", "k8:<*9999"], set()), (["k8*10000"], {8}),
                                             (["k8", "e:<", "k9:1*5000", "k8:<*5000"], {9, 8})], ids=["chain", "wide", "both"])
def test_ten_thousand_nodes(tmp_path, nodes, expected):
    assert beside(ordered(tmp_path, *nodes)) == expected


def random_graph(dice):
    """(nodes, those beside others by the definition) of a graph whose kernels have 1, 2, 3 … blocks."""
    count = dice.randint(1, 12)
    nodes, ways, kernels = [], [set() for _ in range(count)], {}
    for i in range(count):
        kind = dice.choice("kkkceh") if i else "k"
        before = [j for j in range(i) if dice.random() < 0.3]
        nodes.append((kind + str(i + 1) if kind == "k" else kind) + (":" + ",".join(map(str, before)) if before else ""))
        ways[i] = set(before).union(*(ways[j] for j in before))
        if kind == "k":
            kernels[i] = i + 1
    return nodes, {blocks for i, blocks in kernels.items()
                   if any(i != j and i not in ways[j] and j not in ways[i] for j in kernels)}


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs(tmp_path, seed):
    nodes, expected = random_graph(random.Random(seed))
    assert beside(ordered(tmp_path, *nodes)) == expected


def test_what_is_not_known_is_not_claimed(tmp_path):
    """Without a good sum over it, the order of a body's kernels means nothing: they are judged alone, and all counted."""
    run = ordered(tmp_path, "k8", "k9")
    store, = run.stores
    data = bytearray(store.read_bytes())
    (body,) = store_files.read_records(bytes(data))[store_files.BODIES]
    at = data.index(body)
    for damage in (0, store_files.BODY.unpack(body)[-1] ^ 2):
        struct.pack_into("<I", data, at + 28, damage)
        store.write_bytes(data)
        assert labels(run) == {8: [], 9: []} and run.report["processes"][0]["damage"] is None
        support.assert_same_launches(run.ledger_counts, run.report_counts)


@pytest.mark.parametrize("beside_count, expected", [(None, set()), (0, set()), (1, {3}), (2, {2, 3}), (3, {1, 2, 3}), (4, set()),
                                                    (2**32 - 1, set())])
def test_a_store_may_claim_anything(tmp_path, beside_count, expected):
    """More nodes side by side than there are: that says nothing, and costs no count."""
    store = store_files.Store()
    kernel, device = store.kernel("k"), store.device()
    rows = [store.configuration(kernel, device, grid=(blocks, 1, 1)) for blocks in (1, 2, 3)]
    store.count(store_files.REPLAY, store.body(*[(row, 2) for row in rows], beside=beside_count), 5)
    report = support.report(store.save(tmp_path))
    rows = [row for kernel in report["kernels"] for row in kernel["configurations"]]
    assert {row["grid"][0] for row in rows if "concurrent" in row["labels"]} == expected
    assert [row["launches"] for row in rows] == [10, 10, 10] and report["processes"][0]["damage"] is None
