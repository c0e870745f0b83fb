"""What docs/security.md promises."""
import json
import os
import pathlib
import shutil
import stat
import subprocess

import pytest
import store_files
import support

CLIENTS = support.BUILD / "tests" / "clients"
NOBODY = 65534


def modes(directory):
    return {path.suffix: stat.S_IMODE(path.lstat().st_mode) for path in directory.iterdir()}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_files_are_their_owners_alone(tmp_path, umask):
    before = os.umask(umask)
    try:
        run = support.run_simulated([CLIENTS / "linked"], tmp_path, WARPWATCH_REPORT="text,json,csv,html")
        support.warpwatch("report", "-o", run.output / "by_hand.page", run.output)
    finally:
        os.umask(before)
    assert modes(run.output) == dict.fromkeys([".ww", ".txt", ".json", ".csv", ".html", ".page"], 0o600)


def test_a_live_store_and_its_pointer_too(tmp_path):
    live = tmp_path / "live"
    live.mkdir()
    run = support.run_simulated([CLIENTS / "processes", "end_by", "kill"], tmp_path, status=137, WARPWATCH_LIVE=live)
    assert modes(live) == {".ww": 0o600} and modes(run.output) == {".live": 0o600}
    assert run.report["totals"]["launches"] == 1010  # which brings it home
    assert modes(run.output) == {".ww": 0o600} and list(live.iterdir()) == []


@pytest.mark.parametrize("what, where", [("stores", "output"), ("reports", "output"), ("stores", "live"),
                                         ("pointers", "output")])
def test_what_lies_at_its_names_is_neither_followed_nor_opened(tmp_path, what, where):
    directories = {name: tmp_path / name for name in ("output", "live")}
    for directory in directories.values():
        directory.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("not yours")
    live = directories["live"] if where == "live" or what == "pointers" else None
    run = support.run_simulated([CLIENTS / "planted", what, directories[where], victim], tmp_path, timeout=60,
                                WARPWATCH_OUTPUT=directories["output"], WARPWATCH_LIVE=live)
    assert run.stdout == "done\n" and len(run.stderr.splitlines()) <= 1
    assert victim.read_text() == "not yours" and not (tmp_path / "victim.missing").exists()
    planted = [path for path in directories[where].iterdir() if not stat.S_ISREG(path.lstat().st_mode)]
    assert len(planted) >= 47  # all pipes and symbolic links but the one that the report replaced
    stores = [path for path in directories["output"].glob("*.ww")
              if stat.S_ISREG(path.lstat().st_mode) and path.read_bytes()[:8] == b"WARPWTCH"]
    if what == "pointers":
        assert "no store can be made" in run.stderr and len(stores) == 1  # written at exit, from memory
    store, = stores
    assert support.report(store)["totals"]["launches"] == 10


@pytest.mark.parametrize("content", ["{victim}\n", "{link}\n", "{pipe}\n", "victim\n", "", "{directory}\n", "/" * 70000],
                         ids=["file", "link", "pipe", "relative", "empty", "directory", "long"])
def test_a_pointer_file_takes_nothing_away(tmp_path, content):
    stores, elsewhere = tmp_path / "stores", tmp_path / "elsewhere"
    elsewhere.mkdir()
    victim, link, pipe = elsewhere / "victim", elsewhere / "link", elsewhere / "pipe"
    victim.write_bytes(b"not a store")
    store = store_files.Store().save(tmp_path / "real")
    link.symlink_to(store)
    os.mkfifo(pipe)
    good = store_files.Store(pid=2).save(stores)
    (stores / "warpwatch.node1.3.1.ww.live").write_text(
        content.format(victim=victim, link=link, pipe=pipe, directory=elsewhere))
    done = subprocess.run([support.WARPWATCH, "report", "--format", "json", stores], capture_output=True, text=True,
                          timeout=60, env=support.clean_environment())
    assert done.returncode == 0 and len(done.stderr.splitlines()) <= 1
    assert victim.read_bytes() == b"not a store" and link.is_symlink() and store.exists() and good.exists()
    assert sorted(path.name for path in elsewhere.iterdir()) == ["link", "pipe", "victim"]


@pytest.mark.parametrize("whose", ["another user's", "of another name"])
def test_a_strangers_pointer_takes_no_store_away(tmp_path, whose):
    """Not even one that the reader's own process left, and that has ended: it would lie in the stranger's directory."""
    store = store_files.Store().save(tmp_path / "mine")
    pointer = tmp_path / "shared" / (store.name + ".live" if whose == "another user's" else "warpwatch.node1.9.9.ww.live")
    pointer.parent.mkdir()
    pointer.write_text(f"{store}\n")
    if whose == "another user's":
        if os.geteuid():
            pytest.skip("only root can give a file to another user")
        os.chown(pointer, NOBODY, NOBODY)
    assert support.report(pointer.parent)["processes"][0]["pid"] == 1
    assert store.exists() and list(pointer.parent.iterdir()) == [pointer]
    pointer.unlink()
    mine = pointer.parent / (store.name + ".live")
    mine.write_text(f"{store}\n")
    assert support.report(pointer.parent)["processes"][0]["pid"] == 1
    assert not store.exists() and [path.name for path in pointer.parent.iterdir()] == [store.name]


