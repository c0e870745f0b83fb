"""./dev gpu --dry-run: everything of the GPU run that can be checked without one."""
import json
import subprocess

from support import ROOT, clean_environment


def test_the_dry_run_finds_everything_as_expected(tmp_path):
    done = subprocess.run([ROOT / "tests" / "gpu" / "run", "--dry-run", "-o", tmp_path / "out"], capture_output=True, text=True,
                          env=clean_environment(), timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "out" / "gpu.json").read_text())["results"]
    outcomes = {step: [row["outcome"] for row in rows if row["step"] == step] for step in
                ("samples", "occupancy", "conformance", "ncu", "torch")}
    assert len(outcomes["samples"]) == 48 and set(outcomes["samples"]) == {"equal"}
    assert outcomes["occupancy"] == ["equal"]
    assert len(outcomes["conformance"]) >= 20 and set(outcomes["conformance"]) == {"as documented"}
    assert all(outcome.startswith("left out") for outcome in outcomes["ncu"] + outcomes["torch"])
