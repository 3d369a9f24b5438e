"""Discovers how to sign in at an MCP server, from its metadata and that of its authorization server, and decides how
much of it to trust.

Theory. The server's 401 and its metadata (RFC 9728) name an authorization server, whose own metadata (RFC 8414, or
OpenID Connect Discovery) names the endpoints. All of this is written by strangers. A hostile server could let a person
consent at an honest service and have the code sent to itself (a mix-up, RFC 9700, section 4.4). So the metadata must
belong to exactly the server and the issuer that was asked. Both endpoints must be on the issuer's host, or on a host
above or below it, unless the issuer names itself in each answer (RFC 9207), which is then required. There is no sign-in
without PKCE by S256.

An authorization server learns who we are in one of three ways: it reads our document (the Client ID Metadata Document
of MCP versions from 2025-11-25 on), it registers us (RFC 7591), or a person enters a client that they made there.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from svc.identity import HttpClient, decoded
from svc.inert import inert
from svc.mcp.declared import url_problem
from svc.mcp.signing.way import Way, origin_of
from svc.protocol.egress import EgressFault, EgressResponse

CALL_S: Final = 20.0
"""One request for a sign-in at an MCP server. Beyond: the person is told, and may try again."""
MAX_ANSWER_BYTES: Final = 256 * 1024
"""The metadata of an MCP server or its authorization server. Beyond: it is ignored."""
MAX_SCOPES: Final = 50
"""Scopes that an MCP server asks for. Beyond: the first ones are asked for."""
MAX_URL_CHARS: Final = 2_000
"""One address or name in the metadata for a sign-in. Beyond: it is ignored."""
DOCUMENT_PATH: Final = "/oauth/mcp/client.json"
_OWN_NAMES: Final = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
"""Host names that have a meaning only within one network."""
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}")
_PARAMETER: Final = re.compile(
    r'(?:^|[\s,])(resource_metadata|scope)\s*=\s*(?:"([^"\\]{0,4000})"|([^\s,"]{1,2000}))', re.I
)
_RESOURCE: Final = "/.well-known/oauth-protected-resource"
_OAUTH: Final = "/.well-known/oauth-authorization-server"
_OIDC: Final = "/.well-known/openid-configuration"
_OK: Final = 200
_CREATED: Final = 201

T = TypeVar("T")


class NoSignIn(Exception):
    """There is no safe way to sign in at this server, or it can't be asked. The message says why, for a person."""


