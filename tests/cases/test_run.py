"""warpwatch run and warpwatch path: the program as if started directly, its stores reported by the parent."""
import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

import support
from support import LIBRARY, SAMPLES, SIMULATED, WARPWATCH, clean_environment

pytestmark = pytest.mark.unsanitized("its runtime starts no shell, and a command that waits gets signals late", only="thread")


def run(directory, *arguments, under_simulation=False, **options):
    environment = clean_environment(**options.pop("variables", {}))
    command = [str(WARPWATCH), "run", *map(str, arguments)]
    if under_simulation:
        command = [*SIMULATED, *command]
    return subprocess.run(command, capture_output=True, text=True, cwd=directory, env=environment, timeout=120, **options)


def test_path_is_the_library():
    assert support.warpwatch("path").strip() == str(LIBRARY)


def test_the_report_of_a_sample_program_beside_its_store(tmp_path):
    done = run(tmp_path, "--", SAMPLES / "vecadd", under_simulation=True)
    assert done.returncode == 0
    (store,) = tmp_path.glob("*.ww")
    (report,) = tmp_path.glob("*.txt")
    assert report.name == store.name + ".txt" and "vector_add" in report.read_text()
    assert done.stderr == f"warpwatch: report in {report}\n"
    plain = subprocess.run([*SIMULATED, str(SAMPLES / "vecadd")], capture_output=True, text=True, env=clean_environment())
    assert done.stdout == plain.stdout


@pytest.mark.parametrize("name, suffix", [("json", "json"), ("csv", "csv"), ("html", "html"), ("text", "txt")])
def test_format_and_directory(tmp_path, name, suffix):
    done = run(tmp_path, "-o", "out", "--format", name, SAMPLES / "vecadd", under_simulation=True)
    (report,) = (tmp_path / "out").glob(f"*.{suffix}")
    assert done.returncode == 0 and "vector_add" in report.read_text()
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


def test_all_stores_of_the_process_tree_and_none_that_was_there_before(tmp_path):
    run(tmp_path, SAMPLES / "tiny", under_simulation=True)
    script = f"{SAMPLES}/vecadd >/dev/null; {SAMPLES}/tail >/dev/null & wait"
    done = run(tmp_path, "--format", "json", "--", "sh", "-c", script, under_simulation=True)
    assert done.returncode == 0
    (report,) = tmp_path.glob("*.json")
    report = json.loads(report.read_text())
    assert len(report["processes"]) == 2
    assert {kernel["mangled"] for kernel in report["kernels"]}.isdisjoint({"add_one"})


def test_runs_at_once_in_one_directory_report_their_own_processes(tmp_path):
    """Each waits with its report until all have written their stores."""
    names = ["vecadd", "tail", "oddblock"]
    barrier = " ".join(f"{tmp_path}/{name}.done" for name in names)
    runs = {}
    for name in names:
        script = (f"{SAMPLES}/{name} >/dev/null; {SAMPLES}/{name} >/dev/null; touch {tmp_path}/{name}.done; "
                  f"for f in {barrier}; do until [ -e $f ]; do sleep 0.01; done; done")
        runs[name] = subprocess.Popen([*SIMULATED, str(WARPWATCH), "run", "-o", str(tmp_path), "--format", "json",
                                       "--", "sh", "-c", script], stderr=subprocess.PIPE, text=True, env=clean_environment())
    for name, process in runs.items():
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0
        path = said.strip().removeprefix("warpwatch: report in ")
        report = json.loads(open(path).read())
        assert [name in each["command"] for each in report["processes"]] == [True, True], name
    assert len(list(tmp_path.glob("*.ww"))) == 6


def test_an_output_directory_that_is_not_there_is_made(tmp_path):
    done = support.run_simulated([SAMPLES / "vecadd"], tmp_path, WARPWATCH_OUTPUT=tmp_path / "new", WARPWATCH_REPORT="none")
    assert done.stderr == "" and len(list((tmp_path / "new").glob("*.ww"))) == 1


def test_a_longer_path_that_is_not_there_is_one_line(tmp_path):
    missing = tmp_path / "no" / "such"
    done = support.run_simulated([SAMPLES / "vecadd"], tmp_path, status=None, WARPWATCH_OUTPUT=missing, WARPWATCH_REPORT="none")
    assert done.status == 0 and not missing.parent.exists()
    first, *rest = done.stderr.splitlines()
    assert first.startswith("warpwatch: ") and str(missing) in first and "No such file" in first and len(rest) <= 1


