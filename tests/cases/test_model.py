"""`warpwatch model`: one launch by options, tables by --batch, and what it says of input that makes no sense."""
import csv
import io
import json
import math
import random
import subprocess

import pytest

from support import LONG, WARPWATCH, clean_environment, warpwatch

MODELS = ["occupancy", "waves", "advise", "divergence", "coalescing", "banks"]


def model(name, *arguments, **variables):
    return json.loads(warpwatch("model", name, "--json", *arguments, **variables))


def options(**values):
    """threads=128 → --threads 128."""
    return [part for name, value in values.items() for part in ("--" + name.replace("_", "-"), str(value))]


def call(*arguments, text=None):
    return subprocess.run([str(WARPWATCH), "model", *map(str, arguments)], input=text, capture_output=True,
                          env=clean_environment(), timeout=300)


def batch(name, text, *arguments):
    done = call(name, "--batch", *arguments, text=text.encode())
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


# --- the answers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cc, blocks, occupancy", [("8.9", 3, 0.5), ("9.0", 3, 0.375), ("12.0", 3, 0.5)])
def test_occupancy(cc, blocks, occupancy):
    answer = model("occupancy", *options(cc=cc, threads=256, registers=65))
    assert answer["blocks_per_sm"] == blocks
    assert answer["theoretical_occupancy"] == occupancy
    assert answer["limiters"] == ["registers"]
    assert answer["limits"]["registers"] == blocks and answer["limits"]["barriers"] is None
    lift = {entry["what"]: entry for entry in answer["lift"]}
    assert lift["registers"]["to"] == 64 and lift["registers"]["blocks_per_sm"] == 4 and lift["registers"]["helps"]
    assert answer["slots"] is answer["waves"] is answer["tail_waste"] is None


def test_occupancy_on_a_device():
    answer = model("occupancy", *options(device="H200", threads=256, registers=65, grid="50x20"))
    assert answer["slots"] == 396 and answer["full_waves"] == 2
    assert answer["waves"] == 1000 / 396
    assert answer["tail_fullness"] == (1000 - 2 * 396) / 396
    assert math.isclose(answer["tail_waste"], 1 - 1000 / (3 * 396))


def test_a_launch_that_cannot_run_has_no_waves():
    answer = model("occupancy", *options(device="t4", threads=128, registers=32, dynamic_shared=100000, grid=10))
    assert answer["blocks_per_sm"] == 0 and answer["limiters"] == ["shared_memory"]
    assert answer["waves"] is answer["tail_waste"] is None
    assert "cannot run" in warpwatch("model", "occupancy",
                                     *options(device="t4", threads=128, registers=32, dynamic_shared=100000))


def test_a_cluster_gives_a_range():
    answer = model("occupancy", *options(device="h100", threads=1024, registers=64, grid=264, cluster=8))
    clusters = answer["resident_clusters"]
    assert clusters["least"] < 15 <= clusters["most"] and answer["estimated"]
    assert answer["slots"] == 8 * clusters["even"]


def test_waves_both_ways():
    answer = model("waves", *options(grid=1000, sms=132, blocks_per_sm=2))
    assert answer["slots"] == 264 and answer["full_waves"] == 3
    assert math.isclose(answer["slot_utilization"], 1000 / (4 * 264))
    always = model("waves", *options(utilization=0.9, sms=132, blocks_per_sm=2))["always_from_blocks"]
    assert all(b / (math.ceil(b / 264) * 264) >= 0.9 for b in range(always, always + 5000))
    assert (always - 1) / (math.ceil((always - 1) / 264) * 264) < 0.9


def test_advise_states_its_rule_and_argues():
    answer = model("advise", *options(device="h200", registers=32, elements=132 * 64))
    rows = {row["threads"]: row for row in answer["rows"]}
    assert list(rows) == [32, 64, 96, 128, 192, 256, 384, 512, 768, 1024]
    assert answer["recommended"] == 64 and answer["highest_occupancy"] == 1024
    assert "enough warps first" in answer["rule"] and "64" in answer["why"]
    assert rows[256]["blocks"] == 33 and rows[256]["surplus_threads"] == 0
    assert rows[1024]["uncovered_one_block_short"] == 132 * 64 - 8 * 1024
    assert len(model("advise", "--all", *options(cc="9.0", sms=132, registers=32, elements=1))["rows"]) == 1024


