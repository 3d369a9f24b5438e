"""Stores and reads the result of unsubscribing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from svc.clock import Millis
from svc.mail.unsubscribing.offers import Method, Offer
from svc.store import ReadTx, Tx

Outcome = Literal["done", "sent", "opened", "failed"]
"""``sent``: a mail that unsubscribes was accepted for sending; ``opened``: the person got the address of the page."""


@dataclass(frozen=True, kw_only=True)
class Unsubscribed:
    method: Method
    target: str
    outcome: Outcome
    detail: str | None
    at: Millis


def remember(tx: Tx, *, message_id: str, offer: Offer, outcome: Outcome, detail: str | None = None) -> None:
    """Store a result, which replaces an earlier one. Stores nothing where the message is gone by now."""
    tx.run(
        """
        insert into mail_unsubscribed (message_id, method, target, outcome, detail, at)
        select id, :method, :target, :outcome, :detail, :now from mail_messages where id = :message_id
        on conflict do update set method = :method, target = :target, outcome = :outcome, detail = :detail, at = :now
        """,
        message_id=message_id,
        method=offer.method,
        target=offer.target,
        outcome=outcome,
        detail=detail,
        now=tx.now,
    )


def remembered(tx: ReadTx, *, message_id: str) -> Unsubscribed | None:
    row = tx.one(
        "select method, target, outcome, detail, at from mail_unsubscribed where message_id = :id", id=message_id
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
