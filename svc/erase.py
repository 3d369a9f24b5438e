"""Erasing an account: what each feature that owns tables offers for it, and how it reports what is left."""

from __future__ import annotations

from typing import Literal, Protocol

from svc.store import Tx

Left = Literal["nothing", "more", "not-yet"]
"""``not-yet``: what is left can't be deleted right now. Ask again soon."""


class Erase(Protocol):
    """Delete some of what is kept of an account: a bounded batch, in one transaction that leaves the data consistent.

    It finds its work in the database, so it resumes after a kill at any point. It may be called again.
    """

    def __call__(self, tx: Tx, *, account_id: str) -> Left: ...
