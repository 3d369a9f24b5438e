"""Cards: what a person is shown before a tool acts. This plane draws them from the exact call, with no word of the
model's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import msgspec

from svc.errors import Refusal
from svc.formats.person import Person
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
NAMED: Final = "it says another address than the one that it goes to"
FAR: Final = "goes on far below, after many empty lines: read it to its end"
BLANKS: Final = "holds long rows of blanks, which can carry what is not seen"
_PUNY: Final = "xn--"
_ADDRESS: Final = re.compile(r"[^\s<>()\"',;]+@[^\s<>()\"',;]+")
_EMPTY_LINES: Final = re.compile(r"(?:[^\S\n]*\n){12,}[^\S\n]*\S")
_LONG_BLANKS: Final = re.compile(r"[^\S\n]{40,}|(?:[^\S\n]{3,}\n(?:[^\n]*\n)?){8,}")


def row(label: str, text: str, *marks: str) -> CardRow:
    found = [*marks]
    if hidden_in(text):
        found.append(HIDDEN)
    if _EMPTY_LINES.search(text):
        found.append(FAR)
    if _LONG_BLANKS.search(text):
        found.append(BLANKS)
    return CardRow(label=inert(label), text=inert(text), marks=tuple(found))


def shown_card(kept: str) -> tuple[CardRow, ...]:
    """The card that was kept with the question."""
    return msgspec.json.decode(kept, type=tuple[CardRow, ...])


def same_card(shown: Sequence[CardRow], now: Sequence[CardRow]) -> bool:
    """Whether the person has seen all that the card would show now: the same texts, and no new mark."""
    return [(one.label, one.text) for one in shown] == [(one.label, one.text) for one in now] and all(
        set(later.marks) <= set(one.marks) for one, later in zip(shown, now, strict=True)
    )


def recipients(tx: ReadTx, principal: Principal, label: str, texts: Sequence[str]) -> tuple[CardRow, ...]:
    """One row per recipient, with the real address. Marks one that was never written to, and a name that contains
    another address.
    """
    found: list[CardRow] = []
    for text in texts:
        people = _people(text)
        found += [_recipient(tx, principal, label, one) for one in people]
        if not people:
            found.append(row(label, text, "no address that can be read"))
    return tuple(found)


def _recipient(tx: ReadTx, principal: Principal, label: str, one: Person) -> CardRow:
    marks = [*host_marks(one.address.rpartition("@")[2])]
    if not any(known.sent for known in own_people(tx, principal, address=one.address.lower())):
        marks.append(NEW)
    before_at = one.address.rpartition("@")[0]  # in quotation marks it may itself look like an address
    said = _ADDRESS.findall(unicodedata.normalize("NFKC", inert(f"{one.name} {before_at}")))
    if any(each.lower() != one.address.lower() for each in said):
        marks.append(NAMED)
    return row(label, f"{one.name} <{one.address}>" if one.name else one.address, *marks)


def url_rows(url: str) -> tuple[CardRow, ...]:
    """The whole address, and its host alone."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return (row("URL", url, "it can't be read"),)
    shown = _decoded(host)
    rows = [row("URL", url), row("Host", host, *host_marks(host))]
    if shown != host:
        rows.append(row("Host as it looks", shown))
    return tuple(rows)


def _people(text: str) -> list[Person]:
    try:
        return parse_mailboxes([text])
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
