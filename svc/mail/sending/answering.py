"""Whom an answer goes to: pure, from the message that is answered and the addresses that are one's own.

The order of RFC 5322, section 3.6.2, and of what people expect of it: an answer goes where Reply-To says, else to From.
Nobody answers themselves: an answer to one's own mail goes on to whom that mail went. A list that sets Reply-To gets
the answer; one that does not leaves it to the sender, and reply-all reaches it by To and Cc.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

from svc.errors import Invalid
from svc.formats.person import Person
from svc.formats.writing import sendable_address
from svc.mail.accounts import own_addresses
from svc.mail.model import SENT, Account, MessageRow
from svc.mail.providers.kinds import BY_OAUTH


@dataclass(frozen=True, kw_only=True)
class Answer:
    to: tuple[Person, ...]
    cc: tuple[Person, ...]


def answer_to(message: MessageRow, *, own: Set[str], everyone: bool) -> Answer:
    """``own``: all addresses of whoever answers. Who can't be written to is left out."""
    mine = {spelling for address in own for spelling in _spellings(address)}
    headers = message.headers
    if SENT in message.labels or _is_mine(message.sender.address, mine):
        to, cc = headers.to, headers.cc if everyone else ()
    else:
        to = _distinct(_others(headers.reply_to, mine), set()) or (message.sender,)
        to, cc = ((*to, *headers.to), headers.cc) if everyone else (to, ())
    seen: set[str] = set()
    found_to = _distinct(_others(to, mine), seen)
    found_cc = _distinct(_others(cc, mine), seen)
    if not found_to:  # a note to oneself, or one that went to others only by copy
        found_to, found_cc = found_cc or _distinct(headers.to or (message.sender,), set()), ()
    return Answer(to=found_to, cc=found_cc)


def answering_address(account: Account, message: MessageRow) -> str | None:
    """The account's address that the message was sent to, or was sent from: an answer comes from it. ``None`` where it
    names none of them (a copy in secret, a list)."""
    headers = message.headers
    own = () if SENT not in message.labels else (message.sender.address,)
    named = (one.address for one in (*headers.to, *headers.cc))
    return own_addresses.sent_to(account, (*own, *named, *headers.delivered_to))


def _others(people: Iterable[Person], mine: Set[str]) -> tuple[Person, ...]:
    return tuple(person for person in people if not _is_mine(person.address, mine))


def _distinct(people: Iterable[Person], seen: set[str]) -> tuple[Person, ...]:
    """Each address once, as it can be sent to."""
    found = []
    for person in people:
        try:
            address = sendable_address(person.address)
        except Invalid:
            continue  # a stranger's header: nothing can be sent there
        if address.lower() not in seen:
            seen.add(address.lower())
            found.append(Person(name=person.name, address=address))
    return tuple(found)


def _spellings(address: str) -> tuple[str, ...]:
    """An own address with a tag is that one alone: what stands before the tag may be a group's."""
    lower = address.lower()
    return (lower,) if "+" in lower.rpartition("@")[0] else (lower, _bare(lower))


def _is_mine(address: str, mine: Set[str]) -> bool:
    return address.lower() in mine or _bare(address) in mine


def _bare(address: str) -> str:
    """What all spellings of one mailbox have in common: no case, no ``+tag``, no dots where its provider sees none."""
    local, _, domain = address.lower().rpartition("@")
    local = local.partition("+")[0]
    return f"{local.replace('.', '') if domain in BY_OAUTH.dotless_domains else local}@{domain}"
