"""MCP servers of the official SDK: one with its own authorization server, which asks nobody and grants at once, and one
that has another's.
"""

from __future__ import annotations

import json
import secrets
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx2
import hypercorn
import trio
from hypercorn.trio import serve as hypercorn_serve
from joserfc import jwt
from joserfc.jwk import KeySet
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, AuthorizationCode, AuthorizationParams, RefreshToken, TokenError
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl


@dataclass
class Granting:
    """The provider that the SDK's authorization server asks. Access tokens are good for ``lasts_s`` seconds."""

    url: str
    lasts_s: int = 3_600
    issuer: str | None = None
    """Who it says that it is, where it sends the browser back."""
    registers: bool = True
    reads: Callable[[str], Awaitable[bytes]] | None = None
    """How it reads the document at an address that is a client's id; ``None`` where it reads none."""
    clients: dict[str, OAuthClientInformationFull] = field(default_factory=dict)
    codes: dict[str, AuthorizationCode] = field(default_factory=dict)
    refreshes: dict[str, RefreshToken] = field(default_factory=dict)
    accesses: dict[str, AccessToken] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    """All tokens and secrets that it has given to anybody."""

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        if self.reads is not None and client_id.startswith("https:"):
            about = OAuthClientInformationFull.model_validate_json(await self.reads(client_id))
            assert about.client_id == client_id, "the document says itself where it lies"
            return about.model_copy(update={"scope": "notes"})  # who says none may ask for any
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[str(client_info.client_id)] = client_info
        self.said.append(str(client_info.client_secret))

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = secrets.token_urlsafe()
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=str(client.client_id),
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        named = "" if self.issuer is None else f"&iss={self.issuer}"
        return f"{params.redirect_uri}?code={code}&state={params.state}{named}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._given(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refreshes.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        if self.refreshes.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant")
        return self._given(client, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.accesses.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.refreshes.clear()
        self.accesses.clear()

    async def exchange_identity_assertion(self, *given: Any, **named: Any) -> OAuthToken:
        raise TokenError("unsupported_grant_type")

    def _given(self, client: OAuthClientInformationFull, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = f"access-{secrets.token_urlsafe()}", f"refresh-{secrets.token_urlsafe()}"
        self.said += [access, refresh]
        about = {"client_id": str(client.client_id), "scopes": scopes, "resource": resource}
        self.accesses[access] = AccessToken(token=access, **about)  # type: ignore[arg-type]  # as the record has them
        self.refreshes[refresh] = RefreshToken(token=refresh, **about)  # type: ignore[arg-type]
        return OAuthToken(access_token=access, expires_in=self.lasts_s, refresh_token=refresh, scope=" ".join(scopes))


@asynccontextmanager
async def granting() -> AsyncIterator[Granting]:
    listening = socket.socket()  # hypercorn's, from when it serves on
    listening.bind(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
    provider = Granting(url=f"{origin}/mcp")
    server = MCPServer(
        "notes",
        auth_server_provider=provider,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(origin),
            resource_server_url=AnyHttpUrl(f"{origin}/mcp"),
            required_scopes=["notes"],
            validate_token_resource=True,
            client_registration_options=ClientRegistrationOptions(
                enabled=True, valid_scopes=["notes"], default_scopes=["notes"]
            ),
            revocation_options=RevocationOptions(enabled=True),
        ),
    )

    server.tool()(tells)
    async with _serving(listening, _says_what_it_reads(server.streamable_http_app(), provider)):
        yield provider


def tells() -> str:
    """Tells what it was shown."""
    shown = get_access_token()
    return f"The access is {shown.token if shown else None}."


@dataclass
class Guarded:
    """An MCP server that believes the signed tokens of another's authorization server, and checks for whom they are."""

    url: str
    issuer: str
    said: list[dict[str, Any]] = field(default_factory=list)
    """What each token says that it was shown."""

    async def verify_token(self, token: str) -> AccessToken | None:
        async with httpx2.AsyncClient() as asking:
            keys = (await asking.get(f"{self.issuer}/jwks")).json()
        claims = jwt.decode(token, KeySet.import_key_set(keys), algorithms=["RS256"]).claims
        self.said.append(dict(claims))
        if claims["iss"] != self.issuer:
            return None
        return AccessToken(
            token=token, client_id=claims["client_id"], scopes=claims["scope"].split(), resource=claims["aud"]
        )


@asynccontextmanager
async def guarded_by(issuer: str) -> AsyncIterator[Guarded]:
    listening = socket.socket()  # hypercorn's, from when it serves on
    listening.bind(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
    guarded = Guarded(url=f"{origin}/mcp", issuer=issuer)
    server = MCPServer(
        "notes",
        token_verifier=guarded,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(issuer),
            resource_server_url=AnyHttpUrl(guarded.url),
            required_scopes=["notes"],
            validate_token_resource=True,
        ),
    )
    server.tool()(tells)
    async with _serving(listening, server.streamable_http_app()):
        yield guarded


@asynccontextmanager
async def _serving(listening: socket.socket, app: Any) -> AsyncIterator[None]:
    config = hypercorn.Config()
    config.bind = [f"fd://{listening.detach()}"]
    config.accesslog = None
    over = trio.Event()
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(hypercorn_serve, app, config, shutdown_trigger=over.wait))
        yield
        over.set()


def _says_what_it_reads(app: Any, provider: Granting) -> Any:
    """The SDK's own authorization server knows no documents, so its metadata are said for it."""

    async def say(scope: Any, receive: Any, send: Any) -> None:
        if provider.reads is None or "oauth-authorization-server" not in scope.get("path", ""):
            await app(scope, receive, send)
            return
        origin = provider.url.removesuffix("/mcp")
        said = {
            "issuer": f"{origin}/",
            "authorization_endpoint": f"{origin}/authorize",
            "token_endpoint": f"{origin}/token",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "none"],
            "client_id_metadata_document_supported": True,
        }
        body = json.dumps(said).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": body})

    return say
