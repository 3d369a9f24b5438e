"""Chooses the recipients of a reply: pure, from the answered message and the person's own addresses.

The rules are those of RFC 5322, section 3.6.2, and what people expect: a reply goes to Reply-To, else to From. People
do not answer themselves: a reply to one's own mail goes to the recipients of that mail. A mailing list that sets
Reply-To gets the reply. Otherwise the reply goes to the sender, and reply-all reaches the list through To and Cc.
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
    """``own``: all addresses of the person who answers. Addresses that mail can't be sent to are left out."""
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
    if not found_to:  # a mail to oneself, or one that went to others only in Cc
        found_to, found_cc = found_cc or _distinct(headers.to or (message.sender,), set()), ()
    return Answer(to=found_to, cc=found_cc)


def answering_address(account: Account, message: MessageRow) -> str | None:
    """The account's address that the message was sent to, or sent from: a reply is sent from this address. ``None``
    where the message names no address of the account (a blind copy, a mailing list)."""
    headers = message.headers
    own = () if SENT not in message.labels else (message.sender.address,)
    named = (one.address for one in (*headers.to, *headers.cc))
    return own_addresses.sent_to(account, (*own, *named, *headers.delivered_to))


def _others(people: Iterable[Person], mine: Set[str]) -> tuple[Person, ...]:
    return tuple(person for person in people if not _is_mine(person.address, mine))


def _distinct(people: Iterable[Person], seen: set[str]) -> tuple[Person, ...]:
    """Each address once, in a form that mail can be sent to."""
    found = []
    for person in people:
        try:
            address = sendable_address(person.address)
        except Invalid:
            continue  # the header has an address that nothing can be sent to
        if address.lower() not in seen:
            seen.add(address.lower())
            found.append(Person(name=person.name, address=address))
    return tuple(found)


def _spellings(address: str) -> tuple[str, ...]:
    """The spellings of a person's own address. One with a ``+tag`` has only itself: without the tag it may be the
    address of a group."""
    lower = address.lower()
    return (lower,) if "+" in lower.rpartition("@")[0] else (lower, _bare(lower))


def _is_mine(address: str, mine: Set[str]) -> bool:
    return address.lower() in mine or _bare(address) in mine


def _bare(address: str) -> str:
    """The form that all spellings of one mailbox share: lower case, no ``+tag``, no dots where its provider ignores
    them."""
    local, _, domain = address.lower().rpartition("@")
    local = local.partition("+")[0]
    return f"{local.replace('.', '') if domain in BY_OAUTH.dotless_domains else local}@{domain}"
