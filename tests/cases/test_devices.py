"""`warpwatch devices`: the built-in table, devices from a file, and those of a driver."""
import json
import subprocess

import pytest

from support import DEV, WARPWATCH, clean_environment, warpwatch

LARGE = {"name": "large", "product": "ACME Large", "compute_capability": "9.0", "sms": 200}


def listed(*arguments, **variables):
    answer = json.loads(warpwatch("devices", "--json", *arguments, **variables))
    return {device["name"]: device for device in answer["devices"]}


def file_of(path, *devices):
    path.write_text(json.dumps({"devices": devices}))
    return path


def test_the_table_has_a_source_for_every_figure():
    devices = listed()
    assert devices["h200"]["sms"] == 132 and devices["h200"]["compute_capability"] == "9.0"
    assert all(device["source"] and device["sms"] > 0 for device in devices.values())
    assert "NVIDIA H200" in warpwatch("devices")


def test_without_a_driver_it_says_so(tmp_path):
    (tmp_path / "libcuda.so.1").write_text("no library")
    assert "no driver: " in warpwatch("devices", LD_LIBRARY_PATH=tmp_path)
    answer = json.loads(warpwatch("devices", "--json", LD_LIBRARY_PATH=tmp_path))
    assert answer["present"] == [] and "libcuda.so.1" in answer["none_because"]


def test_a_file_adds_devices(tmp_path):
    path = file_of(tmp_path / "more.json", LARGE)
    assert listed("--devices", path)["large"]["sms"] == 200
    assert listed(WARPWATCH_DEVICES=path)["large"]["sms"] == 200
    arguments = ["model", "occupancy", "--json", "--device", "Large", "--threads", "1024", "--registers", "32"]
    assert json.loads(warpwatch(*arguments, "--devices", path))["slots"] == 400
    assert json.loads(warpwatch(*arguments, WARPWATCH_DEVICES=path))["slots"] == 400


def test_a_file_goes_before_the_table(tmp_path):
    path = file_of(tmp_path / "more.json", {**LARGE, "name": "h200", "product": "a slice of it", "sms": 16})
    arguments = ["model", "occupancy", "--json", "--device", "h200", "--threads", "1024", "--registers", "32"]
    assert json.loads(warpwatch(*arguments, "--devices", path))["slots"] == 32


@pytest.mark.parametrize("text, message", [
    ("", "devices"), ("[]", "devices"), ("{", "devices"), ('{"devices": 3}', "devices"),
    ('{"devices": [{}]}', "entry 1"), ('{"devices": [3]}', "entry 1"),
    (json.dumps({"devices": [LARGE, {**LARGE, "name": ""}]}), 'entry 2: give "name"'),
    (json.dumps({"devices": [{**LARGE, "sms": 0}]}), '"sms" as a whole number from 1'),
    (json.dumps({"devices": [{**LARGE, "sms": -5}]}), '"sms"'),
    (json.dumps({"devices": [{**LARGE, "sms": 1.5}]}), '"sms"'),
    (json.dumps({"devices": [{**LARGE, "sms": 1e300}]}), '"sms"'),
    (json.dumps({"devices": [{**LARGE, "compute_capability": 9.0}]}), '"compute_capability" as text'),
    (json.dumps({"devices": [{**LARGE, "compute_capability": "2.0"}]}), '"compute_capability"'),
    (json.dumps({"devices": [{**LARGE, "compute_capability": "9.0a"}]}), '"compute_capability"'),
    (json.dumps({"devices": [{**LARGE, "compute_capability": " 9.+0"}]}), '"compute_capability"'),
    (json.dumps({"devices": [{**LARGE, "memory_gb": "x"}]}), '"memory_gb"'),
    (json.dumps({"devices": [{**LARGE, "name": "()"}]}), 'letters or digits'),
    (json.dumps({"devices": [{**LARGE, "name": "a\x1b[2J"}]}), 'letters or digits'),
    (json.dumps({"devices": [{**LARGE, "product": "\u202ebackwards"}]}), '"product"'),
    (json.dumps({"devices": [{**LARGE, "source": 5}]}), '"source"'),
])
def test_a_file_that_is_no_good_is_named_in_one_line(tmp_path, text, message):
    path = tmp_path / "bad.json"
    path.write_text(text)
    done = subprocess.run([WARPWATCH, "devices", "--devices", path], capture_output=True, text=True,
                          env=clean_environment())
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "bad.json" in done.stderr and message in done.stderr


def test_a_missing_file_is_named():
    done = subprocess.run([WARPWATCH, "devices", "--devices", "/nonexistent.json"], capture_output=True, text=True,
                          env=clean_environment())
    assert done.returncode == 2 and "/nonexistent.json" in done.stderr and "No such file" in done.stderr


def test_the_driver_is_asked():
    done = subprocess.run([DEV, "sim", "--device", "h200,t4", "--", WARPWATCH, "devices", "--json"],
                          capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["none_because"] is None
    assert [(d["ordinal"], d["compute_capability"], d["sms"], d["simulated"]) for d in answer["present"]] == [
        (0, "9.0", 132, True), (1, "7.5", 40, True)]
    assert answer["present"][0]["shared_per_block_optin_bytes"] == 227 * 1024


def test_every_simulated_device_is_in_the_table():
    """Two tables, kept apart so that one can be a check of the other."""
    devices = listed()
    for name in ["h200", "a100", "b200", "rtx4090", "rtx5090", "t4", "l4", "gb10", "thor"]:
        done = subprocess.run([DEV, "sim", "--device", name, "--", WARPWATCH, "devices", "--json"],
                              capture_output=True, text=True, env=clean_environment())
        assert done.returncode == 0, done.stderr
        present = json.loads(done.stdout)["present"][0]
        assert present["sms"] == devices[name]["sms"]
        assert present["compute_capability"] == devices[name]["compute_capability"]
