"""The wheel: for any Linux with glibc 2.17, whole in itself, in an environment that holds nothing else."""
import os
import re
import subprocess

import pytest

from support import BUILD, SAMPLES, assert_same_launches, clean_environment, counts_of_output, report, run_simulated

TOOLS = BUILD / "venv" / "wheel" / "bin"


@pytest.fixture(scope="module")
def wheel():
    made = list((BUILD / "packages").glob("*.whl"))
    assert len(made) == 1, "no wheel was made: see build/wheel.log"
    return made[0]


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A new virtual environment with the wheel, installed without network."""
    directory = tmp_path_factory.mktemp("venv") / "environment"
    subprocess.run([TOOLS / "python", "-m", "venv", directory], check=True)
    subprocess.run([directory / "bin" / "pip", "install", "--quiet", "--no-index", "--no-deps", wheel], check=True)
    return directory


def call(environment, *command, **variables):
    path = f"{environment}/bin:/usr/bin:/bin"
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**clean_environment(**variables), "PATH": path})


def test_auditwheel_calls_it_manylinux_2_17(wheel):
    done = subprocess.run([TOOLS / "python", "-m", "auditwheel", "show", wheel], capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{TOOLS}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    assert "manylinux_2_17_x86_64" in done.stdout and "py3-none-manylinux" in wheel.name, done.stdout


def test_no_symbol_is_newer_and_only_glibc_is_asked_for(environment):
    files = [path for path in environment.glob("lib/python3*/site-packages/warpwatch*/**/*")
             if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    assert {"warpwatch", "libwarpwatch.so", "libwarpwatch_cupti.so"} <= {path.name for path in files}
    own = {path.name for path in files}
    for path in files:
        symbols = subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=True).stdout
        assert all(int(minor) <= 17 for minor in re.findall(r"GLIBC_2\.(\d+)", symbols)), path
        needed = re.findall(r"NEEDED +(\S+)", subprocess.run(["objdump", "-p", path], capture_output=True, text=True,
                                                             check=True).stdout)
        assert all(name in own or re.match(r"(libc|libm|libdl|libpthread|librt|ld-linux-x86-64)\.so", name)
                   for name in needed), (path, needed)


def test_the_command_the_module_and_the_manual(environment):
    asked = call(environment, "warpwatch", "--version")
    assert asked.returncode == 0 and asked.stdout.startswith("warpwatch ")
    assert call(environment, "python", "-m", "warpwatch", "--version").stdout == asked.stdout
    missing = call(environment, "warpwatch", "report", environment / "none")
    assert missing.returncode == 3 and missing.stderr.count("\n") == 1
    assert (environment / "share" / "man" / "man1" / "warpwatch.1.gz").exists()
    assert (environment / "share" / "bash-completion" / "completions" / "warpwatch").exists()


def test_run_in_the_environment(environment, tmp_path):
    """Its library counts, and its command reports."""
    run = run_simulated([environment / "bin" / "warpwatch", "run", "--", SAMPLES / "graph"], tmp_path, preload=None)
    assert_same_launches(counts_of_output(run.stdout), run.report_counts)
    page, = run.output.glob("*.txt")
    done = call(environment, "python", "-m", "warpwatch", "report", run.output)
    assert done.returncode == 0 and done.stdout == page.read_text()
    assert report(run.output)["totals"]["graph_launches"] > 0
