"""Keeps replies in their thread when threads are joined."""

from __future__ import annotations

from svc.mail.sync.steps import StoredMessage
from svc.store import Tx


def follow_joined(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step: drafts and outgoing mail that answer a joined thread now answer the thread that remains."""
    for gone in stored.joined:
        tx.run("update mail_outgoing set thread_id = :now where thread_id = :gone", now=stored.thread_id, gone=gone)
        tx.run("update mail_drafts set thread_id = :now where thread_id = :gone", now=stored.thread_id, gone=gone)
