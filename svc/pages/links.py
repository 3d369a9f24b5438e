"""Finds what a page's Markdown links to: pages, by ``[[path]]`` and ``/p/<path>``, and files, by
``/files/<id>/content``.

Pure functions over the body, linear in its length. They look at the text and do not parse Markdown: a link in a code
block counts. A link of another site that happens to end like one of ours does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final
from urllib.parse import unquote

from svc.errors import Invalid
from svc.pages.model import page_path

MAX_LINKS: Final = 1_000
"""Links of one page to different pages. Beyond: later ones are not followed."""
MAX_FILES: Final = 1_000
"""Files that one page names. Beyond: later ones do not count as used by it."""

_STARTS: Final = r"(?:^|(?<=[\s(<\"'\[=]))"  # one of our addresses begins here, not in the middle of another address
_WIKI_LINK: Final = re.compile(r"\[\[([^\[\]\n]{1,1000})\]\]")
_PAGE_LINK: Final = re.compile(_STARTS + r"/p/([^\s()<>\[\]\"'`|?#]{1,3000})", re.MULTILINE)
_FILE_LINK: Final = re.compile(_STARTS + r"/files/([A-Za-z0-9_-]{1,100})/content(?![\w-])", re.MULTILINE)


def pages_in(body: str) -> set[str]:
    """The paths of the pages that ``body`` links to, whether they exist or not."""
    return set(islice(_distinct(_paths(body)), MAX_LINKS))


def files_in(body: str) -> set[str]:
    """The ids of the files that ``body`` shows or links to, whether they exist or not."""
    if "/files/" not in body:  # most texts have none; this check is much cheaper than the pattern
        return set()
    return set(islice(_distinct(match[1] for match in _FILE_LINK.finditer(body)), MAX_FILES))


def _paths(body: str) -> Iterator[str]:
    for match in _WIKI_LINK.finditer(body) if "[[" in body else ():
        yield from _normal(re.split(r"\\?\||#", match[1], maxsplit=1)[0])  # in a table: `\|`
    for match in _PAGE_LINK.finditer(body) if "/p/" in body else ():
        yield from _normal(unquote(match[1], errors="replace").rstrip("/"))


def _normal(text: str) -> Iterator[str]:
    try:
        yield page_path(text)
    except Invalid:
        return  # not a path that a page could have


def _distinct(found: Iterable[str]) -> Iterator[str]:
    return iter(dict.fromkeys(found))
