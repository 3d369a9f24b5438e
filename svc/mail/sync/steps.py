"""What the rest of mail adds to the ingest transaction: a step is called for each message, in the order of one list.

A step runs in the transaction that stores the message, so it happens once, with it or not at all. It may not wait. The
list stands in :mod:`svc.mail.ingest_steps`; what may come later follows the events instead (durable consumers).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from svc.mail.model import Account, Incoming
from svc.store import Tx


@dataclass(frozen=True, kw_only=True)
class StoredMessage:
    """``labels``: with the changes that wait for the provider. ``is_new``: else it was stored before, and only its
    labels were brought up to date. ``backfill``: it was read with the whole mailbox, it did not arrive just now.
    ``joined``: the threads that became one with ``thread_id`` because the message refers to them; their ids end."""

    account: Account
    message: Incoming
    message_id: str
    thread_id: str
    labels: frozenset[str]
    is_new: bool
    backfill: bool
    joined: tuple[str, ...] = ()


IngestStep = Callable[[Tx, StoredMessage], None]
