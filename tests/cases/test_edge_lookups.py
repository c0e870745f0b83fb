"""How programs reach the driver (edge cases 1–14, 22, 32, 33): every lookup answers as the driver or the loader would,
and every launch is counted once."""
import shutil
import subprocess

import pytest
import support

CLIENTS = support.BUILD / "tests" / "clients"
LOOKUPS = CLIENTS / "lookups"
SCALE = "scale"
# The programs' run paths lead here too, but a sanitizer's dlopen does not know whose run path to follow.
BESIDE = {"LD_LIBRARY_PATH": f"{support.BUILD}/simcuda:{CLIENTS}"}


def lookups(scenario, directory, **options):
    return support.run_simulated([LOOKUPS, scenario], directory / "with", **options)


def with_and_without(command, directory, **options):
    """The run under the preload; the program must print the same without it."""
    alone = support.run_simulated(command, directory / "without", preload=None, **options)
    watched = support.run_simulated(command, directory / "with", **options)
    assert (watched.status, support.program_lines(watched.stderr)) == (alone.status, alone.stderr.splitlines())
    return alone, watched


def counts(run):
    """Launches by the width of their grid: the programs give each door its own."""
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    return {launch.grid[0]: count.launches for launch, count in run.report_counts.items()}


def test_edge_01_proc_address_of_the_empty_name(tmp_path):
    alone, watched = with_and_without([LOOKUPS, "empty_name"], tmp_path)
    assert watched.stdout == alone.stdout == "result 0 pointer (nil)\n"


def test_edge_02_proc_address_of_itself_in_both_versions(tmp_path):
    watched = lookups("itself", tmp_path)
    assert watched.stdout.splitlines() == [
        "cuGetProcAddress 11030 0: result 0 status 0 in libwarpwatch.so",
        "cuGetProcAddress 12000 0: result 0 status 0 in libwarpwatch.so",
        "older: result 0 in libwarpwatch.so",
        "newer: result 0 status 0 in libwarpwatch.so, two functions",
    ]


def test_edge_03_per_thread_stream_flavour_calls_the_real_one(tmp_path):
    watched = lookups("per_thread", tmp_path)
    assert watched.ledger["calls"]["cuLaunchKernel_ptsz"] == 1
    assert watched.ledger["calls"]["cuLaunchKernel"] == 1
    assert counts(watched) == {3: 1, 4: 1}


def test_edge_04_not_found_is_answered_as_the_driver_does(tmp_path):
    alone, watched = with_and_without([LOOKUPS, "missing"], tmp_path)
    assert watched.stdout == alone.stdout
    assert "v1: result 500 pointer 0x1234" in watched.stdout
    assert "v2 cuNoSuchFunction: result 0 pointer (nil) status 1" in watched.stdout
    assert "v2 cuLaunchKernel: result 0 pointer (nil) status 2" in watched.stdout


def test_edge_05_a_version_of_the_future_is_wrapped_too(tmp_path):
    watched = lookups("future", tmp_path)
    assert "in libwarpwatch.so" in watched.stdout
    assert counts(watched) == {5: 1}


@pytest.mark.parametrize("driver", ["13000", "12020", "11080"])
def test_edge_06_every_door_counts_once(tmp_path, driver):
    watched = lookups("doors", tmp_path, SIMCUDA_DRIVER_VERSION=driver)
    assert counts(watched) == {1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1}


