"""Ingest steps: what the rest of mail does in the ingest transaction. Each step is called for each message, in order.

A step runs in the transaction that stores the message, so it happens exactly once, or not at all if the message is not
stored. It must not wait. The list is in :mod:`svc.mail.ingest_steps`. Work that may happen later follows the events
instead (durable consumers).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from svc.mail.model import Account, Incoming
from svc.store import Tx


@dataclass(frozen=True, kw_only=True)
class StoredMessage:
    """``labels``: including changes that still wait for the provider. ``is_new``: False if it was stored before and was
    only updated. ``backfill``: it was read with the whole mailbox, so it did not arrive just now. ``joined``: threads
    that were merged into ``thread_id`` because the message refers to them; their ids are no longer valid."""

    account: Account
    message: Incoming
    message_id: str
    thread_id: str
    labels: frozenset[str]
    is_new: bool
    backfill: bool
    joined: tuple[str, ...] = ()


IngestStep = Callable[[Tx, StoredMessage], None]
