"""Where and how programs are run, what came of it, and how much time is left."""
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cases"))
from support import BUILD, LIBRARY, SAMPLES, WARPWATCH, clean_environment  # noqa: E402,F401

LIMIT_SECONDS = 8 * 60
STARTED = time.monotonic()
PLUGIN = BUILD / "lib" / "libwarpwatch_cupti.so"
AGAIN = BUILD / "tests" / "libagain.so"
CARRIED = BUILD / "carried"  # what pack.py brings along: libraries that the machine may lack


class NoTime(Exception):
    """The eight minutes, or a step's share of them, are over."""


def is_bad(outcome):
    return outcome.startswith(("different", "failed")) or outcome.endswith("differ")


class Run:
    def __init__(self, dry, output):
        self.dry, self.output = dry, output
        self.stores = pathlib.Path(tempfile.mkdtemp(prefix="warpwatch-gpu-"))
        self.prefix = [str(BUILD / "simcuda" / "simrun"), "--device", "h200,h200", "--"] if dry else []
        self.where = "the simulated driver (a dry run)" if dry else self.gpu()
        self.rows = []
        self.step_until = STARTED + LIMIT_SECONDS

    @staticmethod
    def gpu():
        try:
            done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                                  capture_output=True, text=True, timeout=30)
            return done.stdout.strip().replace("\n", "; ") or "an unknown GPU"
        except (OSError, subprocess.TimeoutExpired):
            return "an unknown GPU"

    def begin_step(self, seconds):
        self.step_until = min(time.monotonic() + seconds, STARTED + LIMIT_SECONDS)

    def seconds_left(self, most):
        left = min(most, self.step_until - time.monotonic())
        if left < 1:
            raise NoTime
        return left

    def libraries(self):
        """The machine's own CUDA first, then what was carried."""
        if self.dry:
            return []
        own = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
        folders = [own / "lib64", own / "extras" / "CUPTI" / "lib64", CARRIED / "cuda"]
        return [f"LD_LIBRARY_PATH={':'.join(map(str, folders))}"]

    def program(self, command, watch=None, seconds=30, own_libraries=True, **variables):
        """Runs it, under the preload if `watch` names a directory for the stores. Output and exit status, never raises
        but NoTime; 124: it took too long and was ended."""
        if watch:
            watch.mkdir(parents=True, exist_ok=True)
            variables = {"LD_PRELOAD": LIBRARY, "WARPWATCH_OUTPUT": watch, "WARPWATCH_REPORT": "none", **variables}
        assignments = [f"{name}={value}" for name, value in variables.items()]
        full = [*self.prefix, "env", *(self.libraries() if own_libraries else []), *assignments, *map(str, command)]
        left = self.seconds_left(seconds)
        try:
            return subprocess.run(full, capture_output=True, text=True, errors="replace", env=clean_environment(),
                                  timeout=left)
        except subprocess.TimeoutExpired as late:
            text = [part.decode(errors="replace") if isinstance(part, bytes) else part or "" for part in
                    (late.stdout, late.stderr)]
            return subprocess.CompletedProcess(full, 124, text[0], text[1] + f"\nended after {left:.0f} s")

    def warpwatch(self, *arguments, **options):
        done = subprocess.run([WARPWATCH, *map(str, arguments)], capture_output=True, text=True,
                              env=clean_environment(LD_LIBRARY_PATH=CARRIED / "lib"), **options)
        if done.returncode:
            raise RuntimeError(f"warpwatch {arguments[0]}: {done.stderr.strip()[-200:]}")
        return done.stdout

    def report(self, directory):
        return json.loads(self.warpwatch("report", "--format", "json", directory))

    def result(self, step, what, outcome, **figures):
        self.rows.append({"step": step, "what": what, "outcome": outcome, **figures})
        print(f"{time.monotonic() - STARTED:4.0f} s  {step:12} {what:34} {outcome}", flush=True)
        for line in figures.get("differences", []):
            print(f"{'':8}{line}", flush=True)
        self.write()

    def write(self):
        """After every result: whatever ends the run, what was found so far is there."""
        when = datetime.date.today().isoformat()
        seconds = round(time.monotonic() - STARTED)
        (self.output / "gpu.json").write_text(json.dumps(
            {"date": when, "machine": self.where, "seconds": seconds, "results": self.rows}, indent=1) + "\n")
        lines = [f"{when}, {self.where}, {seconds} s", "", "| step | what | outcome |", "|---|---|---|"]
        lines += [f"| {row['step']} | {row['what']} | {row['outcome']} |" for row in self.rows]
        lines += ["", "Differences:", ""]
        lines += [f"- {row['step']}, {row['what']}: {line}" for row in self.rows for line in row.get("differences", [])]
        (self.output / "gpu.md").write_text("\n".join(lines) + "\n")


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][-200:] if lines else "no output"
