"""Titles that change in sight: a correspondent's page is renamed, or they are filed elsewhere, and rows follow at once.

Rows take their sender's title when they are fetched. This loop follows the news of pages and people, and tells the
newest rows of those concerned anew, as if their threads had changed. It keeps nothing: what it misses, a fetch shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from typing import Final

from svc import people
from svc.mail import counters, queries
from svc.mail.model import Section
from svc.nursery import Child, Subsystem
from svc.principal import system
from svc.store import OutboxRow, Overflowed, ReadTx, Store, Tx

NEWEST_ROWS: Final = 200
"""Of each section and account: what a list mostly holds."""

_LOOP: Final = system("mail-titles")
_TOPICS: Final = frozenset({"pages", people.TOPIC})
_SECTIONS: Final[tuple[Section, ...]] = ("inbox", "skipped")


def subsystem(store: Store) -> Subsystem:
    async def run(child: Child) -> None:
        while True:
            with store.outbox.subscribe() as subscription, suppress(Overflowed):
                child.started()
                while True:
                    await _follow(store, await subscription.receive())

    return Subsystem(name="mail-titles", run=run, independent=True)


async def _follow(store: Store, news: Sequence[OutboxRow]) -> None:
    concerned = await store.read(_concerned, news) if any(row.topic in _TOPICS for row in news) else frozenset()
    if concerned:
        await store.write(_tell_rows, concerned=concerned)


def _concerned(tx: ReadTx, news: Sequence[OutboxRow]) -> frozenset[people.Correspondent]:
    """Of new correspondents people tells itself: their rows are news anyway."""
    refiled = {people.Correspondent(row.audience, row.id) for row in news if row.kind == people.PERSON_CHANGED}
    changed = [row.id for row in news if row.kind == "page.changed" and row.device_id != people.DEVICE_ID]
    return people.filed_under(tx, page_ids=changed) | refiled


def _tell_rows(tx: Tx, *, concerned: Set[people.Correspondent]) -> None:
    for account in queries.accounts(tx, _LOOP):
        addresses = {one.address for one in concerned if one.owner_id == account.owner_id}
        for thread_id in _rows_from(tx, account.id, addresses) if addresses else ():
            counters.emit_thread(tx, account, thread_id, device_id=_LOOP.device_id)


def _rows_from(tx: Tx, account_id: str, addresses: Set[str]) -> Iterable[str]:
    for section in _SECTIONS:
        for row in queries.threads(tx, account_ids=[account_id], section=section, cursor=None, limit=NEWEST_ROWS):
            if people.plain_address(row.sender_address) in addresses:
                yield row.id
