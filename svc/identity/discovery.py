"""OpenID provider discovery: finds the provider's endpoints (OpenID Connect Discovery 1.0, section 4).

Owns what is accepted from a discovery document (only the issuer's own, only endpoints that keep a secret) and for how
long. It asks once a day; while the provider can't be reached, the last known answer stays valid.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import msgspec
import trio

from svc.clock import DAY_MS, Clock, Millis
from svc.config import BadValue, http_url
from svc.identity.http_client import HttpClient, decoded
from svc.protocol.egress import EgressFault

DOCUMENT_LIFETIME_MS: Final = DAY_MS
CALL_DEADLINE_S: Final = 20.0
ANSWER_MAX_BYTES: Final = 256 * 1024


class ProviderAway(Exception):
    """The provider does not answer, or its answer is unusable: it may work later."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


@dataclass(frozen=True, kw_only=True)
class OpenIdProvider:
    """A provider's metadata. ``None`` where it names no usable endpoint; empty where it lists nothing."""

    issuer: str
    authorization: str
    token: str
    keys: str | None = None
    userinfo: str | None = None
    revocation: str | None = None
    signing_algorithms: tuple[str, ...] = ()
    client_authentications: tuple[str, ...] = ()
    names_issuer_in_callback: bool = False


@dataclass(kw_only=True)
class Discovery:
    """The provider behind one issuer."""

    http: HttpClient
    clock: Clock
    issuer: str  # without a trailing slash
    _known: OpenIdProvider | None = None
    _known_until: Millis = 0
    _turn: trio.Lock = field(default_factory=trio.Lock)

    async def provider(self) -> OpenIdProvider:
        """The provider's metadata. Raises :class:`ProviderAway` if none is known yet and the provider can't be
        reached."""
        async with self._turn:
            if self._known is None or not 0 <= self._known_until - self.clock.now() <= DOCUMENT_LIFETIME_MS:
                try:
                    self._known = await self._discover()
                    self._known_until = self.clock.now() + DOCUMENT_LIFETIME_MS
                except ProviderAway:
                    if self._known is None:
                        raise
            return self._known

    async def _discover(self) -> OpenIdProvider:
        try:
            answer = await self.http.request(
                "GET",
                f"{self.issuer}/.well-known/openid-configuration",
                headers={"accept": "application/json"},
                body=None,
                deadline_s=CALL_DEADLINE_S,
                limit_bytes=ANSWER_MAX_BYTES,
            )
        except EgressFault as fault:
            raise ProviderAway(f"The sign-in service can't be reached: {fault.detail}") from fault
        document = decoded(answer.body, _Document) if answer.status == 200 else None
        if document is None or document.issuer.rstrip("/") != self.issuer:
            raise ProviderAway(f"{self.issuer} did not answer with its own OpenID Connect discovery document.")
        try:
            return _believed(document)
        except BadValue as error:
            raise ProviderAway(f"The discovery document of {self.issuer} names an unusable endpoint.") from error


class _Document(msgspec.Struct):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str | None = None
    userinfo_endpoint: str | None = None
    revocation_endpoint: str | None = None
    id_token_signing_alg_values_supported: list[str] = []
    token_endpoint_auth_methods_supported: list[str] = []
    authorization_response_iss_parameter_supported: bool = False


def _believed(document: _Document) -> OpenIdProvider:
    return OpenIdProvider(
        issuer=document.issuer,
        authorization=_endpoint(document, document.authorization_endpoint),
        token=_endpoint(document, document.token_endpoint),
        keys=_endpoint_or_none(document, document.jwks_uri),
        userinfo=_endpoint_or_none(document, document.userinfo_endpoint),
        revocation=_endpoint_or_none(document, document.revocation_endpoint),
        signing_algorithms=tuple(document.id_token_signing_alg_values_supported),
        client_authentications=tuple(document.token_endpoint_auth_methods_supported),
        names_issuer_in_callback=document.authorization_response_iss_parameter_supported,
    )


def _endpoint_or_none(document: _Document, url: str | None) -> str | None:
    """The endpoint; an unusable one counts as missing, so that it stops only a caller that needs it."""
    try:
        return _endpoint(document, url) if url else None
    except BadValue:
        return None


def _endpoint(document: _Document, url: str) -> str:
    """Check an endpoint: an issuer that is reached over TLS must not send people to an endpoint without it."""
    found = http_url(url)
    if document.issuer.startswith("https:") and not found.startswith("https:"):
        raise BadValue(f"{found!r} is not https; the issuer is")
    return found
