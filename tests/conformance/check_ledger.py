#!/usr/bin/python3
"""check_ledger.py SIMRUN DEVICE PROGRAM: runs a program on the simulated driver. It must succeed, and the launches
that it says it made ("launch kernel=…" lines) must be the ledger's."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cases"))
import support  # noqa: E402


def main():
    simrun, device, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        ledger = pathlib.Path(directory, "ledger.json")
        done = subprocess.run([simrun, "--device", device, "--ledger", ledger, "--", "env",
                               f"LD_PRELOAD={support.preloaded()}", program],
                              stdout=subprocess.PIPE, text=True, timeout=120)
        counted = support.counts_of_ledger(json.loads(ledger.read_text()))
    print(done.stdout, end="")
    support.assert_same_launches(support.counts_of_output(done.stdout), counted)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
