"""An OpenID provider inside the test: it keeps the protocol's rules, signs with real keys, and lies where told to.

    idp = ScriptedProvider(clock=wall)
    idp.claims["nonce"] = "another"             # what the next tokens say instead; ``ABSENT`` leaves a claim out
    back = idp.consent(location)                # the person signs in; where the browser is sent then

Stands in for ``Egress``. What it was asked is in ``asked``.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any, Final
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import trio
from joserfc import jwk, jws

from svc.clock import Clock
from svc.protocol.egress import EgressFault, EgressResponse
from tests.mail.scripted_http import Answer, answer, no_answer

ISSUER: Final = "https://idp.example.org"
CLIENT_ID: Final = "cid"
CLIENT_SECRET: Final = "S3CRET/client secret"
ABSENT: Final = object()

Key = jwk.RSAKey | jwk.ECKey | jwk.OKPKey


@cache
def key(name: str, algorithm: str = "RS256") -> Key:
    """The key of that name, the same in every test: to make one takes long."""
    parameters: jwk.KeyParameters = {"kid": name, "use": "sig", "alg": algorithm}
    if algorithm == "ES256":
        return jwk.ECKey.generate_key("P-256", parameters)
    if algorithm == "EdDSA":
        return jwk.OKPKey.generate_key("Ed25519", parameters)
    return jwk.RSAKey.generate_key(2048, parameters)


def public(*keys: Key, **changes: object) -> dict[str, object]:
    """The key set of these keys; ``changes`` apply to each, and ``ABSENT`` leaves a member out."""
    records = [{**one.as_dict(private=False), **changes} for one in keys]
    return {"keys": [{name: value for name, value in one.items() if value is not ABSENT} for one in records]}


def signed(claims: Mapping[str, object], by: Key, *, alg: str = "RS256", **header: object) -> str:
    """A token with ``kid`` of its key, unless the header is told otherwise."""
    fields = {"alg": alg, "kid": by.kid, **header}
    fields = {name: value for name, value in fields.items() if value is not ABSENT}
    registry = jws.JWSRegistry(algorithms=[alg], strict_check_header=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the name EdDSA
        return jws.serialize_compact(fields, json.dumps(claims).encode(), _bare(by), registry=registry)


def _bare(key: Key) -> jwk.Key:
    """The same key, for any algorithm."""
    private = {name: value for name, value in key.as_dict(private=True).items() if name != "alg"}
    return _read_key(json.dumps(private))


@cache
def _read_key(private: str) -> jwk.Key:
    """Once for each key: its numbers are checked as it is read, which takes much longer than to sign."""
    return jwk.import_key(json.loads(private))


def handmade(header: object, claims: object, signature: Callable[[bytes], bytes] = lambda text: b"") -> str:
    """A token that no library would make."""
    text = f"{_b64(json.dumps(header).encode())}.{_b64(json.dumps(claims).encode())}"
    return f"{text}.{_b64(signature(text.encode()))}"


def hs256_with_public_key(claims: object, victim: Key) -> str:
    """Signed with what everybody knows, for a verifier that lets the token choose (CVE-2015-9235)."""
    pem = victim.as_pem(private=False)
    header = {"alg": "HS256", "kid": victim.kid}
    return handmade(header, claims, lambda text: hmac.digest(pem, text, "sha256"))


@dataclass
class ScriptedProvider:
    clock: Clock
    issuer: str = ISSUER
    keys: list[Key] = field(default_factory=lambda: [key("one")])
    claims: dict[str, object] = field(default_factory=dict)
    document: dict[str, object] = field(default_factory=dict)
    userinfo: dict[str, object] | None = None
    sign: Callable[[dict[str, object]], str] | None = None
    token_answer: Answer | None = None
    away: bool = False
    asked: list[str] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    _codes: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)

    def consent(self, location: str, **changes: str) -> str:
        """Sign in on the screen at ``location``: path and query of the callback, with ``changes`` to its query."""
        parts = urlsplit(location)
        asked = {name: values[0] for name, values in parse_qs(parts.query, strict_parsing=True).items()}
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.issuer}/auth"
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT_ID)
        assert asked["scope"] == "openid email profile"
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{next(self._numbers)}"
        self._codes[code] = (asked["code_challenge"], asked["nonce"], asked["redirect_uri"])
        back = urlsplit(asked["redirect_uri"])
        return f"{back.path}?{urlencode({'code': code, 'state': asked['state'], **changes})}"

    def said(self, *, nonce: str) -> dict[str, object]:
        """The claims of a token of now."""
        now = self.clock.now() // 1000
        honest = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": "sub-1",
            "iat": now,
            "exp": now + 3600,
            "nonce": nonce,
            "email": "mia@example.org",
            "email_verified": True,
            "name": "Mia",
        }
        return {name: value for name, value in (honest | self.claims).items() if value is not ABSENT}

    def asked_for(self, path: str) -> int:
        return sum(urlsplit(url).path == path for url in self.asked)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline_s: float,
        limit_bytes: int,
    ) -> EgressResponse:
        assert 0 < deadline_s <= 60
        assert limit_bytes > 0
        self.asked.append(url)
        await trio.sleep(0.1)
        if self.away:
            raise no_answer(may_have_happened=False)
        path = url.removeprefix(self.issuer)
        if (method, path) == ("GET", "/.well-known/openid-configuration"):
            return answer(self._document())
        if (method, path) == ("GET", "/keys"):
            return answer(public(*self.keys))
        if (method, path) == ("GET", "/me"):
            return self._userinfo(headers)
        assert (method, path) == ("POST", "/token"), f"nobody expected {method} {url}"
        return self._token(headers, body or b"")

    def _document(self) -> dict[str, object]:
        honest: dict[str, object] = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/auth",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/me",
            "id_token_signing_alg_values_supported": ["RS256", "PS256", "ES256", "EdDSA", "HS256", "none"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
        }
        return {name: value for name, value in (honest | self.document).items() if value is not ABSENT}

    def _token(self, headers: Mapping[str, str], body: bytes) -> EgressResponse:
        form: dict[str, str] = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        self.authorizations.append(headers.get("authorization"))
        if self.token_answer is not None:
            if isinstance(self.token_answer, EgressFault):
                raise self.token_answer
            return self.token_answer
        if not self._is_client(headers.get("authorization"), form):
            return answer({"error": "invalid_client"}, status=401)
        if headers["content-type"] != "application/x-www-form-urlencoded":
            return answer({"error": "invalid_request"}, status=400)
        if form.get("grant_type") != "authorization_code":
            return answer({"error": "unsupported_grant_type"}, status=400)
        challenge, nonce, redirect_uri = self._codes.pop(form["code"], ("", "", ""))
        if form.get("redirect_uri") != redirect_uri:  # RFC 6749, 4.1.3
            return answer({"error": "invalid_grant"}, status=400)
        if challenge != _b64(hashlib.sha256(form["code_verifier"].encode()).digest()):
            return answer({"error": "invalid_grant"}, status=400)
        claims = self.said(nonce=nonce)
        token = self.sign(claims) if self.sign else signed(claims, self.keys[0])
        return answer({"id_token": token, "access_token": "S3CRET-access", "token_type": "Bearer"})

    def _is_client(self, authorization: str | None, form: Mapping[str, str]) -> bool:
        offered: Any = self._document()["token_endpoint_auth_methods_supported"]
        if authorization is not None:
            pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
            found = tuple(map(unquote_plus, pair.split(":")))
            return "client_secret_basic" in offered and found == (CLIENT_ID, CLIENT_SECRET)
        found = (form.get("client_id", ""), form.get("client_secret", ""))
        return "client_secret_post" in offered and found == (CLIENT_ID, CLIENT_SECRET)

    def _userinfo(self, headers: Mapping[str, str]) -> EgressResponse:
        if headers.get("authorization") != "Bearer S3CRET-access" or self.userinfo is None:
            return answer({"error": "invalid_token"}, status=401)
        return answer(self.userinfo)


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
