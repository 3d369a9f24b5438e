"""Answers to threads that became one with another."""

from __future__ import annotations

from svc.mail.sync.steps import StoredMessage
from svc.store import Tx


def follow_joined(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step: drafts and outgoing mail answer the thread that there is now."""
    for gone in stored.joined:
        tx.run("update mail_outgoing set thread_id = :now where thread_id = :gone", now=stored.thread_id, gone=gone)
        tx.run("update mail_drafts set thread_id = :now where thread_id = :gone", now=stored.thread_id, gone=gone)
