"""What reading keeps, and lets go."""

from __future__ import annotations

from svc.store import Tx


def forget_clean(tx: Tx, *, body_sha256: str) -> None:
    """A body that no message has any more was sanitized once."""
    tx.run("delete from mail_clean where body_sha256 = :sha256", sha256=body_sha256)
