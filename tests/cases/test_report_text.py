"""The text report: golden pages for the sample programs, the terminal's wishes, hostile names, damage, and exit status.

WARPWATCH_UPDATE_GOLDEN=1 rewrites the golden pages: read them as a user would before committing."""
import os
import pathlib
import re
import subprocess

import pytest

import store_files
import support
from store_files import Store
from support import SAMPLES, WARPWATCH, clean_environment, warpwatch

GOLDEN = pathlib.Path(__file__).with_name("golden")
PAGES = ["banks", "cluster", "cooperative", "decode", "divergence", "graph", "library", "modules", "oddblock", "registers",
         "shared", "strided", "tail", "threads", "tiny", "vecadd"]


def call(*arguments, **variables):
    return subprocess.run([str(WARPWATCH), *map(str, arguments)], capture_output=True, text=True,
                          env=clean_environment(**{"LANG": "C.UTF-8", **variables}))


def steady(text):
    """Without what differs from run to run: the program's path, when and how long, own cost, rates."""
    text = re.sub(r"^/.*/(\w+)$", r"\1", text, count=1, flags=re.M)
    text = re.sub(r"^\d{4}-\d\d-\d\d .* on .*$", "DATE · DURATION · process PID on HOST", text, count=1, flags=re.M)
    text = re.sub(r"^Launch calls took .*$", "LAUNCH CALLS", text, count=1, flags=re.M)
    text = re.sub(r"Watching .* in all\.", "COST.", text, count=1)
    rate = r"[\d,]+\s+a\s+second;\s+the\s+GPU\s+holds\s+([\d,]+)\s+such\s+blocks\s+at\s+once\."
    return re.sub(rate, r"RATE a second; the GPU holds \1 such blocks at once.", text)


@pytest.mark.parametrize("sample", PAGES)
def test_the_page_of_each_sample_program(simulated, sample):
    run = simulated([SAMPLES / sample], WARPWATCH_REPORT="none")
    page = steady(call("report", run.output).stdout)
    golden = GOLDEN / f"{sample}.txt"
    if os.environ.get("WARPWATCH_UPDATE_GOLDEN") == "1":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(page)
    assert page == golden.read_text()


@pytest.mark.parametrize("sample", ["decode", "registers", "cluster"])
def test_no_line_is_wider_than_80_columns_or_ends_in_a_blank(simulated, sample):
    run = simulated([SAMPLES / sample])
    for arguments in ([], ["--device", "t4"]):
        for line in call("report", *arguments, run.output).stdout.splitlines()[1:]:
            assert len(line) <= 80 and line == line.rstrip(), line


# --- the terminal --------------------------------------------------------------------------------------------

@pytest.fixture
def store(tmp_path):
    store = Store()
    store.device()
    store.count(store_files.DIRECT, store.configuration(store.kernel("_Z5scalePfi"), grid=(4, 1, 1), block=(100, 1, 1)), 3)
    return store.save(tmp_path)


def on_a_terminal(*arguments, **variables):
    reader, writer = support.a_terminal()
    environment = clean_environment(**{"LANG": "C.UTF-8", "TERM": "xterm", **variables})
    done = subprocess.run([str(WARPWATCH), *map(str, arguments)], stdout=writer, env=environment)
    os.close(writer)
    output = support.read_terminal(reader)
    assert done.returncode == 0
    return output.decode()


def test_colour_on_a_terminal_only_and_not_against_the_users_wish(store):
    assert "\x1b[" in on_a_terminal("report", store)
    assert "\x1b" not in on_a_terminal("report", store, NO_COLOR="1")
    assert "\x1b" not in on_a_terminal("report", store, TERM="dumb")
    assert "\x1b" not in call("report", store).stdout


def test_ascii_where_the_locale_is_not_utf8(store):
    page = call("report", store, LANG="C", LC_ALL="C").stdout
    assert page.isascii() and "4 x 100" in page
    assert [len(line) for line in page.splitlines()] == [len(line) for line in call("report", store).stdout.splitlines()]


# --- hostile names -------------------------------------------------------------------------------------------