def test_advise_with_a_latency_wants_enough_not_the_most():
    answer = model("advise", *options(device="h200", registers=32, elements=132 * 32, latency=400,
                                      instructions_between_stalls=80))
    assert answer["warps_needed"] == 20 and answer["recommended"] == 32


def test_divergence():
    answer = model("divergence", *options(lane_probability=0.02))
    assert math.isclose(answer["warp_issues_path"], 1 - 0.98 ** 32)
    assert math.isclose(answer["warp_diverges"], 1 - 0.02 ** 32 - 0.98 ** 32)
    assert model("divergence", *options(split=16))["lane_utilization"] == 0.5
    assert model("divergence", *options(lane_probability=0.5, pattern="aligned"))["divergence_tax"] == 1
    back = model("divergence", *options(branch_efficiency=0.02 ** 32 + 0.98 ** 32))["lane_probability"]
    assert math.isclose(back, 0.02)


def test_coalescing_and_banks():
    assert model("coalescing", *options(stride=1, element_bytes=4)) == {
        "sectors_per_request": 4, "lines_per_request": 1, "bytes_requested": 128, "bytes_moved": 128, "efficiency": 1}
    assert model("coalescing", *options(stride=32, element_bytes=4))["lines_per_request"] == 32
    assert model("banks", *options(stride=32))["conflict_degree"] == 32
    assert model("banks", *options(stride=0)) == {"conflict_degree": 1, "broadcast": True, "lanes_per_pass": 32}


# --- tables ---------------------------------------------------------------------------------------------

RANDOM = random.Random(4)
ROWS = {
    "occupancy": lambda: dict(device=RANDOM.choice(["h200", "t4", "B200", "rtx4090"]), threads=RANDOM.randint(1, 1024),
                              registers=RANDOM.randint(0, 255), static_shared=RANDOM.randint(0, 49152),
                              dynamic_shared=RANDOM.randint(0, 60000), barriers=RANDOM.randint(0, 16),
                              grid=RANDOM.randint(1, 10 ** 6)),
    "waves": lambda: dict(grid=RANDOM.randint(1, 10 ** 7), sms=RANDOM.randint(1, 200),
                          blocks_per_sm=RANDOM.randint(1, 32)),
    "advise": lambda: dict(device=RANDOM.choice(["h200", "l4"]), registers=RANDOM.randint(0, 255),
                           elements=RANDOM.randint(1, 10 ** 9)),
    "divergence": lambda: dict(lane_probability=RANDOM.random(), then_cost=RANDOM.random() * 9),
    "coalescing": lambda: dict(stride=RANDOM.randint(0, 99), element_bytes=RANDOM.randint(1, 16),
                               offset=RANDOM.randint(0, 999)),
    "banks": lambda: dict(stride=RANDOM.randint(0, 99), word_bytes=RANDOM.choice([1, 2, 4, 8, 16])),
}


