"""The pages that people read: their links lead somewhere, and they name the app's places as the app does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from svc.mail.providers.imap.discovery.presets import PRESETS

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
SECTION: Final = re.compile(r"\bSettings(?:, | > )([A-Z][a-z]+)")
SERVER: Final = re.compile(r"`([a-z0-9-]+(?:\.[a-z0-9-]+)+)` (\d+)")
FILE: Final = re.compile(r"`([\w./-]+(?:\.(?:py|js|mjs|css|md|sql)|/))`")
LINKED: Final = re.compile(r"https://[^\s>]+")
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


def test_every_file_that_the_map_of_the_code_names_is_there() -> None:
    """Within a section a path may begin anywhere, as in ``tasks.py``."""
    named = set(FILE.findall((ROOT / "ARCHITECTURE.md").read_text()))
    there = [
        f"/{path.relative_to(ROOT).as_posix()}{'/' * path.is_dir()}"
        for top in ("svc", "static", "tests", "docs")
        for path in (ROOT / top, *(ROOT / top).rglob("*"))
        if not {"node_modules", "vendor"} & set(path.parts)
    ]
    assert len(named) > 100
    assert [one for one in sorted(named) if not any(path.endswith(f"/{one}") for path in there)] == []


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


def test_every_provider_whose_servers_are_known_stands_in_the_table_with_them_and_no_other() -> None:
    page = (ROOT / "docs" / "connect-a-mailbox.md").read_text()
    rows = [line.removesuffix(" |").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    known = [one for one in PRESETS if one.by_password]
    assert {server for row in rows for server in SERVER.findall(row[-1])} == {
        (server.host, str(server.port)) for one in known for server in (one.imap, one.smtp)
    }
    for preset in known:
        sends = f"`{preset.smtp.host}` {preset.smtp.port}" + " (STARTTLS)" * (preset.smtp.security == "starttls")
        row = next(one for one in rows if f"`{preset.imap.host}` {preset.imap.port}" in one[-1] and sends in one[-1])
        assert set(LINKED.findall(preset.help or "")) <= set(LINKED.findall(row[1]))


def test_the_sections_of_the_settings_are_called_as_the_app_calls_them() -> None:
    rows = "\n".join(path.read_text() for path in (ROOT / "static").glob("*/feature.js"))
    labels = {label.split()[0] for label in LABEL.findall(rows)}
    assert "Health" in labels
    for page in PAGES:
        assert set(SECTION.findall(page.read_text())) <= labels, page.name
