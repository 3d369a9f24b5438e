"""The signing keys of an OpenID provider: its key set (RFC 7517), fetched when needed and cached.

Theory. A token names its key by ``kid``; that name only selects among the keys which the provider itself publishes, and
nothing else in a token's header says where a key is. An unknown name may mean that the provider has new keys, so it is
asked again, but at most once a minute: else anybody who can make up names could make us flood the provider.

Owns which keys count (asymmetric, for signatures, strong enough) and for how long. A key that does not count is
remembered with its fault: a token of such a key is refused because of the key, whatever its signature. It verifies
nothing itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec
import trio
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from joserfc import jwk
from joserfc.errors import JoseError

from svc.identity.discovery import ANSWER_MAX_BYTES, CALL_DEADLINE_S, ProviderAway
from svc.identity.http_client import HttpClient, decoded
from svc.identity.roca import has_roca_mark
from svc.protocol.egress import EgressFault

KEYS_LIFETIME_S: Final = 3_600.0
REFETCH_PAUSE_S: Final = 60.0
MAX_KEYS: Final = 100
RSA_MIN_BITS: Final = 2_048
RSA_MIN_CHARS: Final = 342
"""The length of the smallest accepted modulus in base64url: the library would warn about a shorter one where nobody
reads it."""

FAMILIES: Final[Mapping[str, tuple[str, str | None]]] = {
    "RS256": ("RSA", None),
    "PS256": ("RSA", None),
    "ES256": ("EC", "P-256"),
    "EdDSA": ("OKP", "Ed25519"),
}
"""The accepted signature algorithms, each with key type and curve: no secret shared with the provider, and never
``none``."""

_PUBLIC_MEMBERS: Final = ("kty", "kid", "alg", "n", "e", "crv", "x", "y")

KeyFault = Literal["key-use", "weak-key"]
"""The provider says that the key is not for verifying signatures; or the key is too weak to trust."""

PublicKey = jwk.RSAKey | jwk.ECKey | jwk.OKPKey


@dataclass(frozen=True, kw_only=True)
class SigningKey:
    """One published key. Two are equal when their published data are equal."""

    published: Mapping[str, object]
    key: PublicKey = field(compare=False, repr=False)
    fault: KeyFault | None = None

    @property
    def kid(self) -> object:
        return self.published.get("kid")

    def fits(self, algorithm: str) -> bool:
        kind, curve = FAMILIES[algorithm]
        return (
            self.published["kty"] == kind
            and self.published.get("crv") == curve
            and self.published.get("alg") in (None, algorithm)
        )


@dataclass(kw_only=True)
class KeyCache:
    """The key set of one provider."""

    http: HttpClient
    _keys: tuple[SigningKey, ...] = ()
    _faulty: tuple[SigningKey, ...] = ()
    _url: str | None = None
    _known_at_s: float = -math.inf
    _asked_at_s: float = -math.inf
    _turn: trio.Lock = field(default_factory=trio.Lock)

    async def find(
        self, url: str, *, kid: str | None, algorithm: str, unlike: SigningKey | None = None
    ) -> SigningKey | None:
        """The one matching key of that name; without a name, the only key there is. Raises :class:`ProviderAway`.

        ``unlike`` is a key that failed: only a different one is returned, and the provider may be asked again for it.
        """
        async with self._turn:
            if url != self._url or trio.current_time() - self._known_at_s >= KEYS_LIFETIME_S:
                await self._fetch(url)
            found = _chosen(self._keys, kid=kid, algorithm=algorithm)
            if (found is None or found == unlike) and trio.current_time() - self._asked_at_s >= REFETCH_PAUSE_S:
                await self._fetch(url)
                found = _chosen(self._keys, kid=kid, algorithm=algorithm)
            return None if found == unlike else found

    def fault_of(self, *, kid: str | None, algorithm: str) -> KeyFault | None:
        """Why the key of that name, as last published, is not used; ``None`` if there is no such key."""
        found = _chosen(self._faulty, kid=kid, algorithm=algorithm)
        return None if found is None else found.fault

    async def _fetch(self, url: str) -> None:
        self._asked_at_s = trio.current_time()
        try:
            answer = await self.http.request(
                "GET",
                url,
                headers={"accept": "application/json"},
                body=None,
                deadline_s=CALL_DEADLINE_S,
                limit_bytes=ANSWER_MAX_BYTES,
            )
        except EgressFault as fault:
            raise ProviderAway(f"The sign-in service's keys can't be fetched: {fault.detail}") from fault
        published = decoded(answer.body, _KeySet) if answer.status == 200 else None
        if published is None:
            raise ProviderAway(f"The sign-in service did not answer with its keys (status {answer.status}).")
        known = [key for record in published.keys[:MAX_KEYS] if (key := _known(record)) is not None]
        self._keys = tuple(key for key in known if key.fault is None)
        self._faulty = tuple(key for key in known if key.fault is not None)
        self._url, self._known_at_s = url, self._asked_at_s


class _KeySet(msgspec.Struct):
    keys: list[dict[str, Any]]


def _chosen(keys: tuple[SigningKey, ...], *, kid: str | None, algorithm: str) -> SigningKey | None:
    named = keys if kid is None else tuple(key for key in keys if key.kid == kid and key.fits(algorithm))
    return named[0] if len(named) == 1 and named[0].fits(algorithm) else None


def _known(record: Mapping[str, object]) -> SigningKey | None:
    """The public key of a record, with its fault if it has one. ``None`` for keys of other kinds, which are ignored."""
    public = {name: record[name] for name in _PUBLIC_MEMBERS if name in record}
    if public.get("kty") not in [kind for kind, _ in FAMILIES.values()]:
        return None
    if public["kty"] == "RSA" and len(str(public.get("n"))) < RSA_MIN_CHARS:
        return None
    try:
        key = jwk.import_key(public)  # type: ignore[arg-type]  # what is not text it refuses itself
    except (JoseError, ValueError, TypeError):
        return None
    if not isinstance(key, PublicKey):
        return None
    return SigningKey(published=public, key=key, fault=_fault(record, key))


def _fault(record: Mapping[str, object], key: PublicKey) -> KeyFault | None:
    """Why a key can't be used. A key that states its use is for nothing else (RFC 7517, sections 4.2 and 4.3)."""
    operations = record.get("key_ops", ["verify"])
    if record.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations:
        return "key-use"
    if isinstance(key.public_key, RSAPublicKey) and _is_weak(key.public_key):
        return "weak-key"
    return None


def _is_weak(key: RSAPublicKey) -> bool:
    return key.key_size < RSA_MIN_BITS or has_roca_mark(key.public_numbers().n)
