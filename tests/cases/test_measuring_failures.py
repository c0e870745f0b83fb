"""docs/measuring-failures.md: every failure is played, and the line that the page shows is the line that a person reads."""
import ctypes
import os
import re
import subprocess

import pytest

import support

SCENARIO = support.BUILD / "tests" / "cupti_scenario"
PAGE = (support.ROOT / "docs" / "measuring-failures.md").read_text()
ROWS = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in PAGE.splitlines()
        if re.match(r"\| .* \| (timing|counters) \| `", line)]
OLD = support.BUILD / "simcuda" / "cupti12"


def complaints_in(output):
    return [line.removeprefix("complaint ") for line in output.splitlines() if line.startswith("complaint ")]


def complaints(mode, **variables):
    environment = support.clean_environment(LD_LIBRARY_PATH=support.BUILD / "simcuda", **variables)
    done = subprocess.run([SCENARIO, mode, "50"], capture_output=True, text=True, env=environment, timeout=60)
    return complaints_in(done.stdout)


def shown(text):
    """Is it on the page as what somebody reads?"""
    return f"| {text} |" in PAGE


def test_the_page_has_them_all():
    assert len(ROWS) >= 29


@pytest.mark.parametrize("what,mode,script,line", ROWS, ids=[row[0] + " " + row[2] for row in ROWS])
def test_the_page_shows_what_is_said(what, mode, script, line):
    variables = dict(item.split("=", 1) for item in script.strip("`").split())
    variables = {name: value.replace("…/", f"{OLD}/") for name, value in variables.items()}
    said = [text.replace(str(OLD), "…") for text in complaints(mode, **variables)]
    assert said == ([] if line.startswith("nothing") else [line])


def test_a_tool_in_the_process_is_named(tmp_path):
    tool = tmp_path / "libToolsInjection64.so"
    subprocess.run(["cc", "-shared", "-xc", "/dev/null", "-o", tool], check=True)
    (said,) = complaints("counters", LD_PRELOAD=tool)
    assert said.endswith("Nsight Systems is attached to this process: run without it") and shown(said)


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
PTRACE_TRACEME, PTRACE_CONT = 0, 7


def be_traced():
    if LIBC.ptrace(PTRACE_TRACEME, 0, None, None):
        raise OSError(ctypes.get_errno(), "ptrace")


def run_to_the_end(pid):
    """As a debugger does: each signal stops the program, and is passed on; not the one that tells of its exec."""
    os.waitpid(pid, 0)
    LIBC.ptrace(PTRACE_CONT, pid, None, None)
    _, status = os.waitpid(pid, 0)
    while os.WIFSTOPPED(status):
        LIBC.ptrace(PTRACE_CONT, pid, None, os.WSTOPSIG(status))
        _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def test_a_debugger_is_noticed(tmp_path):
    environment = support.clean_environment(LD_LIBRARY_PATH=support.BUILD / "simcuda")
    with open(tmp_path / "output", "w") as output:
        try:
            program = subprocess.Popen([SCENARIO, "counters", "50"], stdout=output, env=environment, preexec_fn=be_traced)
        except subprocess.SubprocessError:
            pytest.skip("this machine allows no ptrace")
        assert run_to_the_end(program.pid) == 0
        program.returncode = 0  # it has been waited for
    (said,) = complaints_in((tmp_path / "output").read_text())
    assert shown(said) and "a debugger is attached" in said
