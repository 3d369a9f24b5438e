"""What a mender is, and the possible results of its work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from svc.store import Tx


@dataclass(frozen=True, kw_only=True)
class Mended:
    """The blob is intact again; or, with ``became``, the rows that named it name other content instead."""

    became: str | None = None


@dataclass(frozen=True, kw_only=True)
class Later:
    """It can't be mended now. ``pause_s``: the shortest wait before the next try, if one is known."""

    reason: str
    pause_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Lost:
    """The source of the bytes no longer has them."""

    reason: str


Outcome = Mended | Later | Lost


class Mender(Protocol):
    """Makes some blobs again."""

    async def mend(self, sha256: str) -> Outcome | None:
        """Tries to mend the blob; ``None`` if this mender does not know it. Called for one blob at a time; safe to
        repeat."""
        ...

    def tell(self, tx: Tx, sha256: str) -> None:
        """Called in the transaction that records that this content is intact again."""
        ...
