"""Reads what `warpwatch … --help` prints: the one source of the man pages and of the shells' completion."""
import re
import subprocess
from collections import namedtuple

Item = namedtuple("Item", "term text")  # a line of a list: an option, a verb, a variable
Page = namedtuple("Page", "words summary usage blocks")  # blocks: str (paragraph), list of Item, or list of str (verbatim)

ITEM = re.compile(r"^  (\S(?:.*?\S)?)(?:  +(.*))?$")


def ask(command, words):
    return subprocess.run([command, *words, "--help"], check=True, capture_output=True, text=True).stdout


def read_items(lines):
    items = []
    for line in lines:
        deeper = re.match(r"^    +(\S.*)$", line)
        if deeper and items:
            items[-1] = Item(items[-1].term, f"{items[-1].text} {deeper.group(1)}")
        else:
            term, text = ITEM.match(line).groups()
            items.append(Item(term, text or ""))
    return items


def split_runs(paragraph):
    """Text and indented lines of one paragraph, in runs: a heading above its list."""
    runs = []
    for line in paragraph:
        indented = line.startswith("  ")
        if not runs or runs[-1][0] != indented:
            runs.append((indented, []))
        runs[-1][1].append(line)
    return runs


def read_block(indented, lines):
    if not indented:
        return " ".join(lines)
    return [line.strip() for line in lines] if lines[0].startswith("    ") else read_items(lines)


def read_page(text, words, summary):
    paragraphs = [part.splitlines() for part in text.strip().split("\n\n")]
    usage, blocks = [], []
    for paragraph in paragraphs:
        if paragraph[0].startswith("usage: "):
            usage = [re.sub("^usage: ", "", line).strip() for line in paragraph]
        else:
            blocks += [read_block(*run) for run in split_runs(paragraph)]
    blocks = [block for block in blocks if block != summary]
    return Page(words, summary, usage, blocks)


def items_of(page):
    return [item for block in page.blocks if isinstance(block, list) for item in block if isinstance(item, Item)]


def read_all(command):
    """The main page, then one of each verb, then those of the models."""
    main = read_page(ask(command, []), [], "watches every CUDA kernel launch and says which waste the GPU")
    pages = [main]
    for verb in items_of(main):
        if re.fullmatch("[a-z]+", verb.term):
            pages.append(read_page(ask(command, [verb.term]), [verb.term], verb.text))
    for name in items_of(next(page for page in pages if page.words == ["model"])):
        words = ["model", name.term]
        pages.append(read_page(ask(command, words), words, name.text))
    return pages