HOSTILE = ["\x1b[2J\x1b[31mred", "tab\tand\nnewline", "\u202egnp.kernel", "zero\u200bwidth", "\u2066isolate",
           "</script><script>alert(1)</script>", "\"quoted\", comma", "x" * 5000, "日本語カーネル", "", "a" * 60 + "\u0301"]


@pytest.fixture
def hostile(tmp_path):
    store = Store(command=b"evil\x1b[2J\0\xff\xfe\0")
    store.device(name=b"GPU \x1b[2J\xe2\x80\xae")
    for name in HOSTILE:
        store.count(store_files.DIRECT, store.configuration(store.kernel(name)), 1)
    store.count(store_files.DIRECT, store.configuration(store.kernel(b"\xff\xfe\x80 not utf-8")), 1)
    return store.save(tmp_path)


def test_hostile_names_are_made_visible(hostile):
    page = call("report", "--top", "50", hostile).stdout
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", page)
    assert "\\x1b[2J" in page and "\\u202e" in page and "\\u200b" in page and "\\xff" in page
    assert "日本語カーネル" in page


def test_hostile_names_are_data_in_json_and_csv(hostile):
    import csv
    import io
    import json
    report = json.loads(warpwatch("report", "--format", "json", hostile))
    names = {kernel["mangled"] for kernel in report["kernels"]}
    assert set(HOSTILE) <= names and "\\xff\\xfe\\x80 not utf-8" in names
    short_names = [kernel["short_name"] for kernel in report["kernels"]]
    assert len(set(short_names)) == len(short_names)
    rows = list(csv.DictReader(io.StringIO(warpwatch("report", "--format", "csv", hostile), newline="")))
    assert {row["mangled"] for row in rows} == names


# --- damage --------------------------------------------------------------------------------------------------

def test_a_damaged_store_among_good_ones_is_named_and_the_rest_reported(tmp_path, store):
    (tmp_path / "foreign.ww").write_bytes(b"nothing of ours" * 1000)
    cut = tmp_path / "cut.ww"
    cut.write_bytes(store.read_bytes()[:-4096])
    other = Store(pid=2)
    other.device()
    other.count(store_files.DIRECT, other.configuration(other.kernel("whole")), 5)
    other.save(tmp_path)
    done = call("report", tmp_path)
    assert done.returncode == 0 and "whole" in done.stdout
    lines = done.stderr.splitlines()
    assert any("foreign.ww" in line and "not a warpwatch store" in line for line in lines), lines
    assert all(line.startswith("warpwatch: ") for line in lines)


def test_a_cut_store_says_what_is_missing(tmp_path, store):
    cut = tmp_path / "other" / "cut.ww"
    cut.parent.mkdir()
    cut.write_bytes(store.read_bytes()[:-4096])
    done = call("report", cut)
    assert done.returncode == 0 and done.stderr.count("\n") == 1 and "cut: " in done.stderr
    assert "cut: " in done.stdout


@pytest.mark.parametrize("content", [b"", b"WARPWTCH", b"WARPWTCH\x02\0\0\0" + bytes(8192), b"x" * 10000])
def test_nothing_readable_is_one_line_and_exit_status_3(tmp_path, content):
    path = tmp_path / "bad.ww"
    path.write_bytes(content)
    done = call("report", path)
    assert done.returncode == 3 and done.stdout == "" and done.stderr.count("\n") == 1 and str(path) in done.stderr


def test_paths_that_lead_nowhere(tmp_path):
    for path in (tmp_path / "missing", tmp_path):
        done = call("report", path)
        assert done.returncode == 3 and done.stderr.count("\n") == 1 and str(path) in done.stderr
    os.mkfifo(tmp_path / "pipe.ww")
    assert call("report", tmp_path / "pipe.ww").returncode == 3


def test_a_new_header_version_is_refused_with_a_reason(tmp_path):
    data = bytearray(Store().bytes())
    data[8] = 2
    path = tmp_path / "new.ww"
    path.write_bytes(data)
    done = call("report", path)
    assert done.returncode == 3 and "version 2" in done.stderr


@pytest.mark.parametrize("arguments", [["--format", "xml"], ["--top", "0"], ["--top", "many"], ["--sort", "colour"],
                                       ["--kernel", "("], ["--device", "voodoo2"], ["--nonsense"], ["--top"]])
