"""Updates shown rows when a title changes: a correspondent's page is renamed, or they are filed under another page.

A row gets the titles of the people it names when it is fetched. This consumer follows the events of pages and people,
and emits the newest rows that name the affected people again, as if their threads had changed: exactly once, even after
a crash. New correspondents need no such event: their rows are new anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final

import msgspec

from svc import pages, people
from svc.mail.accounts import queries as account_queries
from svc.mail.model import OWN_LISTS, SECTIONS, ThreadRow
from svc.mail.threads import correspondents, thread_rows
from svc.mail.threads import queries as thread_queries
from svc.principal import system
from svc.store import Consumer, Event, ReadTx, Tx
from svc.workspace import Workspace

NEWEST_ROWS: Final = 200
"""How many of the newest rows of each list and account are checked."""

_LOOP: Final = system("mail-titles")


class _PageChanged(msgspec.Struct, frozen=True, rename="camel"):
    page_id: str


class _PersonChanged(msgspec.Struct, frozen=True):
    address: str


def retell(tx: Tx, events: Sequence[Event]) -> None:
    """Emit again the rows that name people whom these events concern."""
    concerned = _concerned(tx, events)
    if concerned:
        _tell_rows(tx, concerned=concerned)


def _concerned(tx: ReadTx, events: Sequence[Event]) -> frozenset[people.Correspondent]:
    refiled = {
        people.Correspondent(one.audience, msgspec.json.decode(one.payload, type=_PersonChanged).address)
        for one in events
        if one.type == people.PERSON_CHANGED
    }
    changed = {
        msgspec.json.decode(one.payload, type=_PageChanged).page_id for one in events if one.type == pages.PAGE_CHANGED
    }
    return people.filed_under(tx, page_ids=changed) | refiled


def _tell_rows(tx: Tx, *, concerned: Set[people.Correspondent]) -> None:
    for account in account_queries.accounts(tx, _LOOP):
        addresses = {one.address for one in concerned if one.owner_id == account.owner_id}
        for thread_id in _rows_from(tx, account.id, addresses) if addresses else ():
            thread_rows.emit_thread(tx, account, thread_id, device_id=_LOOP.device_id)


def _rows_from(tx: Tx, account_id: str, addresses: Set[str]) -> Iterable[str]:
    """Each thread once: a thread is in a section, and maybe in Sent and Drafts, too."""
    found: dict[str, None] = {}
    for row in _newest_rows(tx, [account_id]):
        if not addresses.isdisjoint(map(people.plain_address, correspondents.named_in(row))):
            found[row.id] = None
    return found


def _newest_rows(tx: Tx, account_ids: Sequence[str]) -> Iterator[ThreadRow]:
    for section in SECTIONS:
        yield from thread_queries.threads(
            tx, account_ids=account_ids, sections=(section,), cursor=None, limit=NEWEST_ROWS
        )
    for own_list in OWN_LISTS.values():
        yield from thread_queries.threads_written(
            tx, account_ids=account_ids, own_list=own_list, cursor=None, limit=NEWEST_ROWS
        )


CONSUMER: Final[Consumer[Workspace]] = Consumer(
    name="mail-titles",
    types=frozenset({pages.PAGE_CHANGED, people.PERSON_CHANGED}),
    summary="Tells rows of mail anew when those they name are called otherwise.",
    apply=retell,
)
