"""Queries of snoozes, and of those that are due."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from svc.clock import Millis
from svc.mail.accounts import queries as account_queries
from svc.mail.model import ThreadRow
from svc.mail.threads import queries as thread_queries
from svc.principal import Principal
from svc.store import ReadTx, json_array

MAX_SNOOZED: Final = 500


@dataclass(frozen=True, kw_only=True)
class Snooze:
    thread_id: str
    account_id: str
    until: Millis


# Snoozes


def snoozed_until(tx: ReadTx, thread_id: str) -> Millis | None:
    return cast("int | None", tx.value("select until from mail_snoozes where thread_id = :id", id=thread_id))


def snoozed(tx: ReadTx, principal: Principal) -> list[tuple[ThreadRow, Millis]]:
    """The principal's snoozed threads, the next to come back first."""
    found = []
    for account in account_queries.accounts(tx, principal):
        rows = tx.all(
            "select thread_id, until from mail_snoozes where account_id = :id order by until limit :limit",
            id=account.id,
            limit=MAX_SNOOZED,
        )
        found += [
            (row, int(until)) for thread_id, until in rows if (row := thread_queries.thread(tx, thread_id)) is not None
        ]
    return sorted(found, key=lambda pair: pair[1])[:MAX_SNOOZED]


def snoozed_ids(tx: ReadTx, *, account_ids: Sequence[str], limit: int) -> list[str]:
    """The threads of these accounts that are snoozed, the next to come back first."""
    rows = tx.all(
        """
        select thread_id from mail_snoozes where account_id in (select value from json_each(:account_ids))
        order by until, thread_id limit :limit
        """,
        account_ids=json_array(account_ids),
        limit=limit,
    )
    return [cast(str, thread_id) for (thread_id,) in rows]


def due_snoozes(tx: ReadTx, *, limit: int) -> list[Snooze]:
    """The snoozes whose time has come. A snooze in a disconnected account waits. So does one whose thread is missing
    while its mailbox is being read anew: the thread may still come."""
    rows = tx.all(
        """
        select s.thread_id, s.account_id, s.until from mail_snoozes s join mail_accounts a on a.id = s.account_id
        where s.until <= :now and a.state <> 'disconnected'
            and (exists (select 1 from mail_threads t where t.id = s.thread_id)
                or (a.cursor is not null and a.sweep_cursor is null))
        order by s.until limit :limit
        """,
        now=tx.now,
        limit=limit,
    )
    return [Snooze(thread_id=row[0], account_id=row[1], until=row[2]) for row in rows]


def next_snooze_at(tx: ReadTx) -> Millis | None:
    """When the next snooze ends, apart from those that are due already and wait for their account."""
    return cast("int | None", tx.value("select min(until) from mail_snoozes where until > :now", now=tx.now))
