"""The model inside `warpwatch report`: the driver's answer goes first, and launches are judged on other GPUs."""
import json
import subprocess

import pytest

from support import SAMPLES, WARPWATCH, clean_environment, report, run_simulated, warpwatch

LARGE = {"devices": [{"name": "large", "compute_capability": "13.0", "sms": 1000}]}


def configurations(answer):
    return [configuration for kernel in answer["kernels"] for configuration in kernel["configurations"]]


def least_limit(configuration):
    return min(limit for limit in configuration["limits"].values() if limit is not None)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """`tail`, 2 blocks of 1,024 threads an SM, and `cluster` with clusters of 1 to 8 blocks."""
    stores = tmp_path_factory.mktemp("runs")
    for name in ("tail", "cluster", "shared"):
        run_simulated([SAMPLES / name], stores, WARPWATCH_REPORT="none")
    return stores / "stores"


def elsewhere(stores, device, **variables):
    return json.loads(warpwatch("report", "--format", "json", "--device", device, stores, **variables))


# --- the driver's answer --------------------------------------------------------------------------------


def test_driver_and_model_agree(runs):
    found = configurations(report(runs))
    assert len(found) == 12
    for configuration in found:
        assert configuration["blocks_per_sm"] == least_limit(configuration)
        assert "driver" not in configuration["limiters"]
        assert configuration["sources"]["blocks_per_sm"] == "driver"


def test_a_driver_that_allows_fewer_blocks_is_believed(tmp_path):
    run = run_simulated([SAMPLES / "tail"], tmp_path, SIMCUDA_BLOCKS_PER_SM_PENALTY=1, WARPWATCH_REPORT="none")
    found = configurations(run.report)
    assert len(found) == 4
    for configuration in found:
        assert configuration["blocks_per_sm"] == 1 and configuration["theoretical_occupancy"] == 0.5
        assert configuration["limiters"] == ["driver"] and least_limit(configuration) == 2
        assert configuration["slots"] == 132
    text = warpwatch("report", run.output)
    assert "1 block an SM, limited by driver (the model explains 2)" in text
    assert "The driver allows fewer blocks than the limits explain" in text


def test_fractions_read_back_exactly(runs):
    for configuration in configurations(report(runs)):
        blocks = configuration["grid"][0] * configuration["grid"][1] * configuration["grid"][2]
        assert configuration["waves"] == blocks / configuration["slots"]


# --- another GPU ----------------------------------------------------------------------------------------


def test_launches_elsewhere_are_as_the_model_says(runs):
    answer = elsewhere(runs, "b200")
    assert answer["elsewhere"]["sms"] == 148
    for kernel in answer["kernels"]:
        for configuration in kernel["configurations"]:
            if configuration["cluster"]:
                continue
            options = {"device": "b200", "threads": configuration["block"][0], "grid": configuration["grid"][0],
                       "registers": kernel["registers_per_thread"], "static-shared": kernel["static_shared_bytes"],
                       "dynamic-shared": configuration["dynamic_shared_bytes"]}
            words = [word for name, value in options.items() for word in ("--" + name, value)]
            alone = json.loads(warpwatch("model", "occupancy", "--json", *words))
            for field in ("blocks_per_sm", "theoretical_occupancy", "limiters", "slots", "waves", "tail_waste"):
                assert configuration["elsewhere"][field] == alone[field], (kernel["name"], field)


def test_what_cannot_run_elsewhere_comes_first(runs):
    """200 KB of shared memory fit no RTX 4090, and clusters came with capability 9.0."""
    found = configurations(elsewhere(runs, "rtx4090"))
    fitting = [c for c in found if c["elsewhere"]["blocks_per_sm"]]
    refused = [c for c in found if not c["elsewhere"]["blocks_per_sm"]]
    assert sorted(c["elsewhere"]["limiters"] for c in refused) == 4 * [["cluster"]] + 2 * [["shared_memory"]]
    assert all(c["elsewhere"]["waves"] is None and c["elsewhere"]["slots"] == 0 for c in refused)
    assert all(c["cluster"] is None for c in fitting)
    lines = warpwatch("report", "--device", "rtx4090", runs).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("ON NVIDIA GeForce RTX 4090"))
    assert "MODELLED" in lines[start]
    judged = [line for line in lines[start:start + 40] if "|" in line]
    assert len(judged) == len(found)
    assert ["cannot run" in line for line in judged] == len(refused) * [True] + len(fitting) * [False]


def test_a_device_from_a_file_is_estimated_beyond_the_table(runs, tmp_path):
    (tmp_path / "more.json").write_text(json.dumps(LARGE))
    answer = elsewhere(runs, "Large", WARPWATCH_DEVICES=tmp_path / "more.json")
    assert answer["elsewhere"]["sms"] == 1000 and answer["elsewhere"]["compute_capability"] == "13.0"
    alone = json.loads(warpwatch("model", "occupancy", "--json", "--device", "large", "--threads", 128,
                                 "--registers", 32, WARPWATCH_DEVICES=tmp_path / "more.json"))
    assert alone["estimated"] is True
    assert "estimated" in warpwatch("model", "occupancy", "--device", "large", "--threads", 128, "--registers", 32,
                                    WARPWATCH_DEVICES=tmp_path / "more.json")
    scan = warpwatch("scan", "--device", "large", SAMPLES / "kernels.fatbin", WARPWATCH_DEVICES=tmp_path / "more.json")
    assert "5 cubins (5 not asked for)" in scan  # known, and newer than any of them


@pytest.mark.parametrize("verb", [["report"], ["scan"], ["model", "occupancy", "--threads", 32, "--registers", 32]])
def test_an_unknown_device_is_answered_with_those_there_are(verb):
    done = subprocess.run([WARPWATCH, *map(str, verb), "--device", "h2000"], capture_output=True, text=True,
                          env=clean_environment())
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "--device 'h2000'" in done.stderr and "h200" in done.stderr and "gb10" in done.stderr
