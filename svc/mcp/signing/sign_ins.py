"""One sign-in, from the server's demand for it to the token in the header of a call, and the sign-out.

Owns the token sources, one per server, so that many calls at once cause only one renewal. A sign-in belongs to the
page, and so to the page's owner. It is valid for the address that the page named when it was made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Concatenate, Final, Literal, ParamSpec, TypeVar
from urllib.parse import urlsplit

import msgspec
import trio

from svc.connections import (
    REVOKE_DEADLINE_S,
    ConnectionFault,
    Credentials,
    Endpoints,
    GrantEnded,
    GrantRefused,
    KeptTokens,
    Terms,
    TokenSource,
    authorization_url,
    credentials_of,
    exchange_code,
    revoke,
    tokens_of,
)
from svc.errors import Conflict, Refusal
from svc.identity import ClientCredentials, OAuthState
from svc.mcp.servers import McpServer
from svc.mcp.signing import kept as rows
from svc.mcp.signing.discovery import (
    Challenge,
    Client,
    Discovering,
    Found,
    NoSignIn,
    by_document,
    challenge_of,
    register,
)
from svc.mcp.signing.kept import Kept
from svc.mcp.signing.way import Way, origin_of, way_to
from svc.settings import PORT, PROFILE, canonical_origin
from svc.store import Tx
from svc.workspace import Workspace

P = ParamSpec("P")
T = TypeVar("T")

CALLBACK_PATH: Final = "/oauth/mcp/callback"
MAX_SCOPES_CHARS: Final = 8_000
"""Scopes that an MCP server asks for, in one line. Beyond: the first ones are asked for."""
MAX_SOURCES: Final = 1_000
"""Servers whose access tokens are cached. Beyond: all are read anew."""
Standing = Literal["none", "wanted", "done", "more", "ended"]


class Trip(msgspec.Struct, frozen=True, kw_only=True):
    """The data of a round trip through the browser: the server, and its address and issuer when it began."""

    server_id: str
    name: str
    url: str
    issuer: str


class SignInRefused(Exception):
    """A round trip ended without access. The app has the message for each ``cause`` (``static/mcp/sign_in.js``)."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


