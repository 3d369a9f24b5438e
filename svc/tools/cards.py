"""What a person is shown before a tool acts: drawn from the exact call, by this plane, with no word of the model's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from svc.errors import Refusal
from svc.formats.writing import parse_mailboxes
from svc.inert import hidden_in, inert
from svc.people import own_people
from svc.principal import Principal
from svc.store import ReadTx
from svc.tools.model import CardRow

HIDDEN: Final = "holds characters that are not seen; they are left out here"
PUNYCODE: Final = "its name is written in other letters than it looks"
NEW: Final = "you have never written to this address"
MIXED: Final = "holds letters of other scripts than Latin"
_PUNY: Final = "xn--"


def row(label: str, text: str, *marks: str) -> CardRow:
    found = (*marks, *((HIDDEN,) if hidden_in(text) else ()))
    return CardRow(label=label, text=inert(text), marks=found)


def recipients(tx: ReadTx, principal: Principal, label: str, texts: Sequence[str]) -> tuple[CardRow, ...]:
    """One row for each, whole: who was never written to, and whose domain only looks like one that is known."""
    found: list[CardRow] = []
    for text in texts:
        marks: list[str] = []
        named = _addresses(text)
        for address in named:
            if not any(one.sent for one in own_people(tx, principal, address=address.lower())):
                marks.append(NEW)
            marks += host_marks(address.rpartition("@")[2])
        if not named:
            marks.append("no address that can be read")
        found.append(row(label, text, *dict.fromkeys(marks)))
    return tuple(found)


def url_rows(url: str) -> tuple[CardRow, ...]:
    """The address whole, and its host alone."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return (row("URL", url, "it can't be read"),)
    shown = _decoded(host)
    rows = [row("URL", url), row("Host", host, *host_marks(host))]
    if shown != host:
        rows.append(row("Host as it looks", shown))
    return tuple(rows)


def _addresses(text: str) -> list[str]:
    try:
        return [person.address for person in parse_mailboxes([text])]
    except Refusal:
        return []


def host_marks(host: str) -> list[str]:
    if _PUNY in host.lower():
        return [PUNYCODE]
    return [] if host.isascii() else [MIXED]


def _decoded(host: str) -> str:
    try:
        return host.encode("ascii").decode("idna") if _PUNY in host.lower() else host
    except (UnicodeError, ValueError):
        return host
