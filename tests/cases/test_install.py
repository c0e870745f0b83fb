"""`cmake --install` gives a tree that can be moved: the library finds the command-line program beside it."""
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