@dataclass(kw_only=True)
class SignIns:
    workspace: Workspace
    _sources: dict[str, TokenSource] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        return canonical_origin(self.workspace.config, port=self.workspace.port or self.workspace.config[PORT])

    @property
    def redirect_uri(self) -> str:
        return self.origin + CALLBACK_PATH

    def of(self, server: McpServer) -> OneSignIn | None:
        """For the broker; ``None`` if the server's page sets the authorization header itself."""
        return OneSignIn(sign_ins=self, server=server) if may_sign_in(server) else None

    async def look(self, server: McpServer) -> tuple[Found, Client | None]:
        """Where the user signs in, and as which client: a known one, or one that we register. Raises
        :class:`Conflict`.
        """
        kept = await self.workspace.store.read(rows.kept, server.id, server.declaration.url)
        way = way_to(self.workspace, server)
        looking = Discovering(way=way, url=server.declaration.url, ours=origin_of(self.origin))
        try:
            found = await looking.found(kept.challenge if kept is not None else Challenge())
            client = await self._client(server, found)
            if client is not None and client.registered and client.redirect != self.redirect_uri:
                client = None
            if client is None and (client := await self._new_client(way, found)) is not None:
                await self._write(rows.keep_client, server.id, client)
        except NoSignIn as none:
            raise Conflict(str(none)) from None
        if kept is None:
            await self._write(rows.challenged, server.id, server.declaration.url, Challenge())
        if await self._write(rows.keep_found, server.id, server.declaration.url, found):
            self._sources.pop(server.id, None)
        return found, client

    async def _new_client(self, way: Way, found: Found) -> Client | None:
        """On a public cell the document comes first, as MCP recommends. An instance at home may have a name that no
        authorization server can reach, so there the document is only used for those that register no clients.
        """
        documented = by_document(found, self.origin, redirect=self.redirect_uri)
        is_public = self.workspace.config[PROFILE] == "cloud"
        if found.registration is None or (documented is not None and is_public):
            return documented
        return await register(way, found, redirect=self.redirect_uri)

    async def enter_client(self, server: McpServer, *, client_id: str, secret: str) -> None:
        """Store the client that a person has made at the authorization server. Raises :class:`Conflict`."""
        found = (await self._kept(server)).found
        if found is None:
            raise Conflict("Nobody has looked yet where one signs in.")
        shown = [one for one in found.methods if one != "none"]
        method = (shown[0] if shown else "client_secret_post") if secret else "none"
        client = Client(issuer=found.issuer, id=client_id, secret=secret, method=method)
        await self._write(rows.keep_client, server.id, client)

    async def consent_url(self, server: McpServer, started: OAuthState) -> str:
        """The address for the browser. Raises :class:`Conflict`."""
        found, client = await self._agreed(server)
        return authorization_url(
            _endpoints(found, client),
            _terms(found),
            client_id=client.id,
            redirect_uri=self.redirect_uri,
            state=started.state,
            code_challenge=started.challenge,
        )

    async def trip(self, server: McpServer) -> Trip:
        found, _ = await self._agreed(server)
        return Trip(server_id=server.id, name=server.name, url=server.declaration.url, issuer=found.issuer)

    async def finish(self, server: McpServer, trip: Trip, ended: OAuthState, *, code: str, issuer: str | None) -> None:
        """Exchange the code, if the server is still as it was when the trip began. Raises :class:`SignInRefused`.

        ``issuer``: the issuer that claims to have sent the browser back (RFC 9207).
        """
        try:
            found, client = await self._agreed(server)
        except Conflict:
            raise SignInRefused("changed") from None
        if (trip.server_id, trip.url, trip.issuer) != (server.id, server.declaration.url, found.issuer):
            raise SignInRefused("changed")
        if issuer != found.issuer if issuer is not None else found.names_issuer:
            raise SignInRefused("mixed-up")
        try:
            grant = await exchange_code(
                way_to(self.workspace, server),
                _endpoints(found, client),
                _terms(found),
                credentials=_credentials(client),
                code=code,
                code_verifier=ended.verifier,
                redirect_uri=self.redirect_uri,
                clock=self.workspace.clock,
            )
        except GrantRefused as refused:
            if refused.cause == "client-rejected":
                await self._write(rows.drop_registered, server.id)
            raise SignInRefused(refused.cause) from None
        except ConnectionFault as fault:
            self.workspace.log.warning("mcp.sign_in_failed", reason=fault.detail)
            raise SignInRefused("away") from None
        self._sources.pop(server.id, None)
        await self._write(rows.granted, server.id, server.declaration.url, grant.tokens)

    async def sign_out(self, server_id: str, server: McpServer | None) -> None:
        """Delete all of it, and revoke the tokens where possible."""
        kept = None
        if server is not None:
            kept = await self.workspace.store.read(rows.kept, server_id, server.declaration.url)
        client = await self._client(server, kept.found) if server and kept and kept.found else None
        self._sources.pop(server_id, None)
        tokens = await self._write(rows.forget, server_id)
        if server is None or kept is None or kept.found is None or kept.found.revocation is None or tokens is None:
            return
        held = tokens_of(tokens)
        with trio.move_on_after(REVOKE_DEADLINE_S):
            try:
                await revoke(
                    way_to(self.workspace, server),
                    kept.found.revocation,
                    _terms(kept.found),
                    refresh_token=held.refresh_token or held.access_token,
                    credentials=None if client is None else _credentials(client),
                )
            except ConnectionFault as fault:
                self.workspace.log.warning("mcp.revoke_failed", reason=fault.detail)

    # For the broker

    async def source(self, server: McpServer) -> TokenSource | None:
        """The tokens of the current access; ``None`` without one."""
        kept = await self.workspace.store.read(rows.kept, server.id, server.declaration.url)
        if kept is None or kept.signed_in_at is None:
            return None
        if kept.ended:
            raise _wants_sign_in(kept.ended)
        found = kept.found
        assert found is not None, "nobody signs in who has not looked"
        if (known := self._sources.get(server.id)) is not None:
            return known
        if len(self._sources) >= MAX_SOURCES:
            self._sources.clear()
        name = rows.tokens_name(server.id)
        store = KeptTokens(store=self.workspace.store, credentials=credentials_of(self.workspace), name=name)

        async def client() -> ClientCredentials:
            return _credentials(await self._known_client(server, found))

        async def endpoints() -> Endpoints:
            return _endpoints(found, await self._known_client(server, found))

        source = TokenSource(
            store=store,
            terms=_terms(found),
            client=client,
            endpoints=endpoints,
            http=way_to(self.workspace, server),
            clock=self.workspace.clock,
        )
        return self._sources.setdefault(server.id, source)

    async def ended(self, server: McpServer, why: str) -> None:
        """The access has ended. The cause may be a client that we registered, so that client is dropped and
        made anew.
        """
        self._sources.pop(server.id, None)
        await self.workspace.store.write(rows.end, server.id, server.declaration.url, why)
        await self._write(rows.drop_registered, server.id)

    async def challenged(self, server: McpServer, challenge: Challenge) -> None:
        known = await self.workspace.store.read(rows.kept, server.id, server.declaration.url)
        if known is not None and known.signed_in and known.found is not None:  # keep the scopes that were granted
            scopes = dict.fromkeys((*known.found.scopes, *challenge.scope.split()))
            challenge = msgspec.structs.replace(challenge, scope=" ".join(scopes)[:MAX_SCOPES_CHARS])
        if known is None or known.challenge != challenge:
            await self._write(rows.challenged, server.id, server.declaration.url, challenge)

    async def _known_client(self, server: McpServer, found: Found) -> Client:
        client = await self._client(server, found)
        if client is None:
            raise GrantEnded("The client that this server was there is not known any more. Sign in again.")
        return client

    async def _client(self, server: McpServer, found: Found) -> Client | None:
        return await self._write(rows.client_of, server.id, found.issuer)

    async def _kept(self, server: McpServer) -> Kept:
        kept = await self.workspace.store.read(rows.kept, server.id, server.declaration.url)
        if kept is None:
            raise Conflict("This server has not asked for a sign-in. Look at it again.")
        return kept

    async def _agreed(self, server: McpServer) -> tuple[Found, Client]:
        """What the person was shown."""
        found = (await self._kept(server)).found
        client = None if found is None else await self._client(server, found)
        if found is None or client is None:
            raise Conflict("Nobody has looked yet where one signs in.")
        return found, client

    async def _write(
        self, work: Callable[Concatenate[Tx, Credentials, str, P], T], server_id: str, *given: P.args, **named: P.kwargs
    ) -> T:
        return await self.workspace.store.write(work, credentials_of(self.workspace), server_id, *given, **named)


