"""Man pages and completion say what --help says: each option, each verb, each variable, and nothing else."""
import gzip
import re
import shutil
import subprocess

import pytest

from support import BUILD, ROOT, clean_environment, warpwatch

MANUAL = BUILD / "packaging" / "manual"
VERBS = re.findall(r"^  ([a-z]+)  +\S", warpwatch("--help"), re.M)
MODELS = re.findall(r"^  ([a-z]+)  +\S", warpwatch("model", "--help"), re.M)
PAGES = [[]] + [[verb] for verb in VERBS] + [["model", name] for name in MODELS]
NAMES = ["-".join(["warpwatch", *words]) for words in PAGES]


def options_of_help(words):
    return set(re.findall(r"^  (--?[a-z-]+)", warpwatch(*words, "--help"), re.M))


def page_source(name):
    return gzip.decompress((MANUAL / "man1" / f"{name}.1.gz").read_bytes()).decode()


def test_verbs_are_found():
    assert {"run", "report", "path", "scan", "model", "devices", "doctor"} <= set(VERBS) and len(MODELS) == 6


def test_there_is_a_page_for_each_and_no_other():
    assert sorted(path.name for path in (MANUAL / "man1").iterdir()) == sorted(f"{name}.1.gz" for name in NAMES)


@pytest.mark.parametrize("words", PAGES, ids=NAMES)
def test_a_page_has_the_words_of_help(words):
    source = page_source("-".join(["warpwatch", *words]))
    said = re.sub(r"\\(.)", lambda m: {"e": "\\", "&": ""}.get(m.group(1), m.group(1)), source)
    words_of = lambda text: set(re.findall(r"[A-Za-z0-9_%.<>'-]{2,}", text))
    dropped = words_of("usage: Exit status:")
    missing = {word.strip(".'-") for word in words_of(warpwatch(*words, "--help")) - dropped}
    missing -= {word.strip(".'-") for word in words_of(said)}
    assert not missing
    assert set(re.findall(r"^\.B \\-(\S+)", source, re.M)) == {option[1:].replace("-", "\\-") for option in options_of_help(words)}


@pytest.mark.skipif(shutil.which("man") is None, reason="no man here: apt-get install man-db")
@pytest.mark.parametrize("name", NAMES)
def test_man_shows_a_page_without_complaint(name):
    done = subprocess.run(["man", "--warnings", "-l", MANUAL / "man1" / f"{name}.1.gz"], capture_output=True, text=True,
                          env=clean_environment(MANWIDTH=200, LC_ALL="C.UTF-8"))
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith(name.upper() + "(1)")


def test_help_names_every_variable_that_the_library_reads():
    read = set(re.findall(r'"(WARPWATCH_[A-Z_]+)"', (ROOT / "shim" / "settings.c").read_text()))
    assert len(read) >= 11
    read -= {"WARPWATCH_RUN"}  # `warpwatch run` sets it for itself
    assert {name for name in read if name not in warpwatch("--help")} == set()


def test_help_of_a_verb_in_either_order():
    assert warpwatch("help", "scan") == warpwatch("scan", "--help")
    assert warpwatch("help", "model", "waves") == warpwatch("model", "waves", "--help")
    assert warpwatch("help") == warpwatch("--help")


def complete(*words, directory="/"):
    """What bash offers for the last word."""
    script = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _warpwatch
printf '%s\\n' "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "-c", script, "bash", MANUAL / "completion" / "warpwatch", "warpwatch", *words],
                          capture_output=True, text=True, cwd=directory, env=clean_environment())
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return [line for line in done.stdout.split("\n") if line]


def test_bash_completes_verbs_and_models():
    assert set(complete("")) == {*VERBS, "help", "--help", "--version"}
    assert complete("dev") == ["devices"] and complete("help", "dev") == ["devices"]
    assert set(complete("model", "")) == {*MODELS, "--help"}


@pytest.mark.parametrize("words", PAGES[1:], ids=NAMES[1:])
def test_bash_completes_exactly_the_options_of_a_verb(words):
    if words != ["model"]:
        assert set(complete(*words, "--")) == {option for option in options_of_help(words) | {"--help"}
                                               if option.startswith("--")}


def test_bash_completes_values_and_files(tmp_path):
    (tmp_path / "one.ww").touch()
    (tmp_path / "two words.ww").touch()
    (tmp_path / "folder").mkdir()
    assert complete("report", "--format", "") == ["text", "json", "csv", "html"]
    assert complete("scan", "--format", "c") == ["csv"] and complete("export", "--format", "") == ["perfetto", "chrome"]
    assert complete("report", "--device", "h2") == ["h200"]
    assert complete("model", "occupancy", "--device", "rtx5") == ["rtx5090"]
    assert complete("model", "occupancy", "--threads", "") == []
    assert complete("model", "divergence", "--pattern", "") == ["random", "interleaved", "aligned"]
    assert complete("report", "o", directory=tmp_path) == ["one.ww"]
    assert complete("report", "t", directory=tmp_path) == ["two words.ww"]
    assert complete("run", "-o", "", directory=tmp_path) == ["folder"]
    assert complete("run", "--", "warpwa_none") == [] and "bash" in complete("run", "bas")
    assert complete("run", "--", "cat", "on", directory=tmp_path) == ["one.ww"]


@pytest.mark.parametrize("shell, name", [("zsh", "_warpwatch"), ("fish", "warpwatch.fish")])
def test_the_other_shells_read_their_completion(shell, name):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here: apt-get install {shell}")
    done = subprocess.run([shell, "-n", MANUAL / "completion" / name], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here: apt-get install fish")
def test_fish_completes(tmp_path):
    def offered(line):
        script = f"source {MANUAL}/completion/warpwatch.fish; complete -C '{line}'"
        done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True,
                              env=clean_environment(HOME=tmp_path))
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    assert set(offered("warpwatch ")) >= set(VERBS)
    assert set(offered("warpwatch report --")) == {option for option in options_of_help(["report"]) | {"--help"}
                                                   if option.startswith("--")}
    assert offered("warpwatch report --device h2") == ["h200"]
