"""Access tokens of a grant: used until they expire, then renewed once for all callers that wait.

Owns when to renew. It stores nothing itself: tokens go through a :class:`TokenStore`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

import trio

from svc.clock import SECOND_MS, Clock
from svc.connections.faults import ConnectionFault, GrantEnded
from svc.connections.model import Terms, Tokens
from svc.connections.oauth import Endpoints, refresh
from svc.identity import ClientCredentials, HttpClient

REFRESH_MARGIN_MS: Final = 60 * SECOND_MS
SAVE_DEADLINE_S: Final = 10.0


class TokenStore(Protocol):
    """The encrypted storage of one grant's tokens."""

    async def load(self) -> Tokens | None: ...

    async def save(self, tokens: Tokens) -> None: ...


@dataclass(kw_only=True)
class _Refresh:
    """One renewal under way and its result, for those who wait for it. Without token and fault it was cancelled."""

    done: trio.Event = field(default_factory=trio.Event)
    tokens: Tokens | None = None
    fault: ConnectionFault | None = None


@dataclass(kw_only=True, repr=False)
class TokenSource:
    """Access tokens of one grant, renewed a minute before they expire.

    Callers that ask at the same time share one renewal and its result. Client and stored tokens are read again at each
    renewal, so a rotated client secret or a second consent needs no restart.
    """

    store: TokenStore
    terms: Terms
    client: Callable[[], Awaitable[ClientCredentials]]
    endpoints: Callable[[], Awaitable[Endpoints]]
    http: HttpClient
    clock: Clock
    _tokens: Tokens | None = None
    _refresh: _Refresh | None = None

    async def access_token(self) -> str:
        """Raises :class:`GrantEnded`, :class:`ServiceAway` or :class:`ServiceBusy`."""
        return (await self._valid(stale=None)).access_token

    async def refreshed(self, stale: str) -> str:
        """Returns another access token than ``stale``, which the provider answered with 401. Raises as
        :meth:`access_token`."""
        return (await self._valid(stale=stale)).access_token

    async def _valid(self, *, stale: str | None) -> Tokens:
        while True:
            if self._tokens is not None and self._is_good(self._tokens, stale):
                return self._tokens
            under_way = self._refresh
            if under_way is None:
                return await self._renew_for_all(stale)
            await under_way.done.wait()
            if under_way.fault is not None:
                raise under_way.fault.with_traceback(None)
            if under_way.tokens is not None and under_way.tokens.access_token != stale:
                return under_way.tokens

    async def _renew_for_all(self, stale: str | None) -> Tokens:
        under_way = self._refresh = _Refresh()
        try:
            under_way.tokens = await self._renew(stale)
        except ConnectionFault as fault:
            under_way.fault = fault
            raise
        finally:
            self._refresh = None
            under_way.done.set()
        return under_way.tokens

    async def _renew(self, stale: str | None) -> Tokens:
        kept = await self.store.load()
        if kept is None:
            raise GrantEnded("This account has no stored access. Connect it again.")
        if self._is_good(kept, stale):  # the first use since boot, or the account was connected again
            self._tokens = kept
            return kept
        self._tokens = await refresh(
            self.http,
            await self.endpoints(),
            self.terms,
            credentials=await self.client(),
            kept=kept,
            clock=self.clock,
        )
        with trio.move_on_after(SAVE_DEADLINE_S, shield=True):  # a rotated refresh token exists only here
            await self.store.save(self._tokens)
        return self._tokens

    def _is_good(self, tokens: Tokens, stale: str | None) -> bool:
        return tokens.access_token != stale and tokens.expires_at - REFRESH_MARGIN_MS > self.clock.now()
