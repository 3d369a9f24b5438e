"""Statements that read people's preferences, their browsers, and the queued pushes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from svc import mail
from svc.clock import Millis
from svc.notifications.model import KEEP_MS, KEPT_THERE_S, Browser, Preferences, Push, Quiet, Words
from svc.principal import Principal
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
        select browser_id, message_id, thread_id, account_id, payload, created_at, attempts from push_queue
        where state = 'waiting' and next_at <= :now order by next_at limit :limit
        """,
        now=tx.now,
        limit=limit,
    )
    return [
        Push(
            browser_id=row[0],
            message_id=row[1],
            thread_id=row[2],
            account_id=row[3],
            payload=row[4],
            created_at=row[5],
            attempts=row[6],
        )
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


def wanted_for_s(tx: ReadTx, user_id: str, push: Push) -> int | None:
    """How long the push is of use to the person, for the push service to keep it: until their quiet hours begin.

    ``None``: it is of no use now. They have read or archived the message elsewhere, quiet hours have begun, they do not
    want to hear of the account any more, or it is not shared with them any more.
    """
    wanted = preferences(tx, user_id)
    if push.account_id not in wanted.account_ids:
        return None
    if mail.account_for(tx, as_person(user_id), account_id=push.account_id, to="read") is None:
        return None
    if not tx.value("select in_inbox and unread from mail_messages where id = :id", id=push.message_id):
        return None
    if wanted.quiet is None:
        return KEPT_THERE_S
    begins_in_s = wanted.quiet.begins_in_s(tx.now)
    if wanted.quiet.holds_at(tx.now) or begins_in_s == 0:
        return None
    return KEPT_THERE_S if begins_in_s is None else min(KEPT_THERE_S, begins_in_s)


def as_person(user_id: str) -> Principal:
    """A principal for a person who is not signed in here: access is decided as if they asked."""
    return Principal(user_id=user_id, device_id="system:notifications", is_admin=False, via="session")


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
