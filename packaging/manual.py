#!/usr/bin/env python3
"""Man pages and completion from `warpwatch --help`, so that none of them can say something else.
   manual.py WARPWATCH VERSION DIRECTORY"""
import gzip
import pathlib
import re
import sys

import completion
from help import Item, read_all


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def roff_of(block):
    if isinstance(block, str):
        return [".PP", escape(block)]
    if isinstance(block[0], Item):
        return [line for item in block for line in (".TP", f".B {escape(item.term)}", escape(item.text))]
    return [".PP", ".RS 4", ".EX", *map(escape, block), ".EE", ".RE"]


def is_list(block):
    return isinstance(block, list) and isinstance(block[0], Item)


def heading_of(page, before, block):
    """The section that begins with this block, if one does, and the block without what the heading says."""
    if isinstance(block, str) and block.startswith("Exit status: "):
        return "EXIT STATUS", block[len("Exit status: "):]
    if isinstance(block, str) and block.startswith("Environment"):
        return "ENVIRONMENT", block
    if is_list(block) and block[0].term.startswith("-") and not is_list(before):
        return "OPTIONS", block
    if is_list(block) and block[0].term == "run":
        return "VERBS", block
    return None, block


def man_page(page, pages, version):
    name = "-".join(["warpwatch", *page.words])
    lines = [f'.TH {name.upper()} 1 "" "warpwatch {version}" "warpwatch"', ".SH NAME",
             f"{escape(name)} \\- {escape(page.summary)}", ".SH SYNOPSIS", ".nf", *map(escape, page.usage), ".fi"]
    lines += [] if is_list(page.blocks[0]) else [".SH DESCRIPTION"]
    before = None
    for block in page.blocks:
        heading, block = heading_of(page, before, block)
        lines += [f".SH {heading}"] if heading else []
        lines += roff_of(block)
        before = block
    near = ["-".join(["warpwatch", *other.words]) for other in pages
            if other is not page and (not page.words or other.words[:1] == page.words[:1] or not other.words)]
    lines += [".SH SEE ALSO", ",\n".join(f".BR {escape(other)} (1)" for other in near).replace(",\n", " ,\n")]
    return gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0)


def main():
    command, version, directory = sys.argv[1:]
    directory = pathlib.Path(directory)
    pages = read_all(command)
    (directory / "man1").mkdir(parents=True, exist_ok=True)
    for page in pages:
        name = "-".join(["warpwatch", *page.words])
        (directory / "man1" / f"{name}.1.gz").write_bytes(man_page(page, pages, version))
    completion.write(command, pages, directory / "completion")


if __name__ == "__main__":
    main()
