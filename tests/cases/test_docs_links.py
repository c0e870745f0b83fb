"""Every link of the documentation that stays in the repository leads somewhere, and docs/README.md knows every page."""
import re

import pytest

from support import ROOT

PAGES = [page for page in sorted(ROOT.rglob("*.md"))
         if not any(part.startswith(("build", ".")) for part in page.relative_to(ROOT).parts)]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


def test_the_index_knows_every_page():
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link).resolve() for link in LINK.findall(index.read_text())}
    pages = {page for page in PAGES if page.parent == index.parent} - {index}
    assert pages
    assert sorted(page.name for page in pages - linked) == []
