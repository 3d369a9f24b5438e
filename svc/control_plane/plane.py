"""The running escrow service, as its routes use it. Owns the calls in flight, and whether the service is closing."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import trio

from svc.config import Config, ConfigError, ConfigFault
from svc.control_plane.credentials import upsert
from svc.control_plane.database import MIGRATION_MS, Database, NoRight
from svc.control_plane.migrations import migrate
from svc.control_plane.settings import CELL_TOKENS, DATABASE_URL
from svc.errors import Refusal, Unauthenticated, Unavailable
from svc.log import Log
from svc.protocol import Request, Traffic
from svc.window import Windows

CALLS_MAX: Final = 120
"""Calls of one credential in a minute, at each replica. Beyond: 429 `rate_limited` with `Retry-After`."""
GUESSES_MAX: Final = 60
"""Calls with invalid tokens from one address in a minute, at each replica. Beyond: 429 `rate_limited` with
`Retry-After` for all from there but tokens that have let somebody in."""
WINDOW_S: Final = 60.0
TOKENS_KEPT: Final = 65_536
ADDRESSES_KEPT: Final = 16_384
BOOT_S: Final = 30.0
"""How long the service waits for the database at the start."""
LOOK_AGAIN_S: Final = 1.0
LINGER_S: Final = 1.0
"""The shortest time between the stop signal and the closed port: the load balancer must see the 503 of `/readyz`."""
_SCHEME: Final = "bearer "


class Plane:
    def __init__(self, *, config: Config, database: Database, log: Log) -> None:
        self.config = config
        self.database = database
        self.log = log
        self.traffic = Traffic()
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.draining = False
        self.linger_s = LINGER_S
        self._windows = Windows(limit=CALLS_MAX, window_s=WINDOW_S, max_keys=TOKENS_KEPT)
        self._guesses = Windows(limit=GUESSES_MAX, window_s=WINDOW_S, max_keys=ADDRESSES_KEPT)
        self._known: OrderedDict[str, None] = OrderedDict()
        self._calls = 0
        self._quiet = trio.Event()

    async def boot(self) -> None:
        """Creates the tables and stores the credentials. Waits for a database that is away, and at last raises
        :class:`Unavailable`. Raises :class:`ConfigError` at once if its role lacks a right that is needed."""
        tokens = self.config[CELL_TOKENS]
        give_up = trio.current_time() + BOOT_S
        while True:
            try:
                applied = await self.database.run(
                    migrate, deadline_s=2 * MIGRATION_MS / 1_000, statement_ms=MIGRATION_MS
                )
                done = await self.database.run(partial(upsert, tokens=tokens), deadline_s=MIGRATION_MS / 1_000)
                break
            except NoRight as error:
                raise ConfigError([_no_right(error)], {}) from None
            except Unavailable:
                if trio.current_time() >= give_up:
                    raise Unavailable(self.database.last_heard or "It does not answer in time.") from None
                await trio.sleep(LOOK_AGAIN_S)
        self.log.info("escrow.booted", migrations=applied, credentials=len(tokens), changed=done.changed)
        for name in done.retired:
            self.log.warning("escrow.old_token_ignored", id=name)

    @property
    def calls(self) -> int:
        """The number of calls in flight."""
        return self._calls

    @contextmanager
    def call(self, request: Request) -> Iterator[str]:
        """One call of a cell, with its token: 503 while the service closes, 401 without a token, 429 beyond the rate.

        The rate is counted by the token as it was sent, so a guesser of tokens uses up nobody else's rate. Guesses are
        counted by address. All cells behind a balancer share one address, so a token that was valid before is still
        accepted from there.
        """
        if self.draining:
            raise Unavailable("The service is closing. Ask another replica.", headers={"Retry-After": "1"})
        token = _token(request)
        key = _key(token)
        if key not in self._known:
            self._guesses.check(request.peer, refusal="Too many tokens from there let nobody in. Wait a little.")
        self._windows.admit(key, refusal="Too many calls with this credential. Wait a little.")
        self._calls += 1
        try:
            yield token
        finally:
            self._calls -= 1
            if self._calls == 0:
                self._quiet.set()

    def heard(self, request: Request, token: str, *, let_in: bool) -> None:
        """Notes whether the token was valid."""
        key = _key(token)
        self._known.pop(key, None)
        if not let_in:
            self._guesses.count(request.peer)
            return
        self._known[key] = None
        if len(self._known) > TOKENS_KEPT:
            self._known.popitem(last=False)

    async def finish(self) -> None:
        """Closes the service: returns when no call is in flight, and not before the load balancer could have
        noticed."""
        self.draining = True
        await trio.sleep(self.linger_s)
        while self._calls:
            self._quiet = trio.Event()
            await self._quiet.wait()


def refused_token() -> Refusal:
    """The answer is the same for every fault of a token."""
    return Unauthenticated("Send a credential of this service: Authorization: Bearer <credentialId>.<secret>")


def _no_right(error: NoRight) -> ConfigFault:
    return ConfigFault(
        DATABASE_URL.name,
        f"its role may not make or use the tables of the service ({error.diag.message_primary})",
        "grant it create on the database, or make it the owner of an empty schema control_plane; see docs/escrow.md",
    )


def _key(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _token(request: Request) -> str:
    said = request.headers.all("authorization")
    if len(said) != 1 or said[0][: len(_SCHEME)].lower() != _SCHEME:
        raise refused_token()
    token = said[0][len(_SCHEME) :].strip()
    name, _, secret = token.partition(".")
    if not name or not secret or not token.isascii():
        raise refused_token()
    return token
