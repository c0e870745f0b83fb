"""What the pages about the model show is what the commands print, and their tables are those of the code.

In a ```console block a line `$ COMMAND` is followed by its output; a line `…` stands for any lines. `$ cat FILE`
shows a file that later commands of the page use.
"""
import re
import subprocess

import pytest

from support import BUILD, ROOT, clean_environment

DOCS = ROOT / "docs"
PAGES = ["model", "worked-launches", "occupancy", "waves", "advise", "divergence", "coalescing", "banks", "devices"]


def page(name):
    return (DOCS / f"{name}.md").read_text()


def shown_commands(text):
    """(command, lines of output) of all console blocks."""
    shown = []
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command = re.match(r"(?:.*\\\n)*.*\n", part).group()
            shown.append((command.strip(), part[len(command):].rstrip("\n").split("\n")))
    return shown


def run(command, directory):
    done = subprocess.run(["sh", "-c", command.replace("./dev ", f"{ROOT}/dev ")], cwd=directory, capture_output=True,
                          text=True, timeout=120,
                          env=clean_environment(PATH=f"{BUILD / 'bin'}:/usr/local/bin:/usr/bin:/bin", LC_ALL="C.UTF-8"))
    return (done.stdout + done.stderr).rstrip("\n").split("\n")


def matches(shown, printed):
    pattern = "".join("(?:.*\n)*" if line == "…" else re.escape(line + "\n") for line in shown)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed))


@pytest.mark.parametrize("name", PAGES)
def test_commands_print_what_the_page_shows(name, tmp_path):
    shown = shown_commands(page(name))
    assert shown
    for command, output in shown:
        file = re.fullmatch(r"cat ([\w.-]+)", command)
        if file:
            (tmp_path / file.group(1)).write_text("".join(line + "\n" for line in output))
            continue
        printed = run(command, tmp_path)
        assert matches(output, printed), f"$ {command}\n" + "\n".join(printed)


def test_a_wrong_figure_would_be_seen(tmp_path):
    """The check itself: changed, missing and further lines are no match; `…` stands for any lines."""
    printed = ["1 block", "2 blocks"]
    assert matches(printed, printed) and matches(["…", "2 blocks"], printed) and matches(["1 block", "…"], printed)
    assert not matches(["1 block"], printed) and not matches(["1 block", "3 blocks"], printed)
    assert not matches(["1 block", "2 blocks", "3"], printed)
    (tmp_path / "a").write_text("x\n")
    assert shown_commands("```console\n$ a \\\n  b\none\n$ c\n```\n") == [("a \\\n  b", ["one"]), ("c", [""])]


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page(name)):
        assert target.startswith("https://") or (DOCS / target).exists(), target


def test_every_page_is_in_the_index():
    assert all(f"({name}.md)" in page("README") for name in PAGES)


def rows(text, first_cell):
    """Cells of the table rows whose first cell matches."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return [row for row in cells if re.fullmatch(first_cell, row[0])]


def test_the_table_of_capabilities_is_that_of_the_code():
    source = (ROOT / "report" / "model" / "capabilities.def").read_text()
    known = {}
    for line in re.findall(r"^CAPABILITY\((.*)\)$", source, re.MULTILINE):
        cc, threads, blocks, registers, per_block, shared, optin, reserved, unit, parts, barriers, _ = line.split(", ")
        known[f"{int(cc) // 10}.{int(cc) % 10}"] = [
            threads, blocks, f"{int(registers) // 1024} K", f"{int(per_block) // 1024} K", f"{shared} KB", f"{optin} KB",
            f"{reserved} KB", f"{unit} B", parts, barriers if barriers != "0" else "–"]
    shown = {cc: row[1:] for row in rows(page("occupancy"), r"\d+\.\d(, \d+\.\d)*") for cc in row[0].split(", ")}
    assert shown.keys() == known.keys()
    for cc, figures in known.items():
        assert shown[cc] == figures, cc
