"""Every statement of labelling that only reads: labels by name, snoozes, and what of both is due."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from svc.clock import Millis
from svc.mail import queries
from svc.mail.model import Label, ThreadRow
from svc.mail.wire import SYSTEM_LABEL_NAMES, shown_name
from svc.principal import Principal
from svc.store import ReadTx

MAX_SNOOZED: Final = 500


@dataclass(frozen=True, kw_only=True)
class Snooze:
    thread_id: str
    account_id: str
    until: Millis


def labels_of(tx: ReadTx, account_ids: Sequence[str]) -> list[tuple[str, Label]]:
    """``(account id, label)``: the provider's own labels first, then by name."""
    found = [(account_id, label) for account_id in account_ids for label in queries.labels(tx, account_id).values()]
    return sorted(found, key=lambda pair: (pair[0], not pair[1].system, shown_name(pair[1]).casefold()))


def label_of(tx: ReadTx, account_id: str, label_id: str) -> Label | None:
    """A system label is known before the provider's first listing."""
    if label_id in SYSTEM_LABEL_NAMES:
        return Label(id=label_id, name=label_id, system=True, color=None)
    return queries.labels(tx, account_id).get(label_id)


def label_named(tx: ReadTx, account_id: str, name: str) -> Label | None:
    """By the name that a person sees, upper and lower case alike, as the provider itself tells labels apart."""
    wanted = name.casefold()
    for label in queries.labels(tx, account_id).values():
        if wanted in {label.name.casefold(), shown_name(label).casefold()}:
            return label
    return None


def labels_are_old(tx: ReadTx, account_id: str, *, after_ms: Millis) -> bool:
    """Whether the provider has not listed its labels for that long; also when the wall clock jumped back since."""
    listed_at = cast(int, tx.value("select labels_at from mail_accounts where id = :id", id=account_id) or 0)
    return not listed_at <= tx.now < listed_at + after_ms


# Snoozes


def snoozed_until(tx: ReadTx, thread_id: str) -> Millis | None:
    return cast("int | None", tx.value("select until from mail_snoozes where thread_id = :id", id=thread_id))


def snoozed(tx: ReadTx, principal: Principal) -> list[tuple[ThreadRow, Millis]]:
    """The principal's snoozed threads, the next to come back first."""
    found = []
    for account in queries.accounts(tx, principal):
        rows = tx.all(
            "select thread_id, until from mail_snoozes where account_id = :id order by until limit :limit",
            id=account.id,
            limit=MAX_SNOOZED,
        )
        found += [(row, int(until)) for thread_id, until in rows if (row := queries.thread(tx, thread_id)) is not None]
    return sorted(found, key=lambda pair: pair[1])[:MAX_SNOOZED]


def due_snoozes(tx: ReadTx, *, limit: int) -> list[Snooze]:
    """Those whose time has come. An account that is disconnected, or whose mailbox is being read anew, has time: its
    threads may not be here yet."""
    rows = tx.all(
        """
        select s.thread_id, s.account_id, s.until from mail_snoozes s join mail_accounts a on a.id = s.account_id
        where s.until <= :now and a.state <> 'disconnected'
            and (exists (select 1 from mail_threads t where t.id = s.thread_id)
                or (a.history_id is not null and a.sweep_history_id is null))
        order by s.until limit :limit
        """,
        now=tx.now,
        limit=limit,
    )
    return [Snooze(thread_id=row[0], account_id=row[1], until=row[2]) for row in rows]


def next_snooze_at(tx: ReadTx) -> Millis | None:
    """When the next thread comes back, of those that do not wait for their account."""
    return cast("int | None", tx.value("select min(until) from mail_snoozes where until > :now", now=tx.now))
