"""Resolves each request to a principal, and caches what makes that fast.

Sources in order (spec 5.1): session cookie, device token (or a socket ticket made from one), unclaimed, nobody. What a
cookie or token opens, and which ones open nothing, is remembered (``remembered.py``) until anything in identity is
written. Every such write goes through :meth:`Identity.write`, which drops the whole cache, so a sign-in and a
revocation count from the next request on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Concatenate, Final, ParamSpec, TypeVar

import trio

from svc.capabilities import Door, door_of
from svc.clock import SECOND_MS
from svc.identity import actions, queries, tokens
from svc.identity.actions import Claiming
from svc.identity.limiter import RateLimiter
from svc.identity.model import (
    ADMINS_CAPABILITIES,
    SESSION_LIFETIME_MS,
    SESSION_TOUCH_MS,
    TICKET_LIFETIME_S,
    Device,
    User,
)
from svc.identity.oauth_client_row import ClientCredentials, client_credentials, has_client
from svc.identity.remembered import Opened, Remembered
from svc.identity.settings import AUTH, AUTH_RATE_LIMIT, believed_proxies, is_for_this_machine
from svc.principal import AUTH_OFF, UNCLAIMED, Principal
from svc.protocol import Request, cookie, set_cookie
from svc.settings import HOST, canonical_origin
from svc.store import ReadTx, Tx
from svc.workspace import Workspace

P = ParamSpec("P")
T = TypeVar("T")

SESSION_COOKIE: Final = "svc_session"
TOKEN_HEADER: Final = "x-svc-device-token"  # noqa: S105  a header's name
_PORT: Final = re.compile(r":[0-9]*$")
NEAR_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
PROXY_HEADERS: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")
MAX_TICKETS: Final = 10_000
"""Socket tickets that are not used yet. Beyond: the oldest no longer opens a socket."""
MAX_ADDRESS_CHARS: Final = 64
"""The address of a client that is stored with its session. Beyond: it is cut."""


@dataclass(kw_only=True)
class Identity:
    """The identity service, one for each workspace."""

    workspace: Workspace
    limiter: RateLimiter
    dev_login: bool = False
    """Sign in by an address only, without asking an outside provider. Only the fakes set it."""
    _claimed: bool = False
    _changes: int = 0
    _tickets: dict[str, tuple[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, workspace: Workspace) -> Identity:
        config = workspace.config
        limiter = RateLimiter(limit=config[AUTH_RATE_LIMIT], forwarded=believed_proxies(config))
        return cls(workspace=workspace, limiter=limiter)

    @cached_property
    def _sessions(self) -> Remembered:
        """Sessions by their cookies."""
        return Remembered(store=self.workspace.store, look_up=_session, given_out=queries.cookie_digests)

    @cached_property
    def _devices(self) -> Remembered:
        """Devices by their tokens."""
        return Remembered(store=self.workspace.store, look_up=_device, given_out=queries.token_digests)

    @property
    def is_off(self) -> bool:
        return self.workspace.config[AUTH] == "off"

    @cached_property
    def _is_local(self) -> bool:
        """Whether only this machine can reach the listener. Cached, because every request needs it."""
        return is_for_this_machine(self.workspace.config)

    def claiming(self, request: Request) -> Claiming:
        """How ``request`` may claim the instance: freely only from this machine."""
        hooks = [feature.claim for feature in self.workspace.features if feature.claim]
        return Claiming(freely=self.is_near(request), hooks=hooks)

    def seen_from(self, request: Request) -> str:
        """The address shown to a person, so that they recognise their own browser."""
        return self.limiter.address_of(request)[:MAX_ADDRESS_CHARS]

    async def resolve(self, request: Request) -> Principal | None:
        """The principal of a request, or ``None``. Never an error: an unknown, stale or doubled cookie counts as no
        cookie."""
        if self.is_off:
            return AUTH_OFF
        session = cookie(request.headers, SESSION_COOKIE)
        if session is not None and (principal := await self._by_session(session, request)):
            return principal
        if (token := request.headers.get(TOKEN_HEADER)) is not None:
            return await self._by_token(token, request)
        if request.opens_socket and (ticket := request.query().get("ticket")) is not None:
            return await self._by_ticket(ticket)
        if self.is_near(request) and not await self.is_claimed():
            return UNCLAIMED
        return None

    async def is_claimed(self) -> bool:
        """Whether the instance is claimed. It counts from the commit on, so that nobody whose socket the claim closes
        can come back as the unclaimed principal."""
        if not self._claimed:
            self._claimed = await self.workspace.store.read_kept(actions.CLAIMED, queries.is_claimed)
        return self._claimed

    def is_near(self, request: Request) -> bool:
        """Whether the request comes from this machine and not through a proxy that others can reach.

        A loopback bind alone is no proof: with a public origin, a proxy in front forwards requests from everywhere.
        Such a request names the public host, or has headers that proxies add.
        """
        host = _PORT.sub("", request.headers.get("host") or "")
        named_here = host.lower() in NEAR_NAMES or host.strip("[]") == self.workspace.config[HOST]
        return self._is_local and named_here and not any(request.headers.get(name) for name in PROXY_HEADERS)

    def session_cookie(self, request: Request, value: str) -> tuple[str, str]:
        """The cookie of a session: ``HttpOnly``, ``SameSite=Lax``, 30 days from now; ``Secure`` if the browser uses
        HTTPS to us or to our proxy."""
        return set_cookie(
            SESSION_COOKIE, value, max_age_s=SESSION_LIFETIME_MS // SECOND_MS, secure=self.is_secure(request)
        )

    def renew(self, request: Request, value: str) -> None:
        """Let the browser's copy of the cookie end later, unless something in identity changes before the answer: a
        late one must not replace the cookie of a newer sign-in."""
        header, changes = self.session_cookie(request, value), self._changes
        request.renewed = lambda: header if self._changes == changes else None

    def is_secure(self, request: Request) -> bool:
        """Whether it is HTTPS: a public HTTPS origin or a request over TLS is enough."""
        origin = canonical_origin(self.workspace.config, port=self.workspace.port)
        return request.secure or origin.startswith("https:")

    async def oauth_client(self) -> ClientCredentials | None:
        """The OAuth client for sign-in, if there is one."""
        if self.dev_login:
            return None
        return await client_credentials(self._door, purpose="sign somebody in")

    async def has_provider(self) -> bool:
        """Whether there is an OAuth client for sign-in."""
        return not self.dev_login and await has_client(self._door)

    @property
    def _door(self) -> Door:
        return door_of(self.workspace, "identity")

    async def write(self, action: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an action that changes identity, then drop everything remembered.

        Shielded until the writer commits or refuses: a caller that is cancelled meanwhile can't undo a change that has
        left the queue, and the cache must be dropped after the commit, not before.
        """
        with trio.CancelScope(shield=True):
            try:
                written = await self.workspace.store.write(action, *args, **kwargs)
            finally:
                self.forget()
        return written

    def forget(self) -> None:
        """Drop everything remembered."""
        self._changes += 1
        self._sessions.forget()
        self._devices.forget()

    def issue_ticket(self, principal: Principal) -> tuple[str, float]:
        """A ticket for one upgrade of a socket route, and for how many seconds it is valid. It is only in memory.

        It is part of a URL, which more parties see than a header: no other route accepts it.
        """
        now = trio.current_time()
        while self._tickets and (len(self._tickets) >= MAX_TICKETS or next(iter(self._tickets.values()))[1] <= now):
            del self._tickets[next(iter(self._tickets))]
        ticket = tokens.new_token()
        self._tickets[tokens.digest(ticket)] = (principal.device_id, now + TICKET_LIFETIME_S)
        return ticket, TICKET_LIFETIME_S

    async def _by_session(self, session_cookie: str, request: Request) -> Principal | None:
        digest = tokens.digest(session_cookie)
        found = await self._sessions.find(digest)
        now = self.workspace.clock.now()
        if found is None or (found.expires_at is not None and found.expires_at <= now):
            return None
        if found.session_id is not None and abs(now - found.last_seen_at) >= SESSION_TOUCH_MS:
            self.renew(request, session_cookie)
            await self.workspace.store.write(
                actions.touch_session,
                session_id=found.session_id,
                device_id=found.principal.device_id,
                seen_from=self.seen_from(request),
            )
            self._sessions.forget_one(digest)
        return found.principal

    async def _by_token(self, token: str, request: Request) -> Principal | None:
        digest = tokens.digest(token)
        found = await self._devices.find(digest)
        if found is None:
            return None
        if abs(self.workspace.clock.now() - found.last_seen_at) >= SESSION_TOUCH_MS:
            await self.workspace.store.write(
                actions.touch_device, device_id=found.principal.device_id, seen_from=self.seen_from(request)
            )
            self._devices.forget_one(digest)
        return found.principal

    async def _by_ticket(self, ticket: str) -> Principal | None:
        """The principal of a ticket, which is used up in every case. It has the rights that its device has now."""
        device_id, ends_at = self._tickets.pop(tokens.digest(ticket), (None, 0.0))
        if device_id is None or ends_at <= trio.current_time():
            return None
        return await self.workspace.store.read(_of_ticket, device_id)


