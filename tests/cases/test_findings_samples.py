"""Each sample program gets the findings that its effect deserves on an H200, and no others."""
import sys

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
    "graph": {("fewer-blocks-than-sms", "produce")},  # both launches of `consume` run side by side
    "threads": set(),  # eight streams of their own: what one leaves idle, others may use
    "modules": {("fewer-blocks-than-sms", "scale"), ("fewer-blocks-than-sms", "offset")},
    "library": {("fewer-blocks-than-sms", "offset")},
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


def test_every_sample_is_pinned():
    assert set(DESERVED) == {path.stem for path in (support.ROOT / "sample_apps").glob("*.c*") if path.suffix in (".c", ".cu")} - {
        "kernels"}


@pytest.mark.parametrize("name, label", [("cooperative", "cooperative"), ("cluster", "cluster"), ("threads", "concurrent"),
                                         ("graph", "concurrent")])
def test_kinds_are_labelled(simulated, name, label):
    report = simulated([support.SAMPLES / name]).report
    labels = [c["labels"] for kernel in report["kernels"] for c in kernel["configurations"]]
    assert labels and any(label in each for each in labels)
    assert name != "threads" or all(label in each for each in labels)


def test_shares_are_of_the_whole_run_whatever_is_selected(simulated):
    run = simulated([support.SAMPLES / "registers"])
    kernel = r"hungry<\(?(int\))?1>"
    (all_of_it,) = [f for f in run.report["findings"] if "254 registers" in f["evidence"]]
    (selected,) = support.report("--kernel", kernel, run.output)["findings"]
    assert selected["share"] == all_of_it["share"] and selected["evidence"] == all_of_it["evidence"]


DRIVER_PROGRAM = """
import ctypes, sys

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    assert getattr(cuda, name)(*arguments) == 0, name


def new(name, *arguments):
    made = ctypes.c_void_p()
    call(name, ctypes.byref(made), *arguments)
    return made


call("cuInit", 0)
call("cuCtxSetCurrent", new("cuDevicePrimaryCtxRetain", 0))
module = new("cuModuleLoadData", open(sys.argv[1], "rb").read())
functions = [new("cuModuleGetFunction", module, name) for name in (b"scale", b"offset")]
numbers = [ctypes.c_double() for _ in range(2)]
parameters = (ctypes.c_void_p * 2)(*[ctypes.addressof(number) for number in numbers])
def launch(function, stream):
    call("cuLaunchKernel", function, 4, 1, 1, 64, 1, 1, 512, stream, parameters, None)
"""

TWO_KERNELS_IN_TURN = DRIVER_PROGRAM + """
for _ in range(int(sys.argv[2])):
    for function in functions:
        launch(function, None)
"""


def test_kernels_that_take_turns_are_a_sequence(simulated, tmp_path):
    script = tmp_path / "turns.py"
    script.write_text(TWO_KERNELS_IN_TURN)
    report = simulated([sys.executable, script, support.SAMPLES / "kernels.fatbin", 2000]).report
    (finding,) = report["findings"]
    assert finding["id"] == "repeating-sequence" and finding["launches"] == 4000
    assert "scale" in finding["evidence"] and "offset" in finding["evidence"]


WARM_UP_THEN_STREAMS = DRIVER_PROGRAM + """
streams = [new("cuStreamCreate", 1) for _ in range(2)]
for _ in range(20):
    launch(functions[0], streams[0])
for i in range(int(sys.argv[2])):
    launch(functions[0], streams[1])
    launch(functions[0], streams[int(sys.argv[3])])
"""


@pytest.mark.parametrize("warm_up_only", [0, 1])
def test_launches_that_may_overlap_are_labelled_and_not_accused(simulated, tmp_path, warm_up_only):
    script = tmp_path / "streams.py"
    script.write_text(WARM_UP_THEN_STREAMS)
    report = simulated([sys.executable, script, support.SAMPLES / "kernels.fatbin", 500, warm_up_only]).report
    (kernel,) = report["kernels"]
    assert kernel["launches"] == 1020
    assert kernel["configurations"][0]["labels"] == ([] if warm_up_only else ["concurrent"])
    assert [f["id"] for f in report["findings"]] == (["tiny-launches"] if warm_up_only else [])


def test_the_rank_that_differs_is_named(simulated):
    programs = ["vecadd", "vecadd", "vecadd", "tiny"]
    stores = [simulated([support.SAMPLES / program], RANK=rank).output for rank, program in enumerate(programs)]
    odd = [f for f in support.report(*stores)["findings"] if f["id"] == "odd-rank"]
    assert [f["evidence"].split(" on ")[0] for f in odd] == ["rank 3"]
    assert "add_one 10,000 times" in odd[0]["evidence"] and "2 kernels differ" in odd[0]["evidence"]
