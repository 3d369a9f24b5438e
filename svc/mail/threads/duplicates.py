"""Duplicates: threads with the same mail in several accounts of one person. One of them leads: Unified shows only it.

Owns ``mail_threads.twins`` (the group, null for a thread without duplicates) and ``leads``. Duplicates share a message:
the same Message-ID, sender, subject and body. With the id alone a stranger could hide a thread behind a forged one. The
leader is a thread in the inbox, then one that is not hidden, then an unread one, then the newest. Groups are small, one
or two threads per account, so that a change costs a few rows, and a list is never grouped when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from svc.mail.model import Account
from svc.store import ReadTx, Tx

_SAME: Final = """
    o.message_id_header = m.message_id_header and o.body_sha256 = m.body_sha256
    and o.sender_address = m.sender_address and o.subject = m.subject
"""


@dataclass(frozen=True, kw_only=True)
class Duplicate:
    """One thread of a group."""

    id: str
    account_id: str
    in_inbox: bool
    visible: bool
    unread: bool
    last_message_at: int
    leads: bool

    @property
    def rank(self) -> tuple[bool, bool, bool, int, str]:
        return (self.in_inbox, self.visible, self.unread, self.last_message_at, self.id)

    @property
    def on_badge(self) -> bool:
        return self.in_inbox and self.unread


def link(tx: Tx, account: Account, *, message_id: str) -> list[Duplicate]:
    """A message was stored: group its thread with the threads that have the same message. Returns the others, if the
    group has changed."""
    rows = tx.all(
        f"""
        select m.thread_id, o.thread_id from mail_messages m, mail_messages o
        where m.id = :id and o.account_id in (
            select id from mail_accounts where owner_id is :owner_id and id <> :account_id
        ) and {_SAME}
        """,
        id=message_id,
        owner_id=account.owner_id,
        account_id=account.id,
    )
    if not rows:
        return []
    thread_id = str(rows[0][0])
    ids = {thread_id, *(str(other) for _, other in rows)}
    groups = {group for one in ids if (group := group_of(tx, one)) is not None}
    if len(groups) == 1 and all(group_of(tx, one) is not None for one in ids):
        return []
    for group in groups:
        ids |= {duplicate.id for duplicate in members(tx, group)}
    _join(tx, ids)
    return [duplicate for duplicate in members(tx, min(ids)) if duplicate.id != thread_id]


def unlink(tx: Tx, *, thread_id: str) -> list[Duplicate]:
    """A message of a thread was deleted: split the group into threads that still share a message. Returns the other
    threads whose group has changed."""
    group = group_of(tx, thread_id)
    if group is None:
        return []
    before = members(tx, group)
    parts = _parts([duplicate.id for duplicate in before], _shared(tx, group))
    if len(parts) == 1:
        return []
    for part in parts:
        _join(tx, part)
    return [duplicate for duplicate in before if duplicate.id != thread_id]


def join(tx: Tx, *, gone: str, into: str) -> list[Duplicate]:
    """All messages of the thread ``gone`` are in ``into`` now: move its group there, too. Returns the other threads
    whose group has changed."""
    group = group_of(tx, gone)
    if group is None:
        return []
    own_group = group_of(tx, into)
    ids = {one.id for one in members(tx, group)} | {into}
    if own_group is not None:
        ids |= {one.id for one in members(tx, own_group)}
    _join(tx, {gone})
    _join(tx, ids - {gone})
    return [one for one in members(tx, min(ids - {gone})) if one.id != into]


def settle(tx: Tx, thread_id: str, *, leads: bool, group: str | None) -> tuple[bool, list[Duplicate]]:
    """A thread's columns changed: choose the leader of its group again. ``leads``, ``group``: the values in its row.
    Returns whether the thread leads now, and the other threads whose ``leads`` has changed, with the new value.
    """
    if group is None:
        if not leads:
            tx.run("update mail_threads set leads = 1 where id = :id", id=thread_id)
        return True, []
    threads = members(tx, group)
    leader = max(threads, key=lambda duplicate: duplicate.rank)
    changed = [duplicate for duplicate in threads if duplicate.leads != (duplicate is leader)]
    for duplicate in changed:
        tx.run("update mail_threads set leads = :leads where id = :id", leads=int(duplicate is leader), id=duplicate.id)
    others = [replace(duplicate, leads=duplicate is leader) for duplicate in changed if duplicate.id != thread_id]
    return leader.id == thread_id, others


def group_of(tx: ReadTx, thread_id: str) -> str | None:
    return cast("str | None", tx.value("select twins from mail_threads where id = :id", id=thread_id))


def members(tx: ReadTx, group: str) -> list[Duplicate]:
    rows = tx.all(
        """
        select id, account_id, in_inbox, visible, unread, last_message_at, leads from mail_threads
        where twins = :group_id order by account_id, id
        """,
        group_id=group,
    )
    return [
        Duplicate(
            id=cast(str, row[0]),
            account_id=cast(str, row[1]),
            in_inbox=bool(row[2]),
            visible=bool(row[3]),
            unread=bool(row[4]),
            last_message_at=cast(int, row[5]),
            leads=bool(row[6]),
        )
        for row in rows
    ]


def _join(tx: Tx, thread_ids: Iterable[str]) -> None:
    """Make these threads one group, named after its first thread's id. A single thread gets no group."""
    ids = sorted(thread_ids)
    group = ids[0] if len(ids) > 1 else None
    for thread_id in ids:
        tx.run("update mail_threads set twins = :group_id where id = :id", group_id=group, id=thread_id)


def _shared(tx: ReadTx, group: str) -> list[tuple[str, str]]:
    """Pairs of the group's threads that have the same message in different accounts."""
    rows = tx.all(
        f"""
        select distinct m.thread_id, o.thread_id from mail_threads a join mail_messages m on m.thread_id = a.id
            join mail_threads b on b.twins = :group_id and b.account_id <> a.account_id
            join mail_messages o on o.thread_id = b.id and {_SAME}
        where a.twins = :group_id
        """,
        group_id=group,
    )
    return [(str(one), str(other)) for one, other in rows]


def _parts(ids: Sequence[str], pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
    """The connected components of a graph."""
    part_of = {one: {one} for one in ids}
    for one, other in pairs:
        joined = part_of[one] | part_of[other]
        for each in joined:
            part_of[each] = joined
    return [set(part) for part in {frozenset(part) for part in part_of.values()}]
