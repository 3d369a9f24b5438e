"""Records who did what in a shared account: a row for each thread that a person changed, and for each mail sent.

Nothing is recorded for accounts that are not shared, because there it was the owner. The newest rows of each thread are
kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

from svc.clock import Millis
from svc.mail.accounts import queries as account_queries
from svc.mail.model import Account
from svc.principal import Principal
from svc.store import ReadTx, Tx, json_array

KEPT_A_THREAD: Final = 50
SENT: Final = "sent"


@dataclass(frozen=True, kw_only=True)
class Act:
    """``what``: the name in the undo log, or ``sent``; then ``message_id`` is the sent message. ``by``: a person's
    name."""

    by: str
    what: str
    at: Millis
    message_id: str | None


def note(tx: Tx, principal: Principal, account: Account, *, what: str, thread_ids: Iterable[str]) -> None:
    """Record that a person changed these threads."""
    if principal.user_id is None or not account_queries.shared_count(tx, account.id):
        return
    for thread_id in thread_ids:
        _insert(tx, account.id, thread_id=thread_id, message_id=None, user_id=principal.user_id, what=what)


def note_sent(tx: Tx, *, account_id: str, thread_id: str, message_id: str, user_id: str) -> None:
    """Record that a person sent this mail. Idempotent."""
    if not tx.value(
        "select 1 from mail_acts where thread_id = :thread_id and message_id = :message_id",
        thread_id=thread_id,
        message_id=message_id,
    ):
        _insert(tx, account_id, thread_id=thread_id, message_id=message_id, user_id=user_id, what=SENT)


def acts_of(tx: ReadTx, thread_id: str) -> list[Act]:
    """The recorded acts of people in a thread, oldest first."""
    rows = tx.all(
        """
        select coalesce(nullif(u.name, ''), u.email, ''), a.what, a.at, a.message_id
        from mail_acts a left join users u on u.id = a.user_id where a.thread_id = :id order by a.id
        """,
        id=thread_id,
    )
    return [
        Act(by=cast(str, by), what=cast(str, what), at=cast(Millis, at), message_id=cast("str | None", message_id))
        for by, what, at, message_id in rows
    ]


def senders_of(tx: ReadTx, thread_ids: Iterable[str]) -> dict[str, str]:
    """Maps each thread to the name of the person who sent its newest sent mail, if that was recorded."""
    rows = tx.all(
        """
        select a.thread_id, coalesce(nullif(u.name, ''), u.email, '')
        from mail_acts a left join users u on u.id = a.user_id
        where a.thread_id in (select value from json_each(:ids)) and a.message_id is not null order by a.id
        """,
        ids=json_array(sorted(thread_ids)),
    )
    return {cast(str, thread_id): cast(str, by) for thread_id, by in rows}


def hand_over(tx: Tx, *, thread_id: str, to: str) -> None:
    """The thread was joined to another: move its rows."""
    tx.run("update mail_acts set thread_id = :to where thread_id = :id", to=to, id=thread_id)


def _insert(tx: Tx, account_id: str, *, thread_id: str, message_id: str | None, user_id: str, what: str) -> None:
    tx.run(
        """
        insert into mail_acts (account_id, thread_id, message_id, user_id, what, at)
        values (:account_id, :thread_id, :message_id, :user_id, :what, :now)
        """,
        account_id=account_id,
        thread_id=thread_id,
        message_id=message_id,
        user_id=user_id,
        what=what,
        now=tx.now,
    )
    tx.run(
        """
        delete from mail_acts where thread_id = :id and id <= (
            select id from mail_acts where thread_id = :id order by id desc limit 1 offset :kept
        )
        """,
        id=thread_id,
        kept=KEPT_A_THREAD,
    )
