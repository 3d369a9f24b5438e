"""Checks that an ID token is from this provider, for us, and for this sign-in (OpenID Connect Core 1.0, 3.1.3.7).

Theory. The signature and ``iss`` say who issued it; ``aud`` and ``azp`` say for whom; ``nonce`` ties it to the round
trip that asked for it; the times limit its life. If one of them is missing or wrong, nothing in the token counts. The
algorithm is fixed before a key is looked at: a token must not choose how it is checked (RFC 8725, section 3.1).

Owns those checks and the text of their refusals. It asks the network only for keys.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from typing import Any, Final

import msgspec
from joserfc import jws
from joserfc.errors import JoseError, UnsupportedAlgorithmError
from joserfc.jwa import JWSAlgModel
from joserfc.jws import JWSRegistry

from svc.clock import SECOND_MS, Millis
from svc.identity.discovery import OpenIdProvider, ProviderAway
from svc.identity.http_client import decoded
from svc.identity.oidc_keys import FAMILIES, KeyCache, KeyFault, SigningKey
from svc.identity.oidc_refusal import Claims, RefusalCause, SignInRefused

CLOCK_SKEW_MAX_S: Final = 60
HEADER_MAX_BYTES: Final = 4_096
DEFAULT_ALGORITHM: Final = "RS256"
"""Every provider must support it, so it counts where a provider lists none."""


async def verified_claims(
    token: str, *, provider: OpenIdProvider, keys: KeyCache, client_id: str, nonce: str, now: Millis
) -> Claims:
    """The claims of the checked token. Raises :class:`SignInRefused`, and :class:`ProviderAway` when the keys can't be
    fetched."""
    claims = await _signed_claims(token, provider=provider, keys=keys)
    if claims.iss != provider.issuer:
        raise _not_meant("issuer", "it comes from another issuer")
    audiences = [claims.aud] if isinstance(claims.aud, str) else claims.aud
    if client_id not in audiences:
        raise _not_meant("audience", "it is meant for another server")
    if (claims.azp is not None or len(audiences) > 1) and claims.azp != client_id:
        raise _not_meant("audience", "it was made for another server")
    if not hmac.compare_digest(claims.nonce.encode(), nonce.encode()):
        raise _not_meant("nonce", "it belongs to another sign-in")
    _check_times(claims, now_s=now / SECOND_MS)
    if not claims.sub:
        raise _not_meant("no-subject", "it names nobody")
    return Claims(subject=claims.sub, email=claims.email, email_verified=claims.email_verified, name=claims.name)


class _Header(msgspec.Struct):
    alg: str
    kid: str | None = None
    crit: Any = None


class _Claims(msgspec.Struct):
    iss: str
    aud: str | list[str]
    exp: float
    iat: float
    sub: str = ""
    azp: str | None = None
    nonce: str = ""
    nbf: float | None = None
    email: Any = None
    email_verified: Any = None
    name: Any = None


class _Pinned(JWSRegistry):
    """Allows one algorithm, chosen by us. Unknown header fields are ignored, as RFC 7515 says; ``crit`` was refused
    before."""

    max_header_length = HEADER_MAX_BYTES

    def __init__(self, algorithm: str) -> None:
        super().__init__(strict_check_header=False)
        self._algorithm = algorithm

    def get_alg(self, name: str) -> JWSAlgModel:
        if name != self._algorithm:
            raise UnsupportedAlgorithmError(f"{name!r} is not the algorithm that was pinned")
        return self.algorithms[name]


async def _signed_claims(token: str, *, provider: OpenIdProvider, keys: KeyCache) -> _Claims:
    if provider.keys is None:
        raise ProviderAway(f"{provider.issuer} names no address of its keys that can be trusted.")
    header = _header(token)
    listed = provider.signing_algorithms or (DEFAULT_ALGORITHM,)
    if header.alg not in FAMILIES or header.alg not in listed:
        raise _not_meant("algorithm", "it is not signed in a way that can be trusted")
    key = await keys.find(provider.keys, kid=header.kid, algorithm=header.alg)
    if key is None:
        raise _key_refused(keys.fault_of(kid=header.kid, algorithm=header.alg))
    payload = _payload(token, key, algorithm=header.alg)
    if payload is None:  # the key may have been replaced under the same name
        key = await keys.find(provider.keys, kid=header.kid, algorithm=header.alg, unlike=key)
        payload = None if key is None else _payload(token, key, algorithm=header.alg)
    if payload is None:
        raise _not_meant("signature", "its signature is wrong")
    claims = decoded(payload, _Claims)
    if claims is None:
        raise _not_meant("malformed", "it can't be understood")
    return claims


def _header(token: str) -> _Header:
    first = token.partition(".")[0]
    try:
        raw = base64.b64decode(first + "=" * (-len(first) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    header = decoded(raw, _Header) if len(raw) <= HEADER_MAX_BYTES else None
    if header is None or header.crit is not None:
        raise _not_meant("malformed", "it can't be understood")
    return header


def _payload(token: str, key: SigningKey, *, algorithm: str) -> bytes | None:
    """The signed payload; ``None`` for a wrong signature."""
    try:
        return jws.deserialize_compact(token, key.key, registry=_Pinned(algorithm)).payload
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _check_times(claims: _Claims, *, now_s: float) -> None:
    expired = claims.exp + CLOCK_SKEW_MAX_S <= now_s
    from_the_future = max(claims.iat, claims.nbf or 0.0) - CLOCK_SKEW_MAX_S > now_s
    if expired or from_the_future:
        raise _not_meant("time", "it has expired or is not valid yet, or this server's clock is wrong")


def _key_refused(fault: KeyFault | None) -> SignInRefused:
    if fault == "key-use":
        return _not_meant(fault, "its key is published for something else than signatures")
    if fault == "weak-key":
        return _not_meant(fault, "its key is too weak to be believed")
    return _not_meant("unknown-key", "it is not signed with a key that the service publishes")


def _not_meant(cause: RefusalCause, why: str) -> SignInRefused:
    return SignInRefused(
        cause,
        f"The sign-in service's word on who you are was not accepted: {why}. Sign in again; if that does not help, "
        "tell the owner of this server.",
    )
