"""The writes of notifications: preferences, browsers, and the queue of pushes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from svc.clock import Millis
from svc.erase import Left
from svc.errors import Invalid
from svc.ids import derived_id
from svc.notifications.model import KEEP_MS, Browser, Preferences, Push
from svc.store import Tx

MAX_BROWSERS: Final = 20
"""Browsers of one person that get notifications. Beyond: the oldest is forgotten."""

MAX_PROBLEM_CHARS: Final = 200
"""What a push service says of a fault. Beyond: it is cut."""


def set_preferences(tx: Tx, *, user_id: str, wanted: Preferences) -> None:
    quiet = wanted.quiet
    tx.run(
        """
        insert into notify_preferences (user_id, words, time_zone, quiet_begin, quiet_end)
        values (:user_id, :words, :time_zone, :begin, :end) on conflict do update set
            words = excluded.words, time_zone = excluded.time_zone, quiet_begin = excluded.quiet_begin,
            quiet_end = excluded.quiet_end
        """,
        user_id=user_id,
        words=wanted.words,
        time_zone=None if quiet is None else quiet.time_zone,
        begin=None if quiet is None else quiet.begin,
        end=None if quiet is None else quiet.end,
    )
    tx.run("delete from notify_accounts where user_id = :user_id", user_id=user_id)
    tx.run_many(
        "insert into notify_accounts (account_id, user_id) values (:account_id, :user_id)",
        [{"account_id": account_id, "user_id": user_id} for account_id in sorted(wanted.account_ids)],
    )


def take_browser(tx: Tx, *, user_id: str, device_id: str, endpoint: str, public_key: bytes, secret: bytes) -> str:
    """Registers a browser for pushes to this person. Idempotent per endpoint. Returns its id."""
    browser_id = derived_id("psh", endpoint)
    tx.run("delete from push_browsers where id = :id and user_id <> :user_id", id=browser_id, user_id=user_id)
    tx.run(
        """
        insert into push_browsers (id, user_id, device_id, endpoint, public_key, secret, created_at)
        values (:id, :user_id, :device_id, :endpoint, :public_key, :secret, :now) on conflict (id) do update set
            device_id = excluded.device_id, public_key = excluded.public_key, secret = excluded.secret, problem = null
        """,
        id=browser_id,
        user_id=user_id,
        device_id=device_id,
        endpoint=endpoint,
        public_key=public_key,
        secret=secret,
        now=tx.now,
    )
    tx.run(
        """
        delete from push_browsers where user_id = :user_id and id in (
            select id from push_browsers where user_id = :user_id order by created_at desc, id desc
            limit -1 offset :most
        )
        """,
        user_id=user_id,
        most=MAX_BROWSERS,
    )
    return browser_id


def forget_browser(tx: Tx, *, browser_id: str, user_id: str | None = None) -> bool:
    """Removes the browser. Returns whether there was one. ``user_id``: only if it belongs to this person."""
    return bool(
        tx.run(
            "delete from push_browsers where id = :id and (:user_id is null or user_id = :user_id)",
            id=browser_id,
            user_id=user_id,
        )
    )


def queue(
    tx: Tx, browsers: Iterable[Browser], *, message_id: str, thread_id: str, account_id: str, payload: bytes, at: Millis
) -> None:
    """Queues a push for each browser. One that was queued before, in any state, is not queued again."""
    tx.run_many(
        """
        insert into push_queue (browser_id, message_id, thread_id, account_id, payload, state, created_at, next_at)
        values (:browser_id, :message_id, :thread_id, :account_id, :payload, 'waiting', :at, :now)
        on conflict do nothing
        """,
        [
            {
                "browser_id": one.id,
                "message_id": message_id,
                "thread_id": thread_id,
                "account_id": account_id,
                "payload": payload,
                "at": at,
                "now": tx.now,
            }
            for one in browsers
        ],
    )


def begin(tx: Tx, push: Push) -> bool:
    """Marks a push as begun, before its first byte is sent. A begun push is never begun again, even after a crash."""
    return bool(
        tx.run(
            """
            update push_queue set state = 'sending', attempts = attempts + 1
            where browser_id = :browser_id and message_id = :message_id and state = 'waiting'
            """,
            browser_id=push.browser_id,
            message_id=push.message_id,
        )
    )


def end(tx: Tx, push: Push, *, problem: str | None = None) -> None:
    """Marks a push as finished: it was accepted, refused for good, or is not wanted any more."""
    tx.run(
        "update push_queue set state = 'done' where browser_id = :browser_id and message_id = :message_id",
        browser_id=push.browser_id,
        message_id=push.message_id,
    )
    tx.run(
        "update push_browsers set problem = :problem where id = :id and problem is not :problem",
        problem=None if problem is None else problem[:MAX_PROBLEM_CHARS],
        id=push.browser_id,
    )


def put_off(tx: Tx, push: Push, *, next_at: Millis) -> None:
    """Puts a push back into the queue: nothing of it was accepted, so it may be tried again."""
    tx.run(
        """
        update push_queue set state = 'waiting', next_at = :next_at
        where browser_id = :browser_id and message_id = :message_id
        """,
        next_at=next_at,
        browser_id=push.browser_id,
        message_id=push.message_id,
    )


def prune(tx: Tx) -> None:
    """Deletes old rows, and the browsers whose session has ended."""
    tx.run("delete from push_queue where created_at < :before", before=tx.now - KEEP_MS)
    tx.run("delete from push_browsers where device_id in (select id from devices where revoked)")


def erase(tx: Tx, *, account_id: str) -> Left:
    tx.run("delete from notify_accounts where account_id = :id", id=account_id)
    tx.run("delete from push_queue where account_id = :id", id=account_id)
    return "nothing"


def require_key(public_key: bytes, secret: bytes) -> None:
    """Raises :class:`Invalid` unless these are the keys of a browser (RFC 8291, section 3.1)."""
    if len(public_key) != 65 or public_key[0] != 4 or len(secret) != 16:
        raise Invalid("These are not the keys of a push subscription.")
