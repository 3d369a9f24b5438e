"""The records of people, and which addresses count as people: pure functions over an address from a header.

Theory. Mail comes from people and from programs, and only the address and the message's own headers can tell which. A
program taken for a person leaves a useless page; a person taken for a program is missing from the pages. The signs
below never occur in people's addresses: words that mean "don't answer", and addresses made for a single message.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

from svc.clock import DAY_MS, Millis

Direction = Literal["received", "sent"]
Filing = Literal["auto", "user", "skipped"]
Suggestion = Literal["open", "dismissed"]

TOPIC: Final = "people"
PERSON_NEWS: Final = "person.changed"
PERSON_CHANGED: Final = "person-changed"  # the recorded event

MAX_ADDRESS_CHARS: Final = 254  # RFC 5321, 4.5.3.1.3, less its angle brackets
MAX_NAME_CHARS: Final = 200
HALF_LIFE_MS: Final = 90 * DAY_MS  # the age at which a mail counts half in the order of suggestions
SENT_WEIGHT: Final = 3.0  # a power of two: an address written to counts eight times as much as one that only writes

_NEVER: Final = r"\s\x00-\x20@<>()\[\],;:\"\\/`|*!"  # people have no quoted local parts or similar
_ADDRESS: Final = re.compile(rf"[^{_NEVER}]{{1,64}}@(?:[^{_NEVER}_.]{{1,63}}\.)+[^{_NEVER}_.]{{2,63}}")
_PARTS: Final = re.compile(r"[._+-]+")
_PROGRAM_ANYWHERE: Final = re.compile(r"noreply|donotreply|mailerdaemon|postmaster|autoreply|autoresponder")
_PROGRAM_PARTS: Final = frozenset({"bounce", "bounces", "notification", "notifications", "unsubscribe"})
_RELAYS: Final = ("srs0", "srs1", "prvs", "btv1", "msprvs1", "reply+")  # made for one message
_MADE_UP: Final = re.compile(r"(?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9]{20,}")  # long, letters and digits mixed
_MIN_SERIAL_DIGITS: Final = 12
_JOINERS: Final = "\u200c\u200d"  # Persian and Indic names need them

_PUBLIC: Final = """
    126.com 163.com aim.com aol.com comcast.net duck.com email.cz fastmail.com fastmail.fm free.fr freenet.de gmail.com
    gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hey.com hotmail.co.uk hotmail.com hotmail.de hotmail.fr
    hotmail.it icloud.com inbox.ru laposte.net libero.it live.co.uk live.com mac.com mail.com mail.ru mailbox.org me.com
    msn.com naver.com orange.fr outlook.com outlook.de outlook.fr pm.me posteo.de proton.me protonmail.ch protonmail.com
    qq.com rediffmail.com rocketmail.com seznam.cz sina.com t-online.de tuta.com tutanota.com verizon.net wanadoo.fr
    web.de wp.pl ya.ru yahoo.ca yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.in
    yahoo.it yandex.com yandex.ru ymail.com zoho.com
"""
PUBLIC_DOMAINS: Final = frozenset(_PUBLIC.split())
"""Domains where anybody can get an address: such a domain belongs to no company and no single person."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """A correspondent of the owner, with one address.

    A person whom the owner never wrote to is only a ``suggestion``, without a page: ``open``, or ``dismissed`` by the
    owner. ``page_id`` is the page that the person is filed under. ``filing`` says who decided that: ``auto`` (made at
    the first mail, and not again after it was deleted), ``user``, or ``skipped`` (a colleague, who gets no page
    automatically). ``weight`` orders suggestions (:func:`heavier`).
    """

    id: int
    owner_id: str | None
    address: str
    name: str
    page_id: str | None
    filing: Filing
    first_seen_at: Millis
    last_seen_at: Millis
    received: int
    sent: int
    weight: float
    suggestion: Suggestion | None


@dataclass(frozen=True)
class Correspondent:
    """A correspondent: the owner, and the plain address."""

    owner_id: str | None
    address: str


@dataclass(frozen=True, kw_only=True)
class PageRef:
    """The page that a person is filed under, as its reader sees it."""

    id: str
    path: str
    title: str


def plain_address(address: str) -> str:
    """The normal form of an address. Case does not distinguish people (RFC 5321 would allow it, but nobody uses it)."""
    return address.strip().lower()


def is_person(address: str) -> bool:
    """Whether a :func:`plain_address` may belong to a person, and not to a program."""
    if len(address) > MAX_ADDRESS_CHARS or not address.isprintable() or not _ADDRESS.fullmatch(address):
        return False
    local, _, domain = address.rpartition("@")
    parts = _PARTS.split(local)
    if _PROGRAM_ANYWHERE.search("".join(parts)) or not _PROGRAM_PARTS.isdisjoint(parts):
        return False
    if "=" in local or local.startswith(_RELAYS) or any(_MADE_UP.fullmatch(part) for part in parts):
        return False  # a variable envelope return path or similar
    if len(parts) > 1 and any(part.isdigit() and len(part) >= _MIN_SERIAL_DIGITS for part in parts):
        return False
    return not {"bounce", "bounces", "noreply", "no-reply"} & set(domain.split("."))


def domain_of(address: str) -> str:
    return address.rpartition("@")[2]


def shown_name(name: str, *, address: str) -> str:
    """The name of a person; empty if a program put the address in its place."""
    if not (name.isascii() and name.isprintable()):
        name = "".join(one for one in name if unicodedata.category(one)[0] != "C" or one in _JOINERS)
    name = " ".join(name.split()).strip("'\" ")
    return "" if plain_address(name) == address else name[:MAX_NAME_CHARS].rstrip()


def weight_of(at: Millis, direction: Direction) -> float:
    """The weight of one mail: the logarithm (to base 2) of a number that doubles every half-life.

    So all mails are measured at one common instant, and no weight ever has to be updated.
    """
    return at / HALF_LIFE_MS + (SENT_WEIGHT if direction == "sent" else 0.0)


def heavier(weight: float, more: float) -> float:
    """The sum of two weights. The order does not matter, so a backfill may run backwards."""
    return max(weight, more) + math.log2(1.0 + 2.0 ** -abs(weight - more))
