"""`cmake --install` gives a tree that can be moved: the library finds the command-line program beside it. The Debian
package holds the same, with the libraries in a folder of its own."""
import shutil
import subprocess

import pytest

from support import BUILD, SAMPLES, assert_same_launches, clean_environment, counts_of_output, run_simulated


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    first = tmp_path_factory.mktemp("install") / "first"
    subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(first)], check=True, capture_output=True)
    moved = first.parent / "moved"
    shutil.move(first, moved)
    return moved


def library_of(tree):
    command = tree / "bin" / "warpwatch"
    done = subprocess.run([str(command), "path"], capture_output=True, text=True, check=True, env=clean_environment())
    return done.stdout.strip()


def test_path_names_the_moved_library(installed):
    library = library_of(installed)
    assert library.startswith(str(installed)) and library.endswith("/libwarpwatch.so")


def test_the_moved_library_counts_and_its_program_writes_the_report(installed, tmp_path):
    run = run_simulated([SAMPLES / "vecadd"], tmp_path, preload=library_of(installed))
    assert_same_launches(counts_of_output(run.stdout), run.report_counts)
    texts = list(run.output.glob("*.txt"))
    assert len(texts) == 1 and "vector_add" in texts[0].read_text()


def test_without_the_program_the_store_is_still_whole(installed, tmp_path):
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(library_of(installed), alone)
    run = run_simulated([SAMPLES / "vecadd"], tmp_path, preload=alone / "libwarpwatch.so")
    assert_same_launches(counts_of_output(run.stdout), run.report_counts)
    assert not list(run.output.glob("*.txt"))
    said = [line for line in run.stderr.splitlines() if line.startswith("warpwatch: ")]
    assert len(said) == 1 and str(run.stores[0]) in said[0]


def test_pages_and_completion_are_installed(installed):
    share = installed / "share"
    assert (share / "man" / "man1" / "warpwatch-report.1.gz").exists()
    for completion in ("bash-completion/completions/warpwatch", "zsh/site-functions/_warpwatch",
                       "fish/vendor_completions.d/warpwatch.fish"):
        assert "occupancy" in (share / completion).read_text()


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    for command in ("dpkg-shlibdeps", "file"):
        if shutil.which(command) is None:
            pytest.skip(f"no {command} here: apt-get install dpkg-dev file")
    directory = tmp_path_factory.mktemp("package")
    done = subprocess.run(["cpack", "-G", "DEB", "--config", str(BUILD / "CPackConfig.cmake"), "-B", str(directory),
                           "-D", f"CPACK_OUTPUT_FILE_PREFIX={directory}"],
                          cwd=BUILD, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    made, = directory.glob("*.deb")
    return made


def test_the_package_depends_on_what_the_command_is_linked_with(package):
    fields = subprocess.run(["dpkg-deb", "--field", str(package), "Package", "Depends"], capture_output=True, text=True,
                            check=True).stdout
    assert "Package: warpwatch\n" in fields
    for name in ("libc6", "libelf1", "libcjson1", "libzstd1", "liblz4-1"):
        assert name in fields


def test_what_the_package_holds_runs(package, tmp_path):
    tree = tmp_path / "tree"
    subprocess.run(["dpkg-deb", "-x", str(package), str(tree)], check=True)
    library = library_of(tree / "usr")
    assert library == str(tree / "usr" / "lib" / "warpwatch" / "libwarpwatch.so")
    run = run_simulated([SAMPLES / "vecadd"], tmp_path, preload=library)
    assert_same_launches(counts_of_output(run.stdout), run.report_counts)
    page, = run.output.glob("*.txt")
    assert "vector_add" in page.read_text()


def test_lintian_finds_no_error_in_the_package(package):
    if shutil.which("lintian") is None:
        pytest.skip("no lintian here: apt-get install lintian")
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", str(package)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