def test_a_wrong_option_is_one_line_that_names_it_and_exit_status_2(store, arguments):
    done = call("report", *arguments, store)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert arguments[0] in done.stderr


def test_the_report_goes_to_a_file_and_a_full_disk_is_an_error(tmp_path, store):
    output = tmp_path / "report.txt"
    assert call("report", "-o", output, store).stdout == "" and "scale" in output.read_text()
    done = call("report", "-o", "/dev/full", store)
    assert done.returncode != 0 and "No space left" in done.stderr
    done = call("report", "-o", tmp_path / "no" / "such" / "place", store)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_without_a_path_the_output_variable_or_the_current_directory(tmp_path, store):
    assert "scale" in call("report", WARPWATCH_OUTPUT=tmp_path).stdout
    done = subprocess.run([str(WARPWATCH), "report"], capture_output=True, text=True, cwd=tmp_path, env=clean_environment())
    assert "scale" in done.stdout


# --- many processes ------------------------------------------------------------------------------------------

def test_an_odd_rank_is_shown_however_many_findings_cost_more(tmp_path):
    """It has no cost to be ranked by, and is not left out for that."""
    for rank in range(4):
        made = Store(pid=10 + rank, rank=rank)
        device = made.device()
        for kernel in range(12):
            configuration = made.configuration(made.kernel(f"small_{kernel}"), device, block=(256, 1, 1))
            made.count(store_files.DIRECT, configuration, 900 if (rank, kernel) == (2, 5) else 1000)
        made.save(tmp_path)
    page = call("report", tmp_path).stdout
    assert "rank 2 on node1 launched small_5 900 times, 3 other ranks 1,000 times." in page
    assert page.rindex("far too small for the GPU") < page.index("A rank launches a different mix") < page.index("more: --top")


def test_what_ranks_launch_on_equal_devices_is_one_line(tmp_path):
    for rank in range(8):
        store = Store(pid=10 + rank, rank=rank)
        store.device(rank)
        store.count(store_files.DIRECT, store.configuration(store.kernel("step"), grid=(99, 1, 1), block=(256, 1, 1)), 1000)
        store.save(tmp_path)
    page = call("report", tmp_path).stdout
    (line,) = [line for line in page.splitlines() if line.startswith("    99 × 256")]
    assert "8,000" in line and "on 8 GPUs" in page and "8 processes on 1 host" in page
    assert len(re.findall(r"^ +\d +node1 +1,000  NVIDIA H200", page, re.M)) == 8
    assert len(re.findall(r"^ +\d +node1 +1\d +1,000 +0  finished$", page, re.M)) == 8


def test_a_process_in_trouble_is_listed_before_the_others(tmp_path):
    for rank in range(20):
        store = Store(pid=10 + rank, rank=rank, state=1 if rank == 17 else 2)
        store.device()
        store.lost = 5 if rank == 13 else 0
        store.count(store_files.DIRECT, store.configuration(store.kernel("step")), 1)
        store.save(tmp_path)
    page = call("report", tmp_path).stdout
    rows = re.findall(r"^ +(\d+) +node1 +\d+ +\d+ +\d+  (\w+)$", page, re.M)
    assert len(rows) == 8 and ("13", "finished") in rows[:2]
    assert "and 12 more processes" in page and "Lost: 5 launches" in page


def test_filtered_launches_are_counted_and_said_to_be_left_out(simulated):
    run = simulated([SAMPLES / "graph"], WARPWATCH_FILTER="^produce$", WARPWATCH_REPORT="none")
    page = call("report", run.output).stdout
    assert "Left out by WARPWATCH_FILTER: 2,000 launches" in page and "beyond the limit" not in page
    assert run.report["totals"]["launches"] == 3000 and run.report["totals"]["filtered"] == 2000


def test_a_run_of_which_no_shape_is_known_is_not_called_clean(tmp_path):
    store = Store()
    store.device()
    store.count(store_files.FURTHER_DIRECT, store.kernel("(filtered)", valid=8), 5)
    store.save(tmp_path)
    assert "Nothing could be judged" in call("report", tmp_path).stdout
