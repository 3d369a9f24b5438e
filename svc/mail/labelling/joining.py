"""Snoozes and mutes of threads that became one with another, and what people did to them."""

from __future__ import annotations

from svc.mail.accounts import acts
from svc.mail.sync.steps import StoredMessage
from svc.mail.threads import mutes, snoozes
from svc.store import Tx


def follow_joined(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step. The thread's own snooze stands; else it takes over one of those that were joined to it. One is
    muted where any of them was."""
    for gone in stored.joined:
        acts.hand_over(tx, thread_id=gone, to=stored.thread_id)
        snoozes.hand_over(tx, thread_id=gone, to=stored.thread_id)
        mutes.hand_over(tx, thread_id=gone, to=stored.thread_id)
