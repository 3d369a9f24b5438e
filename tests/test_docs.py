"""The pages that people read: their links lead somewhere, and they name the app's places as the app does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
SECTION: Final = re.compile(r"\bSettings(?:, | > )([A-Z][a-z]+)")
LABEL: Final = re.compile(r"""label: "([A-Z][^"]*)", title: """)


def links(page: Path) -> list[str]:
    """Those within the project; not what stands in code."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    return [link for link in LINK.findall(text) if ":" not in link]


def anchors(page: Path) -> set[str]:
    """Of its headings, as forges make them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_page_and_a_heading_that_are_there(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_of_docs_is_found_from_the_readme() -> None:
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        waiting += [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if link[0] != "#"]
    assert [page.name for page in PAGES if page.parent == ROOT / "docs" and page not in seen] == []


def test_the_sections_of_the_settings_are_called_as_the_app_calls_them() -> None:
    rows = "\n".join(path.read_text() for path in (ROOT / "static").glob("*/feature.js"))
    labels = {label.split()[0] for label in LABEL.findall(rows)}
    assert "Health" in labels
    for page in PAGES:
        assert set(SECTION.findall(page.read_text())) <= labels, page.name
