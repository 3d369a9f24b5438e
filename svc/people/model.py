"""The records of people, and who counts as one: pure functions over an address as a header gives it.

Theory. Mail comes from people and from programs, and nothing but the address and the message's own headers tells which.
Who is wrongly taken for a person leaves a useless page; who is wrongly taken for a program is missing from it. The
signs below are those that people do not have: words that say "don't answer", and addresses made for a single message.
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
PERSON_CHANGED: Final = "person-changed"  # the event of it

MAX_ADDRESS_CHARS: Final = 254  # RFC 5321, 4.5.3.1.3, less its angle brackets
MAX_NAME_CHARS: Final = 200
HALF_LIFE_MS: Final = 90 * DAY_MS  # after which a mail counts half for the order of suggestions
SENT_WEIGHT: Final = 3.0  # as a power of two: whom one writes to is wanted eight times as much as who writes

_NEVER: Final = r"\s\x00-\x20@<>()\[\],;:\"\\/`|*!"  # quoted local parts and the like are no person's either
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
"""Where anybody can have an address: such a domain is nobody's company, and nobody's own."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody that the owner corresponds with, by one address.

    Whom the owner never wrote to is only a ``suggestion``, with no page: ``open``, or ``dismissed`` by the owner.
    ``page_id`` is the page that the person is filed under. ``filing`` says who saw to that: ``auto`` (made at the first
    mail; not again once it was deleted), ``user``, or ``skipped`` (a colleague, who gets none by himself). ``weight``
    orders suggestions (:func:`heavier`).
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
    """Whose, and by which plain address."""

    owner_id: str | None
    address: str


@dataclass(frozen=True, kw_only=True)
class PageRef:
    """A page that somebody is filed under, as its reader sees it."""

    id: str
    path: str
    title: str


def plain_address(address: str) -> str:
    """The one spelling of an address. Upper case makes nobody another person (RFC 5321 would allow it; nobody does)."""
    return address.strip().lower()


def is_person(address: str) -> bool:
    """Whether a :func:`plain_address` may be somebody's, and not a program's."""
    if len(address) > MAX_ADDRESS_CHARS or not address.isprintable() or not _ADDRESS.fullmatch(address):
        return False
    local, _, domain = address.rpartition("@")
    parts = _PARTS.split(local)
    if _PROGRAM_ANYWHERE.search("".join(parts)) or not _PROGRAM_PARTS.isdisjoint(parts):
        return False
    if "=" in local or local.startswith(_RELAYS) or any(_MADE_UP.fullmatch(part) for part in parts):
        return False  # a variable envelope return path, or its like
    if len(parts) > 1 and any(part.isdigit() and len(part) >= _MIN_SERIAL_DIGITS for part in parts):
        return False
    return not {"bounce", "bounces", "noreply", "no-reply"} & set(domain.split("."))


def domain_of(address: str) -> str:
    return address.rpartition("@")[2]


def shown_name(name: str, *, address: str) -> str:
    """The name somebody goes by; empty where a program put the address in its place."""
    if not (name.isascii() and name.isprintable()):
        name = "".join(one for one in name if unicodedata.category(one)[0] != "C" or one in _JOINERS)
    name = " ".join(name.split()).strip("'\" ")
    return "" if plain_address(name) == address else name[:MAX_NAME_CHARS].rstrip()


def weight_of(at: Millis, direction: Direction) -> float:
    """What one mail weighs: the logarithm (to base 2) of a number that doubles every half-life.

    All mails are thus measured at one and the same instant far away: no weight ever has to be brought up to date.
    """
    return at / HALF_LIFE_MS + (SENT_WEIGHT if direction == "sent" else 0.0)


def heavier(weight: float, more: float) -> float:
    """Two weights together. The order does not matter: a backfill comes backwards."""
    return max(weight, more) + math.log2(1.0 + 2.0 ** -abs(weight - more))