def test_on_a_terminal_the_report_is_shown_on_stderr_and_stdout_is_the_programs(tmp_path):
    reader, writer = support.a_terminal()
    done = subprocess.run([*SIMULATED, str(WARPWATCH), "run", str(SAMPLES / "vecadd")], stdout=subprocess.PIPE,
                          stderr=writer, cwd=tmp_path, env=clean_environment(LANG="C.UTF-8", TERM="dumb"))
    os.close(writer)
    shown = support.read_terminal(reader)
    assert b"WHAT WASTES THE GPU" in shown and b"WHAT WASTES" not in done.stdout and b"launch kernel=" in done.stdout


def test_a_program_without_launches_leaves_nothing(tmp_path):
    done = run(tmp_path, "--", "echo", "hello")
    assert done.returncode == 0 and done.stdout == "hello\n" and list(tmp_path.iterdir()) == []
    assert done.stderr == "warpwatch: no kernel launch was seen\n"
    assert run(tmp_path, "echo", variables={"WARPWATCH_QUIET": "1"}).stderr == ""


SEGV = pytest.param("kill -SEGV $$", 139, marks=pytest.mark.unsanitized("its runtime takes this signal"))


@pytest.mark.parametrize("script, status", [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -9 $$", 137), SEGV,
                                            ("kill -TERM $$", 143)])
def test_the_exit_status_is_the_programs(tmp_path, script, status):
    assert run(tmp_path, "sh", "-c", script).returncode == status


def test_a_command_that_cannot_start(tmp_path):
    done = run(tmp_path, "no-such-program")
    assert done.returncode == 127 and done.stderr.count("\n") == 1 and "'no-such-program'" in done.stderr
    (tmp_path / "plain").write_text("no program")
    done = run(tmp_path, "./plain")
    assert done.returncode == 126 and done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["--"], ["--format", "xml", "true"], ["--nonsense", "true"], ["-o"],
                                       ["-o", "/proc/nowhere", "true"]])
def test_a_wrong_option_is_one_line_and_status_2(tmp_path, arguments):
    done = run(tmp_path, *arguments)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1


def test_the_environment_of_the_program(tmp_path):
    done = run(tmp_path, "--timing", "--counters", "--trace", "-o", "out", "--", "env",
               variables={"LD_PRELOAD": "/other.so", "KEPT": "yes"})
    seen = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert seen["LD_PRELOAD"] == f"{LIBRARY}:{support.preloaded('/other.so')}" and seen["KEPT"] == "yes"
    assert seen["WARPWATCH_OUTPUT"] == str(tmp_path / "out")
    assert [seen[f"WARPWATCH_{name}"] for name in ("TIMING", "COUNTERS", "TRACE", "REPORT")] == ["1", "1", "1", "none"]


def test_stdin_reaches_the_program(tmp_path):
    assert run(tmp_path, "cat", input="through").stdout == "through"


# Waits for a blocked signal: a handler could interrupt the print before it, or come just before a pause that then never ends.
CATCHER = """
import signal, sys
signals = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
print("ready", flush=True)
print(signal.Signals(signal.sigwait(signals)).name)
sys.exit(3)
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"])
def test_signals_reach_the_program(tmp_path, name):
    number = getattr(signal, name)
    child = subprocess.Popen([str(WARPWATCH), "run", sys.executable, "-c", CATCHER], stdout=subprocess.PIPE, text=True,
                             stderr=subprocess.DEVNULL, cwd=tmp_path, env=clean_environment(),
                             preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # nohup leaves it ignored
    assert child.stdout.readline() == "ready\n"
    child.send_signal(number)
    assert child.stdout.read() == f"{name}\n" and child.wait() == 3


def test_a_key_of_the_terminal_reaches_the_program_once(tmp_path):
    counter = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})\nprint('ready', flush=True)\n" \
              "signal.sigwait({signal.SIGINT})\nagain = signal.sigtimedwait({signal.SIGINT}, 0.5)\n" \
              "print('twice' if again else 'once', flush=True)\n"
    pid, terminal = support.a_terminal(pty.fork)
    if pid == 0:
        os.chdir(tmp_path)
        os.execve(str(WARPWATCH), [str(WARPWATCH), "run", sys.executable, "-c", counter], clean_environment())
    shown = b""
    while b"ready" not in shown:
        shown += os.read(terminal, 1024)
    os.write(terminal, b"\x03")
    shown += support.read_terminal(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert shown.split(b"ready")[1].replace(b"^C", b"").split()[0] == b"once"


def test_killing_the_runner_kills_the_program(tmp_path):
    child = subprocess.Popen([str(WARPWATCH), "run", "sh", "-c", "echo $$; exec sleep 1000"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, cwd=tmp_path, env=clean_environment())
    pid = int(child.stdout.readline())
    child.kill()
    child.wait()
    deadline = time.monotonic() + 60
    while os.path.exists(f"/proc/{pid}") and open(f"/proc/{pid}/stat").read().split(")")[1].split()[0] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.01)
