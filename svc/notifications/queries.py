"""Statements that read people's preferences, their browsers, and the queued pushes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from svc.clock import Millis
from svc.notifications.model import KEEP_MS, Browser, Preferences, Push, Quiet, Words
from svc.store import ReadTx, Row

_BROWSER: Final = "b.id, b.user_id, b.device_id, b.endpoint, b.public_key, b.secret, b.created_at, b.problem, u.email"


def preferences(tx: ReadTx, user_id: str) -> Preferences:
    row = tx.one(
        "select words, time_zone, quiet_begin, quiet_end from notify_preferences where user_id = :id", id=user_id
    )
    accounts = tx.all("select account_id from notify_accounts where user_id = :id", id=user_id)
    words, time_zone, begin, end = row or ("all", None, 0, 0)
    return Preferences(
        words=cast(Words, words),
        quiet=None if time_zone is None else Quiet(time_zone=time_zone, begin=begin, end=end),
        account_ids=frozenset(str(account_id) for (account_id,) in accounts),
    )


def listeners(tx: ReadTx, account_id: str) -> list[str]:
    """The people who chose the account, whether or not they still may read it."""
    rows = tx.all("select user_id from notify_accounts where account_id = :id order by user_id", id=account_id)
    return [str(user_id) for (user_id,) in rows]


def browsers_of(tx: ReadTx, user_id: str) -> list[Browser]:
    """The person's browsers whose session is still valid."""
    rows = tx.all(
        f"""
        select {_BROWSER} from push_browsers b join devices d on d.id = b.device_id join users u on u.id = b.user_id
        where b.user_id = :id and not d.revoked order by b.created_at, b.id
        """,
        id=user_id,
    )
    return [_browser(row) for row in rows]


def browser(tx: ReadTx, browser_id: str) -> Browser | None:
    """The browser; ``None`` also if its session has ended."""
    row = tx.one(
        f"""
        select {_BROWSER} from push_browsers b join devices d on d.id = b.device_id join users u on u.id = b.user_id
        where b.id = :id and not d.revoked
        """,
        id=browser_id,
    )
    return None if row is None else _browser(row)


def due(tx: ReadTx, *, limit: int) -> Sequence[Push]:
    rows = tx.all(
        """
        select browser_id, message_id, thread_id, payload, created_at, attempts from push_queue
        where state = 'waiting' and next_at <= :now order by next_at limit :limit
        """,
        now=tx.now,
        limit=limit,
    )
    return [
        Push(browser_id=row[0], message_id=row[1], thread_id=row[2], payload=row[3], created_at=row[4], attempts=row[5])
        for row in rows
    ]


def next_at(tx: ReadTx) -> Millis | None:
    return cast("int | None", tx.value("select min(next_at) from push_queue where state = 'waiting'"))


def is_anything_old(tx: ReadTx) -> bool:
    """Whether ``actions.prune`` has something to delete."""
    found = tx.value(
        """
        select exists (select 1 from push_queue where created_at < :before)
            or exists (select 1 from push_browsers where device_id in (select id from devices where revoked))
        """,
        before=tx.now - KEEP_MS,
    )
    return bool(found)


def still_wanted(tx: ReadTx, user_id: str, message_id: str) -> bool:
    """Whether the person needs a notification of the message now: not if they have read or archived it elsewhere, and
    not in their quiet hours, which may have begun while it was queued."""
    quiet = preferences(tx, user_id).quiet
    if quiet is not None and quiet.holds_at(tx.now):
        return False
    return bool(tx.value("select in_inbox and unread from mail_messages where id = :id", id=message_id))


def _browser(row: Row) -> Browser:
    return Browser(
        id=cast(str, row[0]),
        user_id=cast(str, row[1]),
        device_id=cast(str, row[2]),
        endpoint=cast(str, row[3]),
        public_key=cast(bytes, row[4]),
        secret=cast(bytes, row[5]),
        created_at=cast(int, row[6]),
        problem=cast("str | None", row[7]),
        email=cast(str, row[8]),
    )