class Challenge(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of a ``WWW-Authenticate`` header; empty if absent."""

    metadata: str = ""
    scope: str = ""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Where a user signs in for a server. ``resource``: what the access is for, in the server's own words."""

    resource: str
    issuer: str
    authorization: str
    token: str
    registration: str | None = None
    revocation: str | None = None
    scopes: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    """How a client authenticates, best first: ``client_secret_post``, ``client_secret_basic``, ``none``."""
    names_issuer: bool = False
    reads_documents: bool = False
    """Whether it identifies a client by the document at the address that is the client's id."""

    @property
    def place(self) -> str:
        """The host at which a person signs in."""
        return urlsplit(self.authorization).netloc


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """Our client at one issuer. ``registered``: by ourselves, for that redirect; else a person entered it."""

    issuer: str
    id: str
    secret: str = ""
    method: str = "none"
    registered: bool = False
    redirect: str = ""

    def __repr__(self) -> str:
        return "Client(…)"


def challenge_of(header: str) -> Challenge:
    """Of any scheme: of several schemes, one has the metadata."""
    said = {name.lower(): quoted or plain for name, quoted, plain in reversed(_PARAMETER.findall(header[:8_000]))}
    return Challenge(metadata=said.get("resource_metadata", "")[:MAX_URL_CHARS], scope=said.get("scope", ""))


@dataclass(frozen=True, kw_only=True)
class Discovering:
    """One discovery. ``ours``: our own origin; no server may send a person there to sign in."""

    way: Way
    url: str
    ours: str

    async def found(self, challenge: Challenge) -> Found:
        """Raises :class:`NoSignIn`."""
        resource = await self._resource(challenge)
        issuer = resource.authorization_servers[0] if resource.authorization_servers else origin_of(self.url)
        self._must_be_askable(issuer, what="the authorization server")
        said = await self._issuer(issuer)
        methods = _methods(said.token_endpoint_auth_methods_supported)
        if "S256" not in (said.code_challenge_methods_supported or []):
            raise NoSignIn(
                f"{_shown(issuer)} does not say that it knows PKCE with S256, without which no code is safe."
            )
        scopes = [*scopes_of(challenge.scope)] or list(resource.scopes_supported or [])
        if scopes and "offline_access" in (said.scopes_supported or []):
            scopes.append("offline_access")
        found = Found(
            resource=resource.resource,
            issuer=said.issuer,
            authorization=self._endpoint(said, said.authorization_endpoint),
            token=self._endpoint(said, said.token_endpoint),
            registration=self._endpoint_or_none(said, said.registration_endpoint),
            revocation=self._endpoint_or_none(said, said.revocation_endpoint),
            scopes=tuple(dict.fromkeys(filter(_SCOPE.fullmatch, scopes)))[:MAX_SCOPES],
            methods=methods,
            names_issuer=said.authorization_response_iss_parameter_supported,
            reads_documents=said.client_id_metadata_document_supported is True
            and "none" in (said.token_endpoint_auth_methods_supported or ["none"]),  # the method in our document
        )
        hosts = [_host(found.authorization), _host(found.token)]
        if not found.names_issuer and not all(_akin(host, _host(found.issuer)) for host in hosts):
            raise NoSignIn(
                f"{_shown(issuer)} has people sign in at {_shown(hosts[0])} and wants what comes of it sent to "
                f"{_shown(hosts[1])}, and does not name itself in its answers: that is how access is stolen."
            )
        return found

    async def _resource(self, challenge: Challenge) -> _Resource:
        """The metadata of the server itself, from its own host only (RFC 9728, sections 3.3 and 5.2)."""
        own, path = origin_of(self.url), urlsplit(self.url).path.rstrip("/")
        told = challenge.metadata if _is_address(challenge.metadata) else ""
        places = [*([told] if told and origin_of(told) == own else []), f"{own}{_RESOURCE}{path}", f"{own}{_RESOURCE}"]
        async for document in self._first(places, _Resource):
            if not _is_of(document.resource, self.url):
                raise NoSignIn(f"It says that it is another server: {_shown(document.resource)}.")
            return document
        return _Resource(resource=self.url)  # a server of the first MCP version is its own authorization server

    async def _issuer(self, issuer: str) -> _Issuer:
        own, path = origin_of(issuer), urlsplit(issuer).path.rstrip("/")
        places = [f"{own}{_OAUTH}{path}", f"{own}{_OIDC}{path}", *([f"{own}{path}{_OIDC}"] if path else [])]
        async for document in self._first(places, _Issuer):
            if document.issuer.rstrip("/") != issuer.rstrip("/"):
                raise NoSignIn(f"{_shown(issuer)} says that it is {_shown(document.issuer)}.")
            return document
        raise NoSignIn(f"{_shown(issuer)} does not say how one signs in there.")

    async def _first(self, places: Iterable[str], kind: type[T]) -> AsyncIterator[T]:
        for place in dict.fromkeys(places):
            answer = await ask(self.way, "GET", place)
            document = decoded(answer.body, kind) if answer.status == _OK else None
            if document is not None:
                yield document

    def _endpoint(self, said: _Issuer, url: str) -> str:
        self._must_be_askable(url, what="an endpoint")
        return url

    def _endpoint_or_none(self, said: _Issuer, url: str | None) -> str | None:
        """An unusable endpoint counts as absent, so that it only stops a sign-in that needs it."""
        try:
            return self._endpoint(said, url) if url else None
        except NoSignIn:
            return None

    def _must_be_askable(self, url: str, *, what: str) -> None:
        if not _is_address(url) or (urlsplit(url).scheme != "https" and not self.way.lies_inside(url)):
            raise NoSignIn(f"It names {what} that is no safe address: {_shown(url)}.")
        if origin_of(url) == self.ours:
            raise NoSignIn(f"It names {what} that is this very server: {_shown(url)}.")


def scopes_of(line: str) -> tuple[str, ...]:
    return tuple(filter(_SCOPE.fullmatch, line.split()))[:MAX_SCOPES]


async def register(http: HttpClient, found: Found, *, redirect: str) -> Client:
    """Register a client of our own at that issuer (RFC 7591). Raises :class:`NoSignIn`."""
    assert found.registration is not None, "whoever has none enters a client"
    wanted = {
        **_about_us(redirect, method=found.methods[0]),
        **({"scope": " ".join(found.scopes)} if found.scopes else {}),
    }
    answer = await ask(http, "POST", found.registration, body=msgspec.json.encode(wanted))
    made = decoded(answer.body, _Registered) if answer.status in {_OK, _CREATED} else None
    if made is None or not _is_word(made.client_id) or not _is_word(made.client_secret or "x"):
        raise NoSignIn(f"{found.place} did not register this server as a client (it answers {answer.status}).")
    method = made.token_endpoint_auth_method or found.methods[0]
    return Client(
        issuer=found.issuer,
        id=made.client_id,
        secret=made.client_secret or "",
        method=method,
        registered=True,
        redirect=redirect,
    )


def own_document(origin: str, *, redirect: str) -> dict[str, object]:
    """Who we are, for authorization servers that read it at our own address (OAuth Client ID Metadata Document). No
    secret proves it; the address does, because browsers are sent back only to it.
    """
    return {"client_id": origin + DOCUMENT_PATH, "client_uri": origin, **_about_us(redirect, method="none")}


def by_document(found: Found, origin: str, *, redirect: str) -> Client | None:
    """Our client as described by our document; ``None`` if the authorization server reads no documents, or can't reach
    ours.
    """
    host = urlsplit(origin).hostname or ""
    is_reached = origin.startswith("https:") and "." in host and not host.endswith(_OWN_NAMES) and not _is_number(host)
    if not found.reads_documents or not is_reached:
        return None
    return Client(issuer=found.issuer, id=origin + DOCUMENT_PATH, registered=True, redirect=redirect)


def _about_us(redirect: str, *, method: str) -> dict[str, object]:
    return {
        "client_name": "svc",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
    }


def _is_number(host: str) -> bool:
    """Whether it is an IP address, where no document would be read."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


async def ask(http: HttpClient, method: str, url: str, *, body: bytes | None = None) -> EgressResponse:
    """Raises :class:`NoSignIn`."""
    headers = {"accept": "application/json", **({"content-type": "application/json"} if body is not None else {})}
    try:
        return await http.request(
            method, url, headers=headers, body=body, deadline_s=CALL_S, limit_bytes=MAX_ANSWER_BYTES
        )
    except EgressFault as fault:
        raise NoSignIn(f"{_shown(urlsplit(url).netloc)} can't be asked: {fault.detail}.") from None


class _Resource(msgspec.Struct):
    resource: str
    authorization_servers: list[str] | None = None
    scopes_supported: list[str] | None = None


class _Issuer(msgspec.Struct):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str | None = None
    revocation_endpoint: str | None = None
    scopes_supported: list[str] | None = None
    code_challenge_methods_supported: list[str] | None = None
    token_endpoint_auth_methods_supported: list[str] | None = None
    authorization_response_iss_parameter_supported: bool = False
    client_id_metadata_document_supported: bool | None = None


class _Registered(msgspec.Struct):
    client_id: str
    client_secret: str | None = None
    token_endpoint_auth_method: str | None = None


_METHODS: Final = ("client_secret_post", "client_secret_basic", "none")


def _methods(said: list[str] | None) -> tuple[str, ...]:
    known = tuple(one for one in _METHODS if one in (said or ["client_secret_basic"]))  # RFC 8414, section 2
    if not known:
        raise NoSignIn("Its authorization server wants clients to show who they are in a way that svc does not know.")
    return known


def _is_address(url: str) -> bool:
    return 0 < len(url) <= MAX_URL_CHARS and not url_problem(url)


def _is_word(text: str) -> bool:
    return 0 < len(text) <= MAX_URL_CHARS and text.isascii() and text.isprintable()


def _is_of(resource: str, url: str) -> bool:
    """Whether the resource is the server at ``url``: the same address, or one above it on the same host."""
    if not _is_address(resource) or origin_of(resource) != origin_of(url):
        return False
    said, own = urlsplit(resource).path.rstrip("/"), urlsplit(url).path.rstrip("/")
    return own == said or own.startswith(said + "/")


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").removesuffix(".")


def _akin(one: str, other: str) -> bool:
    """The same host, or one below the other."""
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def _shown(text: str) -> str:
    return inert(text)[:200]
