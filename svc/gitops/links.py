"""Translates links between files of the repository into addresses of pages and files here, and back. Pure.

A page's file links its neighbours in the form that a forge shows (``![](img/a.png)``, ``[b](../b.md#part)``); the page
here links them by their addresses (``/files/<id>/content``, ``/p/<path>#part``). Only the destination of a link is
changed, and only if the linked file exists. :func:`written` turns the output of :func:`shown` back into the file's
form.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote, unquote

_DESTINATION: Final = re.compile(
    r"(\]\(\s{0,8}<?|^ {0,3}\[[^\]\n]{1,200}\]:[ \t]{0,8}<?)([^\s<>()]{1,1000})", re.MULTILINE
)
"""The destination in ``[text](destination "title")`` and in ``[label]: destination``."""
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|#|\?")
_SAFE: Final = "/!$&'*+,;=:@~-._"


def shown(text: str, *, file: str, addresses: Mapping[str, str]) -> str:
    """``text`` of ``file`` with links to files replaced by their ``addresses`` (by file)."""
    if "](" not in text and "]:" not in text:
        return text
    return _replaced(text, lambda link: _address(link, file=file, addresses=addresses))


def written(text: str, *, file: str, files: Mapping[str, str], before: str = "") -> str:
    """The inverse: ``files`` are file names by address. If ``before``, the file's last text, links the same file, its
    spelling is kept."""
    spelled: dict[str, str] = {}
    for found in _DESTINATION.finditer(before):
        link, _, _ = _split(found[2])
        target = _target(link, file=file)
        if target is not None:
            spelled.setdefault(target, link)

    def back(link: str) -> str | None:
        path, mark, rest = _split(link)
        target = files.get(path)
        if target is None:
            return None
        return spelled.get(target, relative(target, file=file)) + mark + rest

    return _replaced(text, back)


def relative(target: str, *, file: str) -> str:
    """The relative link to ``target`` in ``file``."""
    return quote(posixpath.relpath(target, posixpath.dirname(file)), safe=_SAFE)


def _replaced(text: str, change: Callable[[str], str | None]) -> str:
    def one(found: re.Match[str]) -> str:
        became = change(found[2])
        return found[0] if became is None else found[1] + became

    return _DESTINATION.sub(one, text)


def _address(link: str, *, file: str, addresses: Mapping[str, str]) -> str | None:
    path, mark, rest = _split(link)
    target = _target(path, file=file)
    address = None if target is None else addresses.get(target)
    return None if address is None else address + mark + rest


def _target(link: str, *, file: str) -> str | None:
    """The file that a relative link points to."""
    if not link or _ABSOLUTE.match(link):
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(file), unquote(link)))
    return None if target.startswith("..") else target


def _split(link: str) -> tuple[str, str, str]:
    """The part before ``#`` or ``?``, that sign, and the part after it."""
    found = re.search(r"[#?]", link)
    return (link, "", "") if found is None else (link[: found.start()], link[found.start()], link[found.end() :])
