"""When threads are joined: hands the snoozes, mutes and logged actions of one thread over to the other."""

from __future__ import annotations

from svc.mail.accounts import acts
from svc.mail.sync.steps import StoredMessage
from svc.mail.threads import mutes, snoozes
from svc.store import Tx


def follow_joined(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step. A thread keeps its own snooze; without one it takes over the snooze of a thread that was joined
    to it. It is muted where any of them was."""
    for gone in stored.joined:
        acts.hand_over(tx, thread_id=gone, to=stored.thread_id)
        snoozes.hand_over(tx, thread_id=gone, to=stored.thread_id)
        mutes.hand_over(tx, thread_id=gone, to=stored.thread_id)