@pytest.fixture
def set_uid(tmp_path):
    """A program of root's that nobody runs; it is linked with the library, so no loader leaves it out."""
    if os.geteuid():
        pytest.skip("only root can make a set-uid program of another user")
    program = tmp_path / "set_uid"
    shutil.copy(CLIENTS / "set_uid", program)
    program.chmod(0o4755)
    for path in [tmp_path, *tmp_path.parents][:-2]:
        path.chmod(path.stat().st_mode | 0o111)
    return program


@pytest.mark.unsanitized("set-uid programs ignore the options that its runtime needs")
@pytest.mark.parametrize("user", [0, NOBODY])
def test_a_set_uid_program_is_left_alone(tmp_path, set_uid, user):
    output = tmp_path / "output"
    output.mkdir(mode=0o777)
    output.chmod(0o777)
    done = subprocess.run([set_uid], capture_output=True, text=True, user=user, group=user, cwd=output,
                          env=support.clean_environment(LD_PRELOAD=support.LIBRARY, WARPWATCH_OUTPUT=output,
                                                        SIMCUDA_DEVICES="h200"))
    assert done.returncode == 0 and done.stderr == ""
    assert bool(list(output.iterdir())) == (user == 0)


def test_nothing_is_written_outside_the_directory(tmp_path):
    places = {name: tmp_path / name for name in ("home", "temporary", "work", "output")}
    for place in places.values():
        place.mkdir()
    before = set(os.listdir("/dev/shm"))
    support.run_simulated(["sh", "-c", f"cd {places['work']} && exec {CLIENTS / 'linked'}"], tmp_path / "run",
                          HOME=places["home"], XDG_CACHE_HOME=places["home"], TMPDIR=places["temporary"],
                          WARPWATCH_OUTPUT=places["output"], WARPWATCH_REPORT="text,json,csv,html")
    assert sorted(path.suffix for path in places["output"].iterdir()) == [".csv", ".html", ".json", ".txt", ".ww"]
    assert all(list(places[name].iterdir()) == [] for name in ("home", "temporary", "work"))
    assert not {name for name in set(os.listdir("/dev/shm")) - before if name.startswith("warpwatch")}


@pytest.mark.unsanitized("its runtime starts no shell", only="thread")
@pytest.mark.parametrize("output", [None, "there", "/" + "9" * 5000], ids=["default", "relative", "too long"])
def test_a_directory_that_is_gone_is_not_the_root_directory(tmp_path, output):
    gone = tmp_path / "gone"
    gone.mkdir()
    before = set(os.listdir("/"))
    run = support.run_simulated(["sh", "-c", f'cd {gone} && rmdir {gone} && LD_PRELOAD={support.preloaded(support.LIBRARY)} '
                                             f'exec "$@"', "sh", CLIENTS / "linked"],
                                tmp_path / "run", preload=None, WARPWATCH_OUTPUT=output)
    first, *others = run.stderr.splitlines()
    assert "no store can be made in the current directory: No such file or directory" in first
    assert ["WARPWATCH_OUTPUT: not understood" in line for line in others] == [True] * (output is not None and len(output) > 4095)
    assert set(os.listdir("/")) == before and not gone.exists() and list(run.output.iterdir()) == []


HOSTILE = ["\x1b]0;owned\x07", "\x1b[2J", "<script>alert(1)</script>", "</script><script>alert(1)", "a\nb", "‮gnp.exe",
           "$(touch owned)", "'; touch owned #", "=cmd|' /C calc'!A0", "%n%n%n", "../../../etc/passwd", "x" * 100000]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_of_a_store_is_run_or_obeyed(tmp_path, name):
    store = store_files.Store(command=name.encode() + b"\0", host=b"node\x1b[2J")
    kernel = store.kernel(name, image=name[:200])
    store.count(store_files.DIRECT, store.configuration(kernel, store.device(name=name.encode()[:100])), 7)
    path = store.save(tmp_path / "stores", "hostile.ww")
    text, page, data = (support.warpwatch("report", "--format", form, path) for form in ("text", "html", "json"))
    assert not [c for c in text + page if ord(c) < 32 and c not in "\n\r\t"]
    assert "\u202e" not in text  # the page shows its code point: test_html_browser.py
    assert page.count("<script") == scripts_of_a_harmless_page(tmp_path)
    kernel, = json.loads(data)["kernels"]  # data for programs is exact
    assert kernel["mangled"] == name and kernel["launches"] == 7
    assert not pathlib.Path("owned").exists() and not (tmp_path / "owned").exists()


def scripts_of_a_harmless_page(tmp_path):
    store = store_files.Store()
    store.count(store_files.DIRECT, store.configuration(store.kernel("_Z1kv"), store.device()), 7)
    return support.warpwatch("report", "--format", "html", store.save(tmp_path / "harmless")).count("<script")
