"""Stores and reads the result of unsubscribing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from svc.clock import Millis
from svc.mail.unsubscribing.offers import Method, Offer
from svc.store import ReadTx, Tx, json_array

Outcome = Literal["done", "sent", "opened", "failed"]
"""``sent``: a mail that unsubscribes was accepted for sending; ``opened``: the person got the address of the page."""


@dataclass(frozen=True, kw_only=True)
class Unsubscribed:
    method: Method
    target: str
    outcome: Outcome
    detail: str | None
    at: Millis


def remember(
    tx: Tx,
    *,
    message_id: str,
    offer: Offer,
    outcome: Outcome,
    detail: str | None = None,
    outgoing_id: str | None = None,
) -> None:
    """Store a result, which replaces an earlier one. Stores nothing where the message is gone by now. ``outgoing_id``:
    of the mail that asks for it."""
    tx.run(
        """
        insert into mail_unsubscribed (message_id, method, target, outcome, detail, at, outgoing_id)
        select id, :method, :target, :outcome, :detail, :now, :outgoing_id from mail_messages where id = :message_id
        on conflict do update set method = :method, target = :target, outcome = :outcome, detail = :detail, at = :now,
            outgoing_id = :outgoing_id
        """,
        message_id=message_id,
        method=offer.method,
        target=offer.target,
        outcome=outcome,
        detail=detail,
        now=tx.now,
        outgoing_id=outgoing_id,
    )


def note_end(tx: Tx, outgoing_ids: Sequence[str]) -> None:
    """Called before these mails are deleted: stores the result of those that unsubscribe, because their rows held it
    until now. A held-back mail did nothing, and a failed one failed (see :func:`remembered`)."""
    ids = json_array(outgoing_ids)
    tx.run(
        """
        delete from mail_unsubscribed where outgoing_id in (
            select id from mail_outgoing
            where id in (select value from json_each(:ids)) and state = 'cancelled'
        )
        """,
        ids=ids,
    )
    tx.run(
        """
        update mail_unsubscribed set outcome = 'failed', detail = o.last_error
        from mail_outgoing o
        where o.id = outgoing_id and o.state = 'failed' and o.id in (select value from json_each(:ids))
        """,
        ids=ids,
    )


def remembered(tx: ReadTx, *, message_id: str) -> Unsubscribed | None:
    """The result. A mail that was held back asked for nothing, and one that could not be sent has failed."""
    row = tx.one(
        """
        select u.method, u.target, iif(o.state = 'failed', 'failed', u.outcome),
            iif(o.state = 'failed', o.last_error, u.detail), u.at
        from mail_unsubscribed u left join mail_outgoing o on o.id = u.outgoing_id
        where u.message_id = :id and o.state is not 'cancelled'
        """,
        id=message_id,
    )
    if row is None:
        return None
    return Unsubscribed(
        method=cast(Method, row[0]),
        target=cast(str, row[1]),
        outcome=cast(Outcome, row[2]),
        detail=cast("str | None", row[3]),
        at=cast(int, row[4]),
    )
