"""Every finding has its page and every page its finding; titles and thresholds in the docs are those of the code."""
import re

import pytest

import support

FINDINGS = support.ROOT / "report" / "findings"
DOCS = support.ROOT / "docs" / "findings"


def rules():
    """id → title, from findings.def."""
    text = (FINDINGS / "findings.def").read_text()
    found = re.findall(r'^(?:RUN_)?RULE\(\w+,\s*"([^"]+)",\s*"([^"]+)"', text, re.MULTILINE)
    assert len(found) == len(re.findall(r"^(?:RUN_)?RULE\(", text, re.MULTILINE)) > 0
    return dict(found)


def thresholds():
    """(name, value, meaning), from thresholds.def."""
    text = re.sub(r'"\s*\n\s*"', "", (FINDINGS / "thresholds.def").read_text())
    found = re.findall(r'^THRESHOLD\((\w+),\s*([\d.]+),\s*"([^"]*)"\)', text, re.MULTILINE)
    assert len(found) == len(re.findall(r"^THRESHOLD\(", text, re.MULTILINE)) > 0
    return found


def test_every_rule_has_a_page_and_every_page_a_rule():
    pages = {page.stem for page in DOCS.glob("*.md")} - {"README"}
    assert pages == rules().keys()


@pytest.mark.parametrize("id, title", rules().items())
def test_page_is_complete(id, title):
    page = (DOCS / f"{id}.md").read_text()
    assert page.startswith(f"# {id}: {title}\n")
    for section in ("When it is reported", "What to do", "What it does not say"):
        (body,) = re.findall(rf"^## {section}\n\n(.+?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
        assert body.strip()


def test_index_lists_every_finding():
    listed = re.findall(r"^\| \[([^\]]+)\]\(\1\.md\) \| (.+) \|$", (DOCS / "README.md").read_text(), re.MULTILINE)
    assert dict(listed) == rules()


def test_index_gives_every_threshold():
    text = (DOCS / "README.md").read_text()
    for name, value, meaning in thresholds():
        assert f"| {name} | {value} | {meaning} |" in text


def test_links_lead_somewhere():
    missing = [
        (page.name, link)
        for page in DOCS.glob("*.md")
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text())
        if not (DOCS / link).exists()
    ]
    assert missing == []