def cell(value):
    """A JSON value as the CSV writes it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return "+".join(value) if isinstance(value, list) else value


@pytest.mark.parametrize("name", MODELS)
def test_a_table_says_what_single_calls_say(name):
    rows = [ROWS[name]() for _ in range(40)]
    text = ",".join(rows[0]) + "\n" + "".join(",".join(map(str, row.values())) + "\n" for row in rows)
    answers = batch(name, text)
    assert len(answers) == len(rows)
    for row, answer in zip(rows, answers):
        single = model(name, *options(**row))
        if name == "advise":
            chosen = [r for r in single["rows"] if r["threads"] == single["recommended"]]
            single.update({key: value for key, value in (chosen or [{}])[0].items() if key != "threads"})
        assert answer["error"] == ""
        for column, text in answer.items():
            if column in row or column == "error":
                continue
            expected = cell(single.get(column.replace("implied_", "")))
            assert (text == expected) if isinstance(expected, str) else (float(text) == expected), (row, column)


def test_the_columns_of_the_contract():
    done = call("occupancy", "--batch", text=b"threads,cc\n128,9.0\n")
    assert done.stdout.decode() == (
        "threads,cc,blocks_per_sm,theoretical_occupancy,limiters,slots,waves,tail_waste,error\n"
        "128,9.0,16,1,threads,,,,\n")


def test_absent_columns_are_0_and_threads_must_be_there():
    assert batch("occupancy", "cc\n9.0\n")[0]["error"] == "threads: is missing; give a whole number from 1 to 1024"
    assert batch("occupancy", "threads\n32\n")[0]["error"] == "cc: is missing; give it or a device"


@pytest.mark.parametrize("row, named", [
    ("9.0,0,32", "threads '0'"), ("9.0,-1,32", "threads '-1'"), ("9.0,1025,32", "threads '1025'"),
    ("9.0,64,256", "registers '256'"), ("9.0,64,nan", "registers 'nan'"), ("9.0,64,inf", "registers 'inf'"),
    ("9.0,64,1e3", "registers '1e3'"), ("9.0,64,0x10", "registers '0x10'"), ("9.0,64,32.5", "registers '32.5'"),
    ("9.0,64,99999999999999999999999999", "registers '9999"), ("9.0,64,18446744073709551648", "registers '18446"),
    ("3.5,64,32", "cc '3.5'"), ("13.0,64,32", "cc '13.0'"), ("nine,64,32", "cc 'nine'"), ("9.00000001,64,32", "cc '9.0"),
    ("9.0,64", "2 fields where the header names 3"), ("9.0,64,32,1", "4 fields where the header names 3"),
    ("9.0,64,3\x002", "a NUL byte"), ("9.0,64,\x1b[2J", "registers '"),
])
def test_a_row_that_makes_no_sense_has_only_an_error(row, named):
    first, bad, last = batch("occupancy", f"cc,threads,registers\n9.0,128,40\n{row}\n9.0,128,40\n")
    assert first["blocks_per_sm"] == last["blocks_per_sm"] == "12" and first["error"] == ""
    assert named in bad["error"]
    assert all(bad[column] == "" for column in
               ["blocks_per_sm", "theoretical_occupancy", "limiters", "slots", "waves", "tail_waste"])


def test_zero_blocks_is_an_answer():
    row, = batch("occupancy", "cc,threads,registers\n9.0,800,80\n")
    assert (row["blocks_per_sm"], row["limiters"], row["error"]) == ("0", "registers", "")


@pytest.mark.parametrize("text", [
    "cc,threads,registers\r\n9.0,128,40\r\n",
    "cc,threads,registers\n9.0,128,40",
    "\ufeffcc,threads,registers\n9.0,128,40\n",
    '"cc","threads","registers"\n"9.0","128","40"\n',
    "cc, threads ,\tregisters\n 9.0 , 128 ,40 \n",
    "\n\ncc,threads,registers\n\n9.0,128,40\n\n\n",
    "cc,threads,registers\nsm_90,+128,40.0\n",
    "cc,threads,registers\n90,128,40\n",
])
def test_csv_as_tools_write_it(text):
    row, = batch("occupancy", text)
    assert (row["blocks_per_sm"], row["limiters"], row["error"]) == ("12", "registers", "")


def test_quoted_fields_come_back_quoted():
    text = 'name,cc,threads\n"a, ""b""\nc",9.0,32\n'
    row, = batch("occupancy", text)
    assert row["name"] == 'a, "b"\nc' and row["blocks_per_sm"] == "32"


NO_TABLES = {
    "empty": ("", "the input is empty"),
    "blank lines": ("\n\n", "the input is empty"),
    "unknown column": ("cc,threads,regs\n9.0,32,32\n",
                       "'regs': no such column; there are cc, device, threads, registers"),
    "column twice": ("cc,cc\n9.0,9.0\n", "'cc': named twice"),
    "column without name": ("cc,,threads\n9.0,,32\n", "'': no such column"),
    "endless quote": ("cc,threads\n9.0,\"" + "x" * 3000000, "more than 1 MiB"),
    "too many columns": ("cc" + "," * 400 + "\n", "256 fields"),
}


@pytest.mark.parametrize("kind", NO_TABLES)
def test_tables_that_are_none_end_in_one_line(kind):
    text, message = NO_TABLES[kind]
    done = call("occupancy", "--batch", text=text.encode())
    assert done.returncode in (2, 3)
    assert done.stderr.count(b"\n") == 1 and message in done.stderr.decode()


def test_a_header_alone_is_a_table():
    assert call("waves", "--batch", text=b"grid\n").stdout.startswith(b"grid,slots,waves,")


def test_options_hold_for_rows_that_do_not_say():
    rows = batch("occupancy", "threads,registers\n128,40\n", "--device", "h200", "--grid", "1584")
    assert rows[0]["slots"] == "1584" and rows[0]["waves"] == "1"


def test_a_table_from_and_to_files(tmp_path):
    (tmp_path / "in.csv").write_text("grid,sms,blocks_per_sm\n265,132,2\n")
    warpwatch("model", "waves", "--batch", tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1].startswith("265,132,2,264,")
    done = call("waves", "--batch", tmp_path / "none.csv", "-o", tmp_path / "none.out")
    assert done.returncode == 3 and b"none.csv" in done.stderr and not (tmp_path / "none.out").exists()


def test_a_full_disk_is_reported():
    done = call("waves", "--batch", "-o", "/dev/full", text=b"grid,sms,blocks_per_sm\n1,1,1\n")
    assert done.returncode == 3 and b"No space left" in done.stderr


def test_many_rows(tmp_path):
    count = 10 ** 7 if LONG else 2 * 10 ** 5
    with open(tmp_path / "in.csv", "w") as file:
        file.write("threads,registers,grid\n")
        for i in range(0, count, 1000):
            file.write("".join(f"{1 + j % 1024},{j % 256},{j + 1}\n" for j in range(i, i + 1000)))
    warpwatch("model", "occupancy", "--device", "b200", "--batch", tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    with open(tmp_path / "out.csv") as file:
        lines = sum(1 for line in file if line.count(",") == 9)
    assert lines == count + 1


# --- what is wrong --------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, option, accepted", [
    ("occupancy --cc 9.0 --registers 32 --threads 0", "--threads '0'", "from 1 to 1024"),
    ("occupancy --cc 9.0 --registers 32 --threads -5", "--threads '-5'", "from 1 to 1024"),
    ("occupancy --cc 9.0 --registers 32 --threads 1025", "--threads '1025'", "from 1 to 1024"),
    ("occupancy --cc 9.0 --registers 32", "--threads", "from 1 to 1024"),
    ("occupancy --cc 9.0 --threads 32", "--registers", "from 0 to 255"),
    ("occupancy --cc 9.0 --threads 32 --registers", "--registers", "from 0 to 255"),
    ("occupancy --cc 9.0 --threads 32 --registers 256", "--registers '256'", "from 0 to 255"),
    ("occupancy --threads 32 --registers 32", "--cc", "device"),
    ("occupancy --cc 4.2 --threads 32 --registers 32", "--cc '4.2'", "5.0, 5.2"),
    ("occupancy --cc 99 --threads 32 --registers 32", "--cc '99'", "5.0, 5.2"),
    ("occupancy --device h2000 --threads 32 --registers 32", "--device 'h2000'", "h200"),
    ("occupancy --cc 8.0 --device h200 --threads 32 --registers 32", "--cc", "9.0"),
    ("occupancy --cc 9.0 --threads 32 --registers 32 --static-shared 49153", "--static-shared", "from 0 to 49152"),
    ("occupancy --cc 9.0 --threads 32 --registers 32 --dynamic-shared 232449", "--dynamic-shared", "to 232448"),
    ("occupancy --cc 9.0 --threads 32 --registers 32 --barriers 17", "--barriers '17'", "from 0 to 16"),
    ("occupancy --cc 9.0 --threads 32 --registers 32 --carveout 101", "--carveout '101'", "to 100"),
    ("occupancy --cc 9.0 --threads 32 --registers 32 --grid 0", "--grid '0'", "from 1"),
    ("occupancy --cc 9.0 --threads 32 --registers 32 --grid 1x70000", "--grid '1x70000'", "65535"),
    ("occupancy --cc 9.0 --threads 32 --registers 32 --cluster 17", "--cluster '17'", "from 1 to 16"),
    ("occupancy --cc 9.0 --threads 32 --registers 32 --grid 3 --cluster 2", "--grid", "multiple"),
    ("occupancy --cc 8.0 --threads 32 --registers 32 --cluster 2", "--cluster", "9.0"),
    ("waves --grid 5 --sms 0 --blocks-per-sm 1", "--sms '0'", "from 1"),
    ("waves --grid 5 --sms 1", "--blocks-per-sm", "from 1"),
    ("waves --sms 1 --blocks-per-sm 1", "--grid", "utilization"),
    ("waves --utilization 0 --sms 1 --blocks-per-sm 1", "--utilization '0'", "above 0 and up to 1"),
    ("waves --utilization 1.01 --sms 1 --blocks-per-sm 1", "--utilization '1.01'", "up to 1"),
    ("waves --utilization nan --sms 1 --blocks-per-sm 1", "--utilization 'nan'", "up to 1"),
    ("advise --device h200 --registers 32", "--elements", "from 1"),
    ("advise --device h200 --registers 32 --elements 0", "--elements '0'", "from 1"),
    ("advise --cc 9.0 --registers 32 --elements 5", "--sms", "device"),
    ("advise --registers 32 --elements 5", "--cc", "device"),
    ("advise --device h200 --sms 7 --registers 32 --elements 5", "--sms", "132"),
    ("advise --device h200 --registers 32 --elements 5 --latency 400", "--instructions-between-stalls", "together"),
    ("divergence", "--lane-probability", "split"),
    ("divergence --lane-probability 1.5", "--lane-probability '1.5'", "from 0 to 1"),
    ("divergence --split 33", "--split '33'", "from 0 to 32"),
    ("divergence --lane-probability 0.5 --split 3", "--lane-probability", "one of"),
    ("divergence --split 3 --pattern aligned", "--pattern", "lane probability"),
    ("divergence --lane-probability 0.5 --pattern odd", "--pattern 'odd'", "random, interleaved or aligned"),
    ("divergence --lane-probability 0.5 --then-cost -1", "--then-cost '-1'", "from 0"),
    ("coalescing --stride 1", "--element-bytes", "from 1 to 128"),
    ("coalescing --stride -1 --element-bytes 4", "--stride '-1'", "from 0"),
    ("banks --stride 1 --word-bytes 3", "--word-bytes '3'", "1, 2, 4, 8 or 16"),
    ("banks --strid 1", "'--strid'", "--help"),
    ("bank --stride 1", "'bank'", "occupancy, waves"),
    ("", "''", "occupancy, waves"),
    ("banks --stride 1 -o", "-o", "file name"),
    ("banks --json --batch", "--json", "CSV"),
    ("banks --stride 1 --devices", "--devices", "file name"),
    ("banks --stride 1 extra", "'extra'", "--help"),
    ("waves --grid 5 --device h200 --sms 7 --blocks-per-sm 1", "--sms", "132"),
    ("advise --device h200 --cc 8.0 --registers 32 --elements 5", "--cc", "9.0, which is that of h200"),
    ("divergence --lane-probability inf", "--lane-probability 'inf'", "from 0 to 1"),
    ("divergence --lane-probability 0x1p-1", "--lane-probability '0x1p-1'", "from 0 to 1"),
    ("advise --device h200 --registers 32 --elements 99999999999999999999", "--elements '9999", "from 1"),
])
def test_bad_input_is_one_line_with_option_and_range(arguments, option, accepted):
    done = call(*arguments.split())
    assert done.returncode == 2 and done.stdout == b""
    message = done.stderr.decode()
    assert message.startswith("warpwatch: ") and message.count("\n") == 1
    assert option in message and accepted in message


@pytest.mark.parametrize("name", MODELS)
def test_help_lists_every_option(name):
    text = warpwatch("model", name, "--help")
    assert "--json" in text and "--batch" in text and f"warpwatch model {name}" in text


def test_json_holds_no_nan_and_whole_integers():
    text = warpwatch("model", "waves", "--json", *options(grid="2147483647x65535x65535", sms=132, blocks_per_sm=32))
    answer = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert answer["full_waves"] == 2147483647 * 65535 * 65535 // (132 * 32)