@dataclass(frozen=True, kw_only=True)
class OneSignIn:
    """Implements :class:`svc.broker.SignIn`."""

    sign_ins: SignIns
    server: McpServer

    async def token(self) -> str | None:
        return await self._token(None)

    async def renewed(self, stale: str) -> str | None:
        return await self._token(stale)

    async def challenged(self, challenge: str) -> None:
        await self.sign_ins.challenged(self.server, challenge_of(challenge))

    async def _token(self, stale: str | None) -> str | None:
        source = await self.sign_ins.source(self.server)
        if source is None:
            return None
        try:
            return await (source.access_token() if stale is None else source.refreshed(stale))
        except GrantEnded as ended:
            await self.sign_ins.ended(self.server, ended.detail)
            raise _wants_sign_in(ended.detail) from None
        except ConnectionFault as fault:
            raise Refusal(fault.detail, code="bad_gateway") from None


def may_sign_in(server: McpServer) -> bool:
    """Whether its page leaves the authorization header to a sign-in."""
    declaration = server.declaration
    return bool(declaration.url) and not any(name.lower() == "authorization" for name in declaration.values)


def standing(kept: Kept | None) -> Standing:
    if kept is None:
        return "none"
    if kept.ended:
        return "ended"
    if not kept.signed_in:
        return "wanted"
    return "more" if kept.missing else "done"


def trouble(kept: Kept | None) -> str:
    """Why a person has to sign in again; empty if nobody has to."""
    if kept is None or not kept.missing or kept.ended:
        return kept.ended if kept is not None else ""
    return f"It wants more access than you have granted: {', '.join(kept.missing)}."


def _wants_sign_in(why: str) -> Conflict:
    return Conflict(f"{why} See Settings, MCP servers.", data={"reason": "sign_in"})


def _terms(found: Found) -> Terms:
    return Terms(
        service=found.place,
        what="MCP",
        scopes=found.scopes,
        sufficient_scopes=frozenset(),
        not_granted="",
        token_parameters=MappingProxyType({"resource": found.resource}),
        parameters=MappingProxyType({"resource": found.resource}),
        lasting=False,
    )


def _endpoints(found: Found, client: Client) -> Endpoints:
    return Endpoints(
        authorization=found.authorization,
        token=found.token,
        issuer=found.issuer,
        in_header=client.method == "client_secret_basic",
    )


def _credentials(client: Client) -> ClientCredentials:
    return ClientCredentials(client_id=client.id, client_secret=client.secret if client.method != "none" else "")


def host_of(url: str) -> str:
    return urlsplit(url).netloc
