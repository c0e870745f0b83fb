"""warpwatch doctor: each obstacle is named with its way out, and nothing is said against what works."""
import json
import shutil
import subprocess

import pytest

from support import LIBRARY, WARPWATCH, clean_environment, warpwatch


def lines(*arguments, **variables):
    found = {}
    for line in json.loads(warpwatch("doctor", "--json", *arguments, **variables)):
        found.setdefault(line["subject"], []).append(line)
    return found


def the(found, subject):
    (line,) = found[subject]
    return line["level"], line["found"], line["way_out"]


def test_what_works_is_said_in_one_line_each(tmp_path):
    found = lines("sh", WARPWATCH_OUTPUT=tmp_path)
    assert the(found, "library") == ("ok", str(LIBRARY), None)
    assert the(found, "LD_PRELOAD")[0] == the(found, "output")[0] == the(found, "program")[0] == "ok"


def test_an_output_directory_that_is_not_there(tmp_path):
    level, text, way_out = the(lines(WARPWATCH_OUTPUT=tmp_path / "none" / "at all"), "output")
    assert level == "problem" and "No such file" in text and "WARPWATCH_OUTPUT" in way_out
    level, text, _ = the(lines(WARPWATCH_OUTPUT=tmp_path / "none"), "output")
    assert level == "ok" and text.endswith("none, made at the first launch") and not (tmp_path / "none").exists()


def test_a_script_is_followed_to_its_interpreter(tmp_path):
    script = tmp_path / "train"
    script.write_text("#!/usr/bin/env -S FOO=1 sh\n")
    script.chmod(0o755)
    level, text, _ = the(lines(script), "program")
    assert level == "ok" and "/sh can be preloaded" in text


def test_a_static_program(tmp_path):
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", "-o", tmp_path / "a", source], check=True)
    level, text, way_out = the(lines(tmp_path / "a"), "program")
    assert level == "problem" and "statically linked" in text and way_out


def test_a_program_for_musl(tmp_path):
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1", "-o", tmp_path / "a", source], check=True)
    level, text, way_out = the(lines(tmp_path / "a"), "program")
    assert level == "problem" and "musl" in text and "LD_PRELOAD" in way_out


def test_a_set_uid_program(tmp_path):
    copy = tmp_path / "sh"
    shutil.copy(shutil.which("sh"), copy)
    copy.chmod(0o4755)
    level, text, _ = the(lines(copy), "program")
    assert level == "problem" and "raised privileges" in text


def test_what_is_no_program(tmp_path):
    (tmp_path / "text").write_text("hello")
    assert the(lines(tmp_path / "text"), "program")[0] == "problem"
    assert the(lines("no-such-program-anywhere"), "program")[0] == "problem"
    loop = tmp_path / "loop"
    loop.write_text(f"#!{loop}\n")
    assert the(lines(loop), "program")[0] == "problem"


@pytest.mark.parametrize("variable", ["CUDA_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID"])
def test_an_attached_profiler_is_named(variable):
    level, text, _ = the(lines(**{variable: "something"}), "profilers")
    assert level == "note" and variable in text


def test_the_devices_of_the_driver(simulated):
    run = simulated([WARPWATCH, "doctor"], preload=None, device="h200,a100")
    assert "NVIDIA H200 (simulated)" in run.stdout and "A100" in run.stdout


def test_a_wrong_option_is_a_usage_error():
    done = subprocess.run([WARPWATCH, "doctor", "--jsn"], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 2 and done.stderr.count("\n") == 1
