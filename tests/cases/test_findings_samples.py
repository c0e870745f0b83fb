"""Each sample program gets the findings that its effect deserves on an H200, and no others."""
import pytest

import support

# program → {(id, short name of the kernel)}; what needs counters to be seen is not seen without them.
DESERVED = {
    "vecadd": {("fewer-blocks-than-sms", "vector_add")},
    "tail": {("just-over-a-wave", "one_wave")},
    "tiny": {("tiny-launches", "add_one")},
    "decode": {("fewer-blocks-than-sms", "rms_norm"), ("fewer-blocks-than-slots", "rms_norm")},
    "registers": {("occupancy-registers", f"hungry<{blocks}>") for blocks in (1, 2, 3, 4)}
    | {("local-memory", f"hungry<{blocks}>") for blocks in (2, 3, 4)},
    "shared": {("occupancy-shared-memory", "dynamic_tile")},
    "oddblock": {("block-not-warp-multiple", "scale")},
    "divergence": set(),
    "strided": set(),
    "banks": set(),
    "cooperative": set(),
    "cluster": set(),
}


@pytest.mark.parametrize("name", DESERVED)
def test_sample_has_exactly_its_findings(simulated, name):
    report = simulated([support.SAMPLES / name]).report
    found = {(f["id"], report["kernels"][f["kernel"]]["short_name"]) for f in report["findings"]}
    assert found == DESERVED[name]


def test_findings_are_ranked_by_cost(simulated):
    findings = simulated([support.SAMPLES / "registers"]).report["findings"]
    costs = [f["cost"] or 0 for f in findings]
    assert costs == sorted(costs, reverse=True) and costs[0] > 0
    assert all(0 < f["share"] <= 1 for f in findings if f["cost"])


@pytest.mark.parametrize("name", ["cooperative", "cluster"])
def test_kinds_are_labelled(simulated, name):
    report = simulated([support.SAMPLES / name]).report
    labels = [c["labels"] for kernel in report["kernels"] for c in kernel["configurations"]]
    assert labels and any(name in each for each in labels)
