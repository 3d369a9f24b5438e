"""Deletes what reading has cached."""

from __future__ import annotations

from svc.store import Tx


def forget_clean(tx: Tx, *, body_sha256: str) -> None:
    """Delete the sanitized HTML of a body that no message has any more."""
    tx.run("delete from mail_clean where body_sha256 = :sha256", sha256=body_sha256)
