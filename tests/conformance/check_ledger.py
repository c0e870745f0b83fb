#!/usr/bin/python3
"""check_ledger.py SIMRUN DEVICE PROGRAM: runs a program on the simulated driver. It must succeed, and the launches that it
says it made ("launch kernel=…" lines) must be the ledger's."""
import json
import pathlib
import subprocess
import sys
import tempfile


def triple(text):
    return tuple(int(number) for number in text.split(","))


def claimed_launches(lines):
    """{(function, device, grid, block, cluster, shared): (count, replayed)}; equal configurations add up."""
    launches = {}
    for line in lines:
        if line.startswith("launch "):
            field = dict(part.split("=") for part in line.split()[1:])
            key = (field["kernel"], int(field["device"]), triple(field["grid"]), triple(field["block"]),
                   triple(field["cluster"]), int(field["shared"]))
            count, replayed = launches.get(key, (0, 0))
            launches[key] = (count + int(field["count"]), replayed + int(field["replayed"]))
    return launches


def ledger_launches(path):
    return {(entry["function"], entry["device"], tuple(entry["grid"]), tuple(entry["block"]),
             tuple(entry["cluster"] or (1, 1, 1)), entry["dynamic_shared_bytes"]):
            (entry["count"], entry["graph_count"])
            for entry in json.loads(path.read_text())["launches"]}


def main():
    simrun, device, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "ledger.json")
        done = subprocess.run([simrun, "--device", device, "--ledger", path, "--", program],
                              stdout=subprocess.PIPE, text=True, timeout=120)
        counted = ledger_launches(path)
    print(done.stdout, end="")
    claimed = claimed_launches(done.stdout.splitlines())
    wrong = [key for key in sorted(claimed.keys() | counted.keys()) if claimed.get(key) != counted.get(key)]
    for key in wrong:
        print(f"not ok - {key}: the program says {claimed.get(key)}, the ledger {counted.get(key)}")
    return done.returncode or (1 if wrong else 0)


if __name__ == "__main__":
    sys.exit(main())
