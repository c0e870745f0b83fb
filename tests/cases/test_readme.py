"""What README.md shows of the report is what the report says: test_report_text.py runs the same program."""
from support import ROOT


def blocks(text):
    """The indented blocks of a Markdown text, without their indentation."""
    found, current = [], []
    for line in [*text.splitlines(), "."]:
        if line.startswith("    ") or (current and not line):
            current.append(line[4:])
        elif current:
            found.append("\n".join(current).strip("\n"))
            current = []
    return found


def test_the_excerpt_is_a_real_report():
    excerpts = [block for block in blocks((ROOT / "README.md").read_text()) if "WHAT WASTES" in block]
    assert len(excerpts) == 1
    assert excerpts[0] in (ROOT / "tests/cases/golden/tail.txt").read_text()
