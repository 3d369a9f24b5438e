"""Links between files of the repository, and what they are here: addresses of pages and files. Pure, and invertible.

A page's file names its neighbours as a forge shows them (``![](img/a.png)``, ``[b](../b.md#part)``); the page here
names them by their addresses (``/files/<id>/content``, ``/p/<path>#part``). Only the destination of a link is touched,
and only where the file it means is there. :func:`written` takes what :func:`shown` made back to how the file had it.
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
"""Of ``[text](destination "title")`` and of ``[label]: destination``."""
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|#|\?")
_SAFE: Final = "/!$&'*+,;=:@~-._"


def shown(text: str, *, file: str, addresses: Mapping[str, str]) -> str:
    """``text`` of ``file`` with links to ``addresses`` (by file) in place of links to files."""
    if "](" not in text and "]:" not in text:
        return text
    return _replaced(text, lambda link: _address(link, file=file, addresses=addresses))


def written(text: str, *, file: str, files: Mapping[str, str], before: str = "") -> str:
    """The inverse: ``files`` are names by address. Where ``before``, the file's last text, spells a link to the same
    file, it is spelled so again."""
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
    """``target`` as ``file`` names it."""
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
    """The file that a relative link means."""
    if not link or _ABSOLUTE.match(link):
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(file), unquote(link)))
    return None if target.startswith("..") else target


def _split(link: str) -> tuple[str, str, str]:
    """What is before ``#`` or ``?``, that sign, and what is behind it."""
    found = re.search(r"[#?]", link)
    return (link, "", "") if found is None else (link[: found.start()], link[found.start()], link[found.end() :])
