"""The command line itself, before any verb: help, version, mistakes."""
import subprocess

from support import WARPWATCH, clean_environment


def call(*arguments):
    return subprocess.run([str(WARPWATCH), *arguments], capture_output=True, text=True, env=clean_environment())


def test_help_goes_to_stdout():
    done = call("--help")
    assert done.returncode == 0 and done.stdout.startswith("usage: warpwatch") and done.stderr == ""


def test_no_verb_is_a_usage_error():
    done = call()
    assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith("usage: warpwatch")


def test_an_unknown_verb_is_named_in_one_line():
    done = call("raport")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "'raport'" in done.stderr


def test_a_terminal_does_not_obey_an_argument():
    done = call("a\x1b[2Jb")
    assert done.returncode == 2 and "\x1b" not in done.stderr
