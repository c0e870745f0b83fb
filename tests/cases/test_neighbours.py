"""What else is in the process: other runtimes, allocators, auditors, plug-ins that Python keeps to itself."""
import shutil

import pytest
import support

CLIENTS = support.BUILD / "tests" / "clients"

TWO_RUNTIMES = f"""
import ctypes, os
def plugin(version):
    return ctypes.CDLL("{CLIENTS}/libplugin%d.so" % version, os.RTLD_LOCAL | os.RTLD_NOW)
older, newer = plugin(12), plugin(13)
print(older.plugin_version(), newer.plugin_version())
print([older.plugin_launch(width) for width in (1, 2, 2)], [newer.plugin_launch(width) for width in (3, 3)])
print(older.plugin_calls(), newer.plugin_calls())
"""

RELOADED_RUNTIME = f"""
import ctypes, _ctypes, os
for attempt in range(3):
    plugin = ctypes.CDLL("{CLIENTS}/libplugin12.so", os.RTLD_LOCAL | os.RTLD_NOW)
    print(plugin.plugin_launch(attempt + 1), plugin.plugin_calls())
    _ctypes.dlclose(plugin._handle)
    padding = ctypes.CDLL("{CLIENTS}/libdeep.so") # so that the next one lands elsewhere
"""


def python(program, directory, **options):
    path = directory / "program.py"
    path.write_text(program)
    run = support.run_simulated(["/usr/bin/python3", path], directory / "run", **options)
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    return run


def test_two_runtimes_that_python_keeps_local_each_get_their_own_calls(tmp_path):
    run = python(TWO_RUNTIMES, tmp_path)
    assert run.stdout == "12 13\n[0, 0, 0] [0, 0]\n3 2\n" and run.stderr == ""
    totals = run.report["totals"]
    assert (totals["launches"], totals["runtime_launches"]) == (5, 5)


def test_a_runtime_that_is_unloaded_and_comes_back(tmp_path):
    run = python(RELOADED_RUNTIME, tmp_path)
    assert [line.split()[0] for line in run.stdout.splitlines()] == ["0"] * 3 and run.stderr == ""
    assert run.report["totals"]["launches"] == 3


@pytest.mark.parametrize("order", ["{ours} {other}", "{other} {ours}"])
@pytest.mark.parametrize("sample", ["vecadd", "threads"])
def test_beside_an_allocator(tmp_path, order, sample):
    preload = order.format(ours=support.LIBRARY, other=CLIENTS / "liballocator.so")
    run = support.run_simulated([support.SAMPLES / sample], tmp_path, preload=preload)
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    assert run.stderr == ""


@pytest.mark.unsanitized("an auditor leaves no room for its static TLS", only="thread")
@pytest.mark.parametrize("program", [support.SAMPLES / "vecadd", CLIENTS / "linked", CLIENTS / "linked_trampoline"])
def test_under_an_auditor(tmp_path, program):
    run = support.run_simulated([program], tmp_path, LD_AUDIT=CLIENTS / "libauditor.so")
    support.assert_same_launches(run.ledger_counts, run.report_counts)
    assert run.stderr == ""


@pytest.mark.parametrize("order", ["{ours} {other}", "{other} {ours}"])
@pytest.mark.parametrize("program", [support.SAMPLES / "vecadd", support.SAMPLES / "graph", support.SAMPLES / "modules",
                                     support.SAMPLES / "library"])
def test_two_copies_count_once(tmp_path, order, program):
    """As when `warpwatch run` starts a program in an environment that preloads another installation."""
    other = tmp_path / "libwarpwatch.so"
    shutil.copy(support.LIBRARY, other)
    preload = order.format(ours=support.LIBRARY, other=other)
    run = support.run_simulated([program], tmp_path, preload=preload, WARPWATCH_REPORT="none")
    assert len(run.stores) == 1 and run.stderr == ""
    support.assert_same_launches(run.ledger_counts, run.report_counts)
