"""Connects mail with people: reports correspondents to them, and asks for titles and for the page of a thread.

Spam, trash, drafts and bulk mail report no correspondents. In mail that the account sent, each recipient counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from svc import people
from svc.formats.person import Person
from svc.mail.accounts import own_addresses
from svc.mail.accounts import queries as account_queries
from svc.mail.model import HIDDEN_LABELS, Account, Incoming, MessageRow, ThreadRow, is_own
from svc.principal import Principal
from svc.store import ReadTx, Tx

MAX_CANDIDATES: Final = 100
"""How many addresses of a thread are checked to find its page."""

Titles = dict[tuple[str, str], str]
"""Maps account id and address, as in a row of the list, to the title of the person's page."""


def meet(tx: Tx, account: Account, message: Incoming, *, labels: frozenset[str]) -> None:
    """A new message was stored: report its sender, or its recipients if it is the account's own, to people."""
    if labels & HIDDEN_LABELS or message.headers.bulk:
        return
    sent = is_own(labels)
    own = account_queries.addresses_of(tx, owner_id=account.owner_id)
    headers = message.headers
    met = (*headers.to, *headers.cc, *headers.bcc) if sent else (message.sender,)
    others = (one for one in reversed(met) if not own_addresses.is_one(one.address, own))
    by_address = {people.plain_address(one.address): one for one in others}
    for person in by_address.values():
        people.meet(
            tx,
            owner_id=account.owner_id,
            own=own,
            name=person.name,
            address=person.address,
            at=message.sent_at,
            direction="sent" if sent else "received",
        )
    if sent:
        people.met_together(tx, owner_id=account.owner_id, addresses=by_address, at=message.sent_at)


def titles(tx: ReadTx, rows: Sequence[ThreadRow], viewer: Principal | None = None) -> Titles:
    """The titles of the people whom these rows name, with a few queries for any number of rows.

    They come from the pages of ``viewer``; ``None``: of the owner of each account. Pages are private: nobody learns
    what another person calls somebody.
    """
    found: Titles = {}
    account_ids = {row.account_id for row in rows}
    if viewer is None or viewer.sees_everything:
        owners = account_queries.owners_of(tx, account_ids=account_ids)
    else:
        owners = dict.fromkeys(account_ids, viewer.user_id)
    for owner_id in set(owners.values()):
        theirs = [row for row in rows if owners[row.account_id] == owner_id]
        addresses = {row.sender_address for row in theirs}
        for row in theirs:
            if row.writers or row.sent is not None or row.draft is not None:
                addresses.update(named_in(row))
        known = people.titles(tx, owner_id=owner_id, addresses=addresses)
        for row in theirs if known else ():
            for address in named_in(row):
                title = known.get(people.plain_address(address))
                if title is not None:
                    found[row.account_id, address] = title
    return found


def named_in(row: ThreadRow) -> Iterator[str]:
    """The addresses that a row may name: those who wrote, and those to whom the owner wrote."""
    yield row.sender_address
    yield from (one.address for one in row.writers)
    for own in (row.sent, row.draft):
        if own is not None:
            yield from (one.address for one in own.words.to)


def filing(tx: ReadTx, viewer: Principal, *, account_id: str, messages: Iterable[MessageRow]) -> people.PageRef | None:
    """The caller's page of a thread's first correspondent who is not its owner. ``messages``: oldest first."""
    owner_id = account_queries.owners_of(tx, account_ids={account_id})[account_id]
    own = account_queries.addresses_of(tx, owner_id=owner_id)
    if not viewer.sees_everything:
        owner_id = viewer.user_id
    spellings = (people.plain_address(person.address) for message in messages for person in _others(message))
    foreign = dict.fromkeys(address for address in spellings if not own_addresses.is_one(address, own))
    return people.filing(tx, owner_id=owner_id, addresses=list(islice(foreign, MAX_CANDIDATES)))


def _others(message: MessageRow) -> Iterator[Person]:
    if is_own(frozenset(message.labels)):
        yield from message.headers.to
        yield from message.headers.cc
    else:
        yield message.sender