def _session(tx: ReadTx, digest: str) -> Opened | None:
    row = queries.session_by_cookie(tx, digest)
    if row is None:
        return None
    session, user = row
    principal = Principal(user_id=user.id, device_id=session.device_id, is_admin=user.role == "admin", via="session")
    return Opened(
        principal=principal,
        session_id=session.id,
        last_seen_at=session.last_seen_at,
        expires_at=session.last_seen_at + SESSION_LIFETIME_MS,
    )


def _device(tx: ReadTx, digest: str) -> Opened | None:
    row = queries.device_by_token(tx, digest)
    if row is None:
        return None
    return Opened(principal=acting(tx, *row), session_id=None, last_seen_at=row[0].last_seen_at or 0, expires_at=None)


def _of_ticket(tx: ReadTx, device_id: str) -> Principal | None:
    row = queries.good_device(tx, device_id)
    return None if row is None else acting(tx, *row)


def acting(tx: ReadTx, device: Device, user: User | None) -> Principal:
    """A device acts as its owner, but as an admin only where the owner allowed that when it was paired.

    It loses the capabilities that only an admin may give when its owner is no longer an admin. Before the claim it has
    no owner, and acts as everybody does then.
    """
    unowned = user is None and not queries.is_claimed(tx)
    of_admin = unowned or (user is not None and user.role == "admin")
    given = {name: flag for name, flag in device.capabilities.items() if of_admin or name not in ADMINS_CAPABILITIES}
    return Principal(
        user_id=device.user_id,
        device_id=device.id,
        is_admin=given.get("admin", False),
        via="device",
        capabilities=given,
        unowned=unowned,
    )
