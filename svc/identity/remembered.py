"""Remembers in memory what cookies and tokens open, so that neither a valid nor an unknown one costs a read of the
database.

For each kind of secret it keeps two things: what the recently used ones open, and the digests of all issued ones that
may open something. A digest that is not among these opens nothing, and a flood of unknown ones displaces no valid one.
Both come from one snapshot and are dropped by :meth:`forget`. Every writer of identity calls that after the commit and
before anybody learns of it: a read that began earlier is not kept. It owns no SQL statement and no clock: ended
sessions are among the issued ones, and the caller checks the time.
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
"""With more than these the digests are not kept, and each unknown one is looked up."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What a cookie or token opens."""

    principal: Principal
    session_id: str | None
    last_seen_at: Millis
    expires_at: Millis | None


@dataclass(kw_only=True)
class Remembered:
    """One kind of secret, by its digests. ``given_out`` reads at most the given number of them."""

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
        """Drop everything. A read that is under way is not kept either."""
        self._epoch += 1
        self._opened.clear()
        self._given_out = None
        self._too_many = False

    def forget_one(self, digest: str) -> None:
        """Drop one entry: what it opens has changed, but no secret was issued or revoked."""
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
        """Both reads, on one snapshot."""
        return self.look_up(tx, digest), self.given_out(tx, MAX_GIVEN_OUT + 1) if lists else None

    def _keep(self, digest: str, opened: Opened) -> None:
        if len(self._opened) >= MAX_REMEMBERED:
            del self._opened[next(iter(self._opened))]
        self._opened[digest] = opened
