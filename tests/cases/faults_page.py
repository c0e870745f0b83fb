"""The tables of docs/robustness.md: what they say of each fault, and the same page with the figures of a run in them."""
import re
from collections import namedtuple

import support

PAGE = support.ROOT / "docs" / "robustness.md"
WRITTEN = support.BUILD / "robustness.md"

# What a line on stderr is called in the tables; its reason follows.
LINES = {
    "in memory": r"no store can be made in \S+: (.+); counting in memory, the report comes at exit if it can be written then",
    "cannot grow": r"the store cannot grow: (.+); what is new from now on is not told apart",
    "no store": r"no room for a store, neither in \S+ nor in memory: (.+); launches are not recorded",
    "no report": r"store in \S+; its report could not be written, (`warpwatch report` says why)",
    "setting": r"WARPWATCH_LIVE: (not understood), it takes a directory name of at most 4,095 characters; the default is used",
    "live": r"WARPWATCH_LIVE: (no shared mapping is safe) on the file system of \S+, only on .+; the default is used",
    "no command": r"store in \S+; (the command `warpwatch` that reads it is not beside) \S+",
    "filtered": r"store in \S+; no report, because this process filters its own system calls: (`warpwatch report` makes it)",
}

# How the counts fared, launches lost, launches that are counted and not in the trace (None: no trace), name of the line
Outcome = namedtuple("Outcome", "fate lost untraced line")


def name_of_line(line):
    for name, pattern in LINES.items():
        found = re.fullmatch("warpwatch: " + pattern, line)
        if found:
            return f"{name}: {found[1]}"
    raise AssertionError(f"a line that docs/robustness.md does not have: {line}")


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("| ") else []


def is_row(cells):
    return len(cells) > 5 and re.match(r"`\w+`", cells[1]) and cells[2].isdigit()


def kind_of(cells):
    return {9: "process", 6: "around", 7: "trace"}[len(cells)]


def groups_of(cells):
    """{when: cells of it}: a fault of the process has two times."""
    return {"first": cells[3:6], "later": cells[6:9]} if kind_of(cells) == "process" else {"": cells[3:]}


def rows(kind):
    """(name, when, cells) of all rows of that kind; "–" says that a fault isn't tried at that time."""
    for cells in map(cells_of, PAGE.read_text().splitlines()):
        if is_row(cells) and kind_of(cells) == kind:
            yield from ((cells[1].strip("`"), when, group) for when, group in groups_of(cells).items() if group[0] != "–")


def span(values):
    least, most = min(values), max(values)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def cells_seen(outcomes):
    cells = [", ".join(sorted({outcome.fate for outcome in outcomes})), span([outcome.lost for outcome in outcomes])]
    if outcomes[0].untraced is not None:
        cells.append(span([outcome.untraced for outcome in outcomes]))
    return [*cells, ", ".join(sorted({outcome.line for outcome in outcomes}))]


def write(seen):
    """The page with the figures of `seen`, {(kind, name, when): outcomes}, in place of its own; other rows stay."""
    lines = PAGE.read_text().splitlines()
    for number, line in enumerate(lines):
        cells = cells_of(line)
        if not is_row(cells):
            continue
        found = {when: seen.get((kind_of(cells), cells[1].strip("`"), when)) for when in groups_of(cells)}
        groups = [cells_seen(found[when]) if found[when] else group for when, group in groups_of(cells).items()]
        tries = [len(outcomes) for outcomes in found.values() if outcomes]
        lines[number] = "| " + " | ".join([*cells[:2], str(min(tries, default=cells[2])), *sum(groups, [])]) + " |"
    WRITTEN.write_text("\n".join(lines) + "\n")
