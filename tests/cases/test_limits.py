"""docs/limits.md: programs that a preloaded library does not reach run as without it, and what the page says of them holds."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
import support

LIMITS = (support.ROOT / "docs" / "limits.md").read_text()

IS_THERE = r"""
#include <stdio.h>
#include <string.h>
int main(void)
{
    char line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        found |= strstr(line, "libwarpwatch.so") != NULL;
    }
    puts(found ? "there" : "not there");
    return 3;
}
"""

WEAK = r"""
#include <stdio.h>
extern int cuLaunchKernel(void *, int, int, int, int, int, int, int, void *, void *, void *) __attribute__((weak));
extern int cuInit(unsigned) __attribute__((weak));
extern int cudaLaunchKernel(void) __attribute__((weak));
int main(void)
{
    int result = cuLaunchKernel ? cuLaunchKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0) : -1;
    printf("cuInit %d cudaLaunchKernel %d cuLaunchKernel %d\n", cuInit != 0, cudaLaunchKernel != 0, result);
}
"""


@pytest.fixture
def folder():
    """One that other users may enter."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


def compiled(text, folder, *options, compiler="cc"):
    source = folder / "program.c"
    source.write_text(text)
    subprocess.run([compiler, *options, "-w", "-o", folder / "program", source], check=True)
    return folder / "program"


def run(command, folder):
    environment = support.clean_environment(LD_PRELOAD=support.LIBRARY, WARPWATCH_OUTPUT=folder)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def as_nobody(program):
    if os.getuid() or not shutil.which("setpriv"):
        pytest.skip("becoming another user takes root and setpriv")
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program]


def test_a_dynamic_program_is_reached(folder):
    done = run([compiled(IS_THERE, folder)], folder)
    assert (done.returncode, done.stdout, done.stderr) == (3, "there\n", "")


def test_a_static_program_runs_unwatched(folder):
    done = run([compiled(IS_THERE, folder, "-static")], folder)
    assert (done.returncode, done.stdout, done.stderr) == (3, "not there\n", "")
    assert "statically linked" in LIMITS


def test_a_set_uid_program_runs_unwatched(folder):
    program = compiled(IS_THERE, folder)
    program.chmod(0o4755)
    done = run(as_nobody(program), folder)
    assert (done.returncode, done.stdout, done.stderr) == (3, "not there\n", "")
    assert "set-uid" in LIMITS


def test_an_emptied_environment_has_no_preload(folder):
    done = run(["env", "-i", compiled(IS_THERE, folder)], folder)
    assert (done.returncode, done.stdout, done.stderr) == (3, "not there\n", "")
    assert "`env -i`" in LIMITS


def test_a_program_for_musl_does_not_start(folder):
    if not shutil.which("musl-gcc"):
        pytest.skip("no musl-gcc here")
    done = run([compiled(IS_THERE, folder, compiler="musl-gcc")], folder)
    assert done.returncode == 127 and "libwarpwatch.so" in done.stderr
    assert "musl" in LIMITS


@pytest.mark.unsanitized("its runtime comes first in all runs of such a build")
def test_address_sanitizer_must_come_first(folder):
    program = compiled(IS_THERE, folder, "-fsanitize=address")
    done = run([program], folder)
    assert done.returncode == 1 and "ASan runtime does not come first" in done.stderr
    assert "does not start unless it comes first" in support.warpwatch("doctor", program)
    first = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    environment = support.clean_environment(LD_PRELOAD=f"{first} {support.LIBRARY}", WARPWATCH_OUTPUT=folder)
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (3, "there\n", "")
    assert "AddressSanitizer" in LIMITS


def test_a_weak_reference_is_there_without_cuda_and_says_not_initialized(folder):
    done = run([compiled(WEAK, folder)], folder)
    assert done.stdout == "cuInit 0 cudaLaunchKernel 0 cuLaunchKernel 3\n" and done.stderr == ""
    assert "weak reference" in LIMITS


def test_the_address_by_reference_is_not_the_one_by_look_up(folder):
    program = compiled(r"""
#include <dlfcn.h>
#include <stdio.h>
extern int cuLaunchKernel(void), cuCtxGetCurrent(void);
int main(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    printf("%d %d\n", dlsym(driver, "cuLaunchKernel") == (void *)cuLaunchKernel,
           dlsym(driver, "cuCtxGetCurrent") == (void *)cuCtxGetCurrent);
}
""", folder, f"-L{support.BUILD}/simcuda", "-Wl,--no-as-needed", "-l:libcuda.so.1")
    said = [support.run_simulated([program], folder / name, preload=preload).stdout
            for name, preload in (("alone", None), ("watched", support.LIBRARY))]
    assert said == ["1 1\n", "0 1\n"]
    assert "by the program's own reference" in LIMITS
