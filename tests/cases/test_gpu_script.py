"""./dev gpu: everything of the GPU run that can be checked without one."""
import json
import os
import subprocess
import sys

import pytest

from support import ROOT, SAMPLES, clean_environment

sys.path.append(str(ROOT / "tests" / "gpu"))
import ncu  # noqa: E402

RUN = ROOT / "tests" / "gpu" / "run"


def outcomes_of(output):
    rows = json.loads((output / "gpu.json").read_text())["results"]
    return {step: {row["what"]: row["outcome"] for row in rows if row["step"] == step}
            for step in ("samples", "occupancy", "conformance", "cupti", "ncu", "profiler", "torch")}


@pytest.mark.unsanitized("what goes to a GPU is the release build")
def test_the_dry_run_finds_everything_as_expected(tmp_path):
    done = subprocess.run([RUN, "--dry-run", "-o", tmp_path / "out"], capture_output=True, text=True,
                          env=clean_environment(), timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    outcomes = outcomes_of(tmp_path / "out")
    samples = outcomes["samples"]
    assert len(samples) == 3 * 16 + 1 + 6 and all(outcome.startswith("equal") for outcome in samples.values())
    assert samples["divergence (counters)"] == "equal, 2 of 2 configurations measured"
    assert list(outcomes["occupancy"].values()) == ["equal"]
    assert outcomes["cupti"]["measured good a"] == outcomes["cupti"]["measured good b"] == "200 of 200"
    assert list(outcomes["profiler"].values()) == ["works"] * 3
    assert len(outcomes["conformance"]) >= 20 and set(outcomes["conformance"].values()) == {"as documented"}
    assert all(outcome.startswith("left out") for step in ("ncu", "torch") for outcome in outcomes[step].values())
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["gpu.json", "gpu.md"]
    assert "| conformance | launches | as documented |" in (tmp_path / "out" / "gpu.md").read_text()


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpu") / "carry"
    done = subprocess.run([RUN, "--pack", folder], capture_output=True, text=True, env=clean_environment(), timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.unsanitized("what goes to a GPU is the release build")
def test_what_is_carried_is_small_and_has_the_libraries(packed):
    files = [path for path in packed.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 60_000_000
    carried = {path.name for path in files if "carried" in path.parts}
    assert {"libcjson.so.1", "libelf.so.1", "libcupti.so.13", "libnvperf_host.so"} <= carried
    assert not any(name.startswith(("libc.so", "libm.so", "ld-linux")) for name in carried)


@pytest.mark.unsanitized("what goes to a GPU is the release build")
def test_a_carried_run_without_a_driver_says_what_failed_and_ends(packed, tmp_path):
    """No network, no build, no driver, no ncu, no PyTorch: every step has its outcome, and both files are written."""
    environment = clean_environment(PATH="/usr/bin:/bin", CUDA_HOME="/nowhere")
    environment.pop("WARPWATCH_BUILD", None)
    done = subprocess.run(["/usr/bin/python3", packed / "tests" / "gpu" / "run", "-o", tmp_path / "out"],
                          capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr
    outcomes = outcomes_of(tmp_path / "out")
    assert all(outcomes[step] for step in outcomes)
    assert set(outcomes["conformance"].values()) <= {"left out: no driver", "as documented"} | {
        outcome for outcome in outcomes["conformance"].values() if outcome.endswith("differ")}
    assert "an unknown GPU" in (tmp_path / "out" / "gpu.md").read_text()


NCU = """==PROF== Connected to process 1
"ID","Kernel Name","Block Size","Grid Size","launch__registers_per_thread","launch__occupancy_limit_shared_mem",\
"sm__maximum_warps_per_active_cycle_pct","sm__warps_active.avg.pct_of_peak_sustained_active"
"","","","","register/thread","block","%","%"
"0","add_one","(32, 1, 1)","(1, 1, 1)","{registers}","32","{theory}","60.1"
"""


class FakeRun:
    """Answers for Nsight Compute with a text, and for the report with one of the simulated driver."""

    def __init__(self, text, report):
        self.text, self.reported, self.rows, self.dry, self.stores = text, report, [], False, SAMPLES

    def program(self, command, **options):
        return subprocess.CompletedProcess(command, 0, self.text, "")

    def report(self, directory):
        return self.reported

    def result(self, step, what, outcome, **figures):
        self.rows.append((what, outcome, figures.get("differences", [])))


@pytest.mark.parametrize("registers,theory,differing", [("{right}", "50", 0), ("99", "50", 1), ("99", "1,000.5", 2)])
def test_nsight_compute_is_compared_figure_by_figure(simulated, registers, theory, differing):
    report = simulated([SAMPLES / "tiny"], WARPWATCH_COUNTERS=1).report
    right = report["kernels"][0]["registers_per_thread"]
    run = FakeRun(NCU.format(registers=registers.format(right=right), theory=theory), report)
    ncu.program(run, "ncu", "tiny")
    ((what, outcome, differences),) = run.rows
    assert what == "tiny, 1 launches" and len(differences) == differing
    assert outcome == (f"{differing} figures differ" if differing else "equal")


def test_nsight_compute_without_permission_is_left_out(simulated):
    run = FakeRun("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", None)
    ncu.program(run, "ncu", "tiny")
    assert run.rows == [("tiny", "left out: no permission for counters", [])]


def test_a_step_that_takes_too_long_leaves_the_others_their_time(tmp_path):
    script = ("import sys; sys.path.insert(0, sys.argv[1]); import machine; run = machine.Run(True, __import__('pathlib')."
              "Path(sys.argv[2])); run.prefix = []; run.begin_step(2); done = run.program(['sleep', '60']);"
              "print(done.returncode); run.begin_step(0)\ntry: run.program(['true'])\nexcept machine.NoTime: print('no time')")
    done = subprocess.run([sys.executable, "-c", script, ROOT / "tests" / "gpu", tmp_path], capture_output=True, text=True,
                          env=dict(os.environ), timeout=60)
    assert done.stdout.split("\n")[:2] == ["124", "no time"], done.stderr
