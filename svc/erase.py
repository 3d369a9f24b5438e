"""The end of an account: what every owner of tables offers for it, and what it says it has left."""

from __future__ import annotations

from typing import Literal, Protocol

from svc.store import Tx

Left = Literal["nothing", "more", "not-yet"]
"""``not-yet``: only what can't go at this moment. Ask again in a moment."""


class Erase(Protocol):
    """Delete some of what is kept of an account: a bounded batch, in a transaction after which everything holds.

    It finds its work in the database, so that a kill anywhere resumes where it was, and may be called again.
    """

    def __call__(self, tx: Tx, *, account_id: str) -> Left: ...
