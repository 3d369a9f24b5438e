"""What a mender is, and what may come of its work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from svc.store import Tx


@dataclass(frozen=True, kw_only=True)
class Mended:
    """The blob is whole; or, with ``became``, what named it names other content instead."""

    became: str | None = None


@dataclass(frozen=True, kw_only=True)
class Later:
    """It can't be mended now. ``pause_s``: at the least, where somebody said so."""

    reason: str
    pause_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Lost:
    """Whoever had the bytes has them no more."""

    reason: str


Outcome = Mended | Later | Lost


class Mender(Protocol):
    """Who can make some blobs again."""

    async def mend(self, sha256: str) -> Outcome | None:
        """Try; ``None`` where this blob is none of its own. One blob at a time, and safe to do again."""
        ...

    def tell(self, tx: Tx, sha256: str) -> None:
        """In the transaction that records it: this content is whole again."""
        ...