def test_edge_06_a_launch_found_by_dlvsym_counts_once(tmp_path):
    environment = support.clean_environment(LD_LIBRARY_PATH=CLIENTS / "versioned", LD_PRELOAD=support.LIBRARY,
                                            WARPWATCH_OUTPUT=tmp_path, WARPWATCH_REPORT="none")
    done = subprocess.run([LOOKUPS, "versioned"], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == "DRIVER_1 in libwarpwatch.so, DRIVER_2 in NULL\n"
    assert [launch.grid for launch in support.counts_of_report(support.report(tmp_path))] == [(3, 1, 1)]


def test_edge_06_a_launch_through_the_program_s_own_reference_counts_once(tmp_path):
    watched = support.run_simulated([CLIENTS / "linked"], tmp_path)
    assert counts(watched) == {11: 3}


@pytest.mark.unsanitized("its malloc is the first of all")
def test_edge_07_next_definition_stays_the_loader_s_answer(tmp_path):
    alone, watched = with_and_without([LOOKUPS, "wrapped_malloc"], tmp_path)
    assert watched.stdout == alone.stdout == "1000 of 1000\n"


def test_edge_08_another_library_s_function_is_its_own(tmp_path):
    alone, watched = with_and_without([LOOKUPS, "own_address"], tmp_path, **BESIDE)
    assert watched.stdout == alone.stdout == "cudnnCreate in libcudnn.so.9 says 42\n"


def test_edge_09_a_driver_that_looks_itself_up_gets_itself(tmp_path):
    environment = support.clean_environment(LD_LIBRARY_PATH=CLIENTS / "self_looking", LD_PRELOAD=support.LIBRARY,
                                            WARPWATCH_OUTPUT=tmp_path)
    done = subprocess.run([CLIENTS / "call_init"], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [
        "cuInit in libcuda.so.1, cuLaunchKernel in libcuda.so.1, malloc in libc.so.6",
        "0, cuLaunchKernel in libwarpwatch.so",
    ]


def test_edge_10_a_lazy_trampoline_neither_recurses_nor_counts_twice(tmp_path):
    watched = support.run_simulated([CLIENTS / "linked_trampoline"], tmp_path)
    assert counts(watched) == {11: 3}
    assert "trampoline_calls 3" in watched.stdout


def test_edge_11_a_library_that_is_no_driver_is_not_hijacked(tmp_path):
    alone, watched = with_and_without([LOOKUPS, "stranger"], tmp_path, **BESIDE)
    assert watched.stdout == alone.stdout == "cuLaunchKernel in libstranger.so says 43\n"
    assert watched.stores == []


@pytest.mark.parametrize("copies, disabled", [(1, None), (1, "1"), (2, None)])
def test_edge_12_without_cuda_driver_functions_are_not_there(tmp_path, copies, disabled):
    other = shutil.copy(support.LIBRARY, tmp_path)
    watched = ":".join(map(str, [support.LIBRARY, other][:copies]))
    output = tmp_path / "output"
    runs = []
    for preload in ("", watched):
        environment = support.clean_environment(LD_PRELOAD=preload, WARPWATCH_OUTPUT=output, WARPWATCH_DISABLE=disabled)
        runs.append(subprocess.run([LOOKUPS, "without_cuda"], env=environment, capture_output=True, text=True,
                                   timeout=60))
    assert runs[0].stdout == runs[1].stdout
    assert runs[1].stdout.startswith("cuInit: (nil) with an error, (nil)\ncuLaunchKernel: (nil) with an error, (nil)\n")
    assert runs[1].stderr == "" and not output.exists()


@pytest.mark.unsanitized("its dlopen does not know whose run path to follow")
def test_edge_13_run_path_of_the_caller_is_kept(tmp_path):
    alone, watched = with_and_without([LOOKUPS, "run_path"], tmp_path)
    assert watched.stdout == alone.stdout == "44\n"


@pytest.mark.unsanitized("its dlopen refuses RTLD_DEEPBIND, and another namespace would have a runtime of its own")
@pytest.mark.parametrize("scenario", ["deep_bind", "own_namespace"])
def test_edge_14_doors_past_every_preload_work_and_are_documented(tmp_path, scenario):
    alone, watched = with_and_without([LOOKUPS, scenario], tmp_path)
    assert watched.stdout == alone.stdout == "launched\n"
    assert watched.ledger_counts == alone.ledger_counts
    limits = (support.ROOT / "docs" / "limits.md").read_text()
    assert "RTLD_DEEPBIND" in limits and "dlmopen" in limits


def test_edge_14_a_wrapper_library_in_the_program_is_still_called(tmp_path):
    watched = support.run_simulated([CLIENTS / "linked_wrapped"], tmp_path)
    assert counts(watched) == {11: 3}
    assert "wrapper_calls 3" in watched.stdout


@pytest.mark.parametrize("order", ["{ours} {other}", "{other} {ours}"])
def test_edge_14_another_preload_is_still_called(tmp_path, order):
    preload = order.format(ours=support.LIBRARY, other=CLIENTS / "libsecond_preload.so")
    watched = support.run_simulated([CLIENTS / "linked"], tmp_path, preload=preload)
    assert counts(watched) == {11: 3}
    assert "second_preload_calls 3" in watched.stdout


def test_edge_15_a_refused_launch_is_not_counted(tmp_path):
    alone, watched = with_and_without([LOOKUPS, "refused"], tmp_path, ALSO_LAUNCH=1)
    assert watched.stdout == alone.stdout and "0" not in watched.stdout.split()
    assert counts(watched) == {8: 1}


def test_edge_15_nothing_but_refused_launches_makes_no_store(tmp_path):
    watched = lookups("refused", tmp_path)
    assert watched.stores == [] and watched.stderr == ""


def test_edge_23_no_query_before_the_first_successful_launch(tmp_path):
    alone, watched = with_and_without([LOOKUPS, "refused"], tmp_path)
    assert watched.ledger["faults"] == alone.ledger["faults"]
    queries = [call for call in watched.ledger["calls"] if any(part in call for part in ("Func", "Kernel", "Occup"))]
    assert sorted(queries) == ["cuLaunchKernel", "cuModuleGetFunction"]


def test_edge_30_no_driver_call_after_teardown(tmp_path):
    alone, watched = with_and_without([LOOKUPS, "leave_context"], tmp_path)
    assert watched.ledger["faults"] == alone.ledger["faults"] == []
    assert counts(watched) == {9: 1}


@pytest.mark.unsanitized("it is about what the released library needs")
def test_edge_32_the_library_needs_no_driver_and_no_new_libc():
    symbols = subprocess.run(["nm", "-D", support.LIBRARY], capture_output=True, text=True, check=True).stdout
    needed = [line.split()[-1] for line in symbols.splitlines() if line.split()[-2] in "UwW"]
    assert not [name for name in needed if name.startswith("cu")]
    versions = {tuple(map(int, name.split("GLIBC_")[1].split("."))) for name in needed if "GLIBC_" in name}
    assert versions and max(versions) <= (2, 17)
    dynamic = subprocess.run(["readelf", "-dW", support.LIBRARY], capture_output=True, text=True, check=True).stdout
    libraries = [line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "(NEEDED)" in line]
    assert all(library.startswith(("libc.so.", "ld-linux")) for library in libraries)
    segments = subprocess.run(["readelf", "-lW", support.LIBRARY], capture_output=True, text=True, check=True).stdout
    stack = next(line for line in segments.splitlines() if "GNU_STACK" in line)
    assert "RWE" not in stack


@pytest.mark.unsanitized("its runtime does not start beside another interposer of dlsym", only="thread")
@pytest.mark.parametrize("order", ["{ours} {other}", "{other} {ours}"])
def test_edge_33_beside_another_dlsym_interposer(tmp_path, order):
    preload = order.format(ours=support.LIBRARY, other=CLIENTS / "libother_dlsym.so")
    calls = tmp_path / "calls"
    watched = lookups("doors", tmp_path, preload=preload, DLSYM_CALLS=calls)
    assert counts(watched) == {1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1}
    assert int(calls.read_text()) > 5
