"""Snoozes of threads that became one with another."""

from __future__ import annotations

from svc.mail.sync.steps import StoredMessage
from svc.mail.threads import snoozes
from svc.store import Tx


def follow_joined(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step. The thread's own snooze stands; else it takes over one of those that were joined to it."""
    for gone in stored.joined:
        snoozes.hand_over(tx, thread_id=gone, to=stored.thread_id)
