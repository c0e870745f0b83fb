"""The soak of tests/soak, short: exact totals, and a store and a process that do not grow once every shape was seen."""
import importlib.machinery
import importlib.util

import support


def load():
    loader = importlib.machinery.SourceFileLoader("soak", str(support.ROOT / "tests" / "soak" / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("soak", loader))
    loader.exec_module(module)
    return module


def test_a_server_for_a_while(tmp_path):
    samples, result = load().soak(60 if support.LONG else 6, tmp_path)  # which compares every launch
    assert result["launches"] > 0 and result["replayed"] > 0
    watched = [sample["watched"] for sample in samples if "store_bytes" in sample["watched"]]
    assert len({sample["descriptors"] for sample in watched}) == 1
    if support.LONG:  # by then all 1,130 configurations have come on every thread
        half = watched[len(watched) // 2:]
        assert len({sample["store_bytes"] for sample in half}) == 1
        assert half[-1]["resident_bytes"] - half[0]["resident_bytes"] < 256 << 10
