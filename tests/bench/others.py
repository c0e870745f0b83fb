"""The same loop watched by other means: LTTng-ust's tracepoints and a uprobe."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import time

from figures import BUILD, LAUNCHES, MODES, Table, directory, launch_loop, nanoseconds

TRACER = BUILD / "tests" / "libbench_lttng.so"


def lttng(*arguments, home):
    subprocess.run(["lttng", "--no-sessiond", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env={**os.environ, "LTTNG_HOME": home})


@contextlib.contextmanager
def session(home):
    """A flight recorder: events stay in memory and the oldest are overwritten, which is the least that LTTng can do."""
    daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel", "--quiet"], env={**os.environ, "LTTNG_HOME": home},
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for attempt in range(50):
            with contextlib.suppress(subprocess.CalledProcessError):
                lttng("create", "bench", "--snapshot", "--output", pathlib.Path(home) / "traces", home=home)
                break
            time.sleep(0.1)
        else:
            raise OSError("no session daemon of LTTng")
        lttng("enable-event", "--userspace", "warpwatch_bench:*", home=home)
        lttng("start", home=home)
        yield
        assert_recorded(home)
        lttng("destroy", "bench", home=home)
    finally:
        daemon.terminate()
        daemon.wait()


def assert_recorded(home):
    """A comparison with tracepoints that nobody listens to would be none."""
    lttng("snapshot", "record", home=home)
    written = sum(file.stat().st_size for file in pathlib.Path(home).rglob("channel0_*"))
    assert written > 1 << 20, f"LTTng recorded {written} bytes"


def traced(home, **variables):
    return launch_loop("-p", "-n", LAUNCHES, LD_PRELOAD=TRACER, LTTNG_HOME=home, **variables)[0]


def uprobe():
    """(figures, what the kernel said): it may not be permitted."""
    try:
        return [launch_loop("-p", "-u", "-n", 50000)[0]], None
    except OSError as error:
        return [], str(error)


def side_by_side(rounds):
    """The budget: a tracepoint adds at least 5 times what counting adds, and 3 times what default mode adds."""
    columns = [*MODES, "LTTng", "LTTng, timed", "uprobe"]
    table = Table("Side by side", "ns of CPU time of cuLaunchKernel", columns)
    if not TRACER.exists() or not shutil.which("lttng-sessiond"):
        print("LTTng-ust is not installed: liblttng-ust-dev and lttng-tools")
        return
    measures = {mode: lambda mode=mode: nanoseconds(mode, "-p", "-n", LAUNCHES) for mode in MODES}
    with directory("/tmp") as home, session(home):
        figures = {column: [] for column in columns}
        for _ in range(rounds):
            for mode, measure in measures.items():
                figures[mode].append(measure())
            figures["LTTng"].append(traced(home))
            figures["LTTng, timed"].append(traced(home, LTTNG_BENCH_TIMED=1))
        figures["uprobe"], refused = uprobe()
    table.row("one thread", figures, refused)
    ratios(figures)


def ratios(figures):
    """What each adds, as a multiple of what watching adds, round by round."""
    table = Table("What it adds, compared", "times", ["LTTng", "LTTng, timed", "uprobe"], digits=1)
    for mode in ("counting", "default", "trace"):
        added = {column: [value - none for value, none in zip(figures[column], figures["none"])]
                 for column in [mode, *table.columns]}
        table.row(f"{mode} mode is cheaper by", {
            column: [other / own for other, own in zip(added[column], added[mode])] for column in table.columns})
