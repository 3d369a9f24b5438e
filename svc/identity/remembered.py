"""What cookies and tokens open, kept in memory: neither a good one nor a foreign one costs a read of the database.

Two things are kept of one kind of secret: what those that were asked for lately open, and the digests of all that were
given out and may open something. A digest that is not among these opens nothing, whoever sends how many of them, and a
flood of foreign ones takes the place of no good one. Both come from one snapshot and are dropped by :meth:`forget`,
which whoever writes identity calls after the commit and before anybody hears of it: a read that began before that is
not kept. It owns no statement, and no time: what has ended is among those that were given out, and the asker looks at
the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from svc.clock import Millis
from svc.principal import Principal
from svc.store import ReadTx, Store

MAX_REMEMBERED: Final = 10_000
MAX_GIVEN_OUT: Final = 10_000
"""With more than these the digests are not kept, and a foreign one is looked up each time."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What a cookie or token opens."""

    principal: Principal
    session_id: str | None
    last_seen_at: Millis
    expires_at: Millis | None


@dataclass(kw_only=True)
class Remembered:
    """One kind of secret, by its digests. ``given_out`` reads up to so many of them."""

    store: Store
    look_up: Callable[[ReadTx, str], Opened | None]
    given_out: Callable[[ReadTx, int], Sequence[str]]
    _opened: dict[str, Opened] = field(default_factory=dict)
    _given_out: frozenset[str] | None = None
    _too_many: bool = False
    _epoch: int = 0

    async def find(self, digest: str) -> Opened | None:
        opened = self._opened.get(digest)
        if opened is not None or (self._given_out is not None and digest not in self._given_out):
            return opened
        return await self._read(digest)

    def forget(self) -> None:
        """Look everything up again. No read that is under way is kept."""
        self._epoch += 1
        self._opened.clear()
        self._given_out = None
        self._too_many = False

    def forget_one(self, digest: str) -> None:
        """Something that this opens has changed, and nothing was given out or taken back."""
        self._epoch += 1
        self._opened.pop(digest, None)

    async def _read(self, digest: str) -> Opened | None:
        epoch = self._epoch
        lists = self._given_out is None and not self._too_many
        opened, listed = await self.store.read_small(self._query, digest, lists=lists)
        if epoch == self._epoch:
            if listed is not None:
                self._too_many = len(listed) > MAX_GIVEN_OUT
                self._given_out = None if self._too_many else frozenset(listed)
            if opened is not None:
                self._keep(digest, opened)
        return opened

    def _query(self, tx: ReadTx, digest: str, *, lists: bool) -> tuple[Opened | None, Sequence[str] | None]:
        """On one snapshot."""
        return self.look_up(tx, digest), self.given_out(tx, MAX_GIVEN_OUT + 1) if lists else None

    def _keep(self, digest: str, opened: Opened) -> None:
        if len(self._opened) >= MAX_REMEMBERED:
            del self._opened[next(iter(self._opened))]
        self._opened[digest] = opened
