"""Authenticates this server to push services: VAPID (RFC 8292), with a key that is made once and kept among the
secrets.

Browsers subscribe with its public half, so that no other server's pushes reach them; with another key they would have
to subscribe again. The private half is acquired once per process.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import trio

from svc.capabilities import Door
from svc.clock import Clock
from svc.store import Store, Tx

if TYPE_CHECKING:
    from joserfc.jwk import ECKey

KEY_NAME: Final = "notifications.vapid"
LASTS_S: Final = 12 * 3_600
"""Push services accept a token for a day at most."""

_PURPOSE: Final = "signing pushes"


@dataclass(kw_only=True, repr=False)
class Vapid:
    """``contact``: the address where push services can reach the operator, a real ``mailto:`` or ``https:``; Apple
    refuses others. Without one it is the address of the person who owns the browser."""

    door: Door
    store: Store
    clock: Clock
    contact: str | None
    _key: ECKey | None = None
    _turn: trio.Lock = field(default_factory=trio.Lock)

    async def public_key(self) -> str:
        """The uncompressed point in the form that browsers expect: base64url without padding."""
        key = (await self._own_key()).as_dict(private=False)
        point = b"\x04" + _bytes_of(str(key["x"])) + _bytes_of(str(key["y"]))
        return _text_of(point)

    async def authorization(self, endpoint: str, *, email: str) -> str:
        """The header's value for a push to ``endpoint``. ``email``: the address of the person who owns the browser."""
        from joserfc import jwt

        parts = urlsplit(endpoint)
        claims = {
            "aud": f"{parts.scheme}://{parts.netloc}",
            "exp": self.clock.now() // 1_000 + LASTS_S,
            "sub": self.contact or f"mailto:{email}",
        }
        token = jwt.encode({"typ": "JWT", "alg": "ES256"}, claims, await self._own_key(), algorithms=["ES256"])
        return f"vapid t={token}, k={await self.public_key()}"

    async def _own_key(self) -> ECKey:
        from joserfc.jwk import ECKey

        async with self._turn:
            if self._key is None:
                made = ECKey.generate_key("P-256")
                kept = await self.store.write(self._keep, made.as_pem(private=True))
                self._key = ECKey.import_key(kept)
            return self._key

    def _keep(self, tx: Tx, made: bytes) -> bytes:
        """Returns the stored key; if there is none, stores this one."""
        known = self.door.acquire_in(tx, KEY_NAME, purpose=_PURPOSE)
        if known is None:
            self.door.keep(tx, KEY_NAME, made)
        return known or made


def _bytes_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _text_of(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
