"""The filtered lists: a section, a label, Sent or Drafts, filtered by unread, to me, attachment or starred.

Owns ``mail_filtered_threads``: a row says that a thread is in a list and passes a filter. So a page of a filtered list
is one index walk, even if only few threads pass. The rows of a thread follow from its own columns (:class:`Standing`);
``thread_rows.py`` updates them at each change, and writes only the differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple

import msgspec

from svc.clock import Millis
from svc.mail.model import HIDDEN_LABELS, OWN_LISTS, STARRED, Filter, OwnList, Section, ThreadRow, has_list
from svc.mail.threads.queries import THREAD, Cursor, merged
from svc.store import ReadTx, Tx, Value

_ANOTHER_LEADS: Final = """
    t.twins is not null and not t.leads and exists (
        select 1 from mail_threads o
        where o.twins = t.twins and o.account_id in (select key from json_each(:lists))
            and (not o.leads, o.account_id, o.id) < (not t.leads, t.account_id, t.id)
    )
"""

ListName = str
"""The name of a list in one account, made by :func:`section_list`, :func:`own_list_name` or :func:`label_list_name`."""

_LEADER_IS_LISTED: Final = """
    t.twins is not null and not t.leads and exists (
        select 1 from mail_threads o join mail_filtered_threads ol on ol.account_id = o.account_id
            and ol.list = (select value from json_each(:lists) where key = o.account_id)
            and ol.filter = :only and ol.at = o.{at} and ol.thread_id = o.id
        where o.twins = t.twins and o.leads
    )
"""


class Place(NamedTuple):
    list: ListName
    filter: Filter
    at: Millis


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The columns of a thread that decide its places in the lists."""

    in_inbox: bool
    visible: bool
    unread: bool
    to_me: bool
    attachments: bool
    labels: frozenset[str]
    at: Millis
    sent_at: Millis | None
    draft_at: Millis | None

    def places(self) -> frozenset[Place]:
        lists, filters = tuple(self._lists()), tuple(self._filters())
        return frozenset(Place(name, only, at) for (name, at), only in product(lists, filters))

    def _filters(self) -> Iterator[Filter]:
        if self.unread:
            yield "unread"
        if self.to_me:
            yield "to-me"
        if self.attachments:
            yield "attachment"
        if STARRED in self.labels:
            yield "starred"

    def _lists(self) -> Iterator[tuple[ListName, Millis]]:
        if self.in_inbox or self.visible:
            yield section_list("inbox" if self.in_inbox else "skipped"), self.at
        for name, at in (("sent", self.sent_at), ("draft", self.draft_at)):
            if at is not None:
                yield own_list_name(name), at
        for label_id in self.labels:
            if has_list(label_id) and label_id not in OWN_LISTS and (self.visible or label_id in HIDDEN_LABELS):
                yield label_list_name(label_id), self.at


def passes(row: ThreadRow, only: Filter) -> bool:
    """Whether a given row passes the filter; for lists that have no rows by filter."""
    if only == "starred":
        return STARRED in row.labels
    return {"unread": row.unread, "to-me": row.to_me, "attachment": row.attachments}[only] > 0


def section_list(section: Section) -> ListName:
    return f"in:{section}"


def own_list_name(own_list: str) -> ListName:
    return f"own:{own_list}"


def label_list_name(label_id: str) -> ListName:
    return f"label:{label_id}"


def move(tx: Tx, *, account_id: str, thread_id: str, before: frozenset[Place], after: frozenset[Place]) -> None:
    for place in sorted(before - after):
        tx.run(
            """
            delete from mail_filtered_threads
            where account_id = :account_id and list = :list and filter = :filter and at = :at and thread_id = :thread_id
            """,
            account_id=account_id,
            thread_id=thread_id,
            **place._asdict(),
        )
    for place in sorted(after - before):
        tx.run(
            """
            insert into mail_filtered_threads (account_id, list, filter, at, thread_id)
            values (:account_id, :list, :filter, :at, :thread_id)
            """,
            account_id=account_id,
            thread_id=thread_id,
            **place._asdict(),
        )


def threads(
    tx: ReadTx,
    *,
    lists: Sequence[Mapping[str, ListName]],
    only: Filter,
    cursor: Cursor | None,
    limit: int,
    own_list: OwnList | None = None,
    leading: bool = False,
) -> list[ThreadRow]:
    """The newest ``limit`` threads after ``cursor`` that pass the filter. ``lists``: each list's name per account.

    A duplicate is left out if its leader is listed; with ``leading``, always if it is not the leader.
    """
    walks = [
        _walk(
            tx,
            account_id=account_id,
            lists=one,
            only=only,
            cursor=cursor,
            limit=limit,
            left_out=_left_out(one, leading=leading, own_list=own_list),
        )
        for one in lists
        for account_id in one
    ]
    return merged(walks, limit, own_list)


def _left_out(lists: Mapping[str, ListName], *, leading: bool, own_list: OwnList | None) -> str:
    if len(lists) < 2:
        return "0"
    if leading:
        return _ANOTHER_LEADS
    return _LEADER_IS_LISTED.format(at="last_message_at" if own_list is None else f"last_{own_list}_at")


def _walk(
    tx: ReadTx,
    *,
    account_id: str,
    lists: Mapping[str, ListName],
    only: Filter,
    cursor: Cursor | None,
    limit: int,
    left_out: str,
) -> Iterator[tuple[object, ...]]:
    after = "and (l.at, l.thread_id) < (:at, :id)" if cursor else ""
    place: dict[str, Value] = {"at": cursor.at, "id": cursor.id} if cursor else {}
    return tx.each(
        f"""
        select {THREAD} from mail_filtered_threads l join mail_threads t on t.id = l.thread_id
        where l.account_id = :account_id and l.list = :list and l.filter = :only {after} and not ({left_out})
        order by l.at desc, l.thread_id desc limit :limit
        """,
        account_id=account_id,
        list=lists[account_id],
        lists=msgspec.json.encode(lists).decode(),
        only=only,
        limit=limit,
        **place,
    )
