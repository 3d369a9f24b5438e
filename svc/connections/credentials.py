"""The secrets of connections: one interface, and behind it the tokens of a grant.

Every feature that connects something reads and writes its secrets here and nowhere else, inside the store's
transactions: so a secret and the records about it are one commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import msgspec

from svc.capabilities import Door
from svc.connections.model import Tokens
from svc.store import SecretSource, Store, Tx


class Credentials(Protocol):
    """Secrets by name. ``read`` raises :class:`svc.store.SecretUnreadable` where the encryption key of a secret was
    lost."""

    def read(self, tx: Tx, name: str) -> bytes | None: ...

    def write(self, tx: Tx, name: str, value: bytes, *, source: SecretSource = "oauth") -> None:
        """Insert or replace. ``source``: who gave it; "user" for a password."""
        ...

    def remove(self, tx: Tx, name: str) -> bool:
        """Removes the secret. Returns whether there was one."""
        ...


@dataclass(frozen=True, kw_only=True)
class BrokeredCredentials:
    """Secrets that the capability broker keeps."""

    door: Door

    def read(self, tx: Tx, name: str) -> bytes | None:
        return self.door.acquire_in(tx, name, purpose="use the access of a connected account")

    def write(self, tx: Tx, name: str, value: bytes, *, source: SecretSource = "oauth") -> None:
        self.door.keep(tx, name, value, source=source)

    def remove(self, tx: Tx, name: str) -> bool:
        return self.door.remove(tx, name)


@dataclass(frozen=True, kw_only=True)
class KeptTokens:
    """The tokens of a grant that is stored under its name."""

    store: Store
    credentials: Credentials
    name: str

    async def load(self) -> Tokens | None:
        data = await self.store.write(self.credentials.read, self.name)
        return None if data is None else tokens_of(data)

    async def save(self, tokens: Tokens) -> None:
        await self.store.write(_renew_tokens, self.credentials, name=self.name, tokens=tokens)


@dataclass(frozen=True, kw_only=True)
class OneGrant:
    """The tokens of a grant that no connection uses yet. They are kept in memory."""

    tokens: Tokens

    async def load(self) -> Tokens | None:
        return self.tokens

    async def save(self, tokens: Tokens) -> None:
        """Keeps nothing: these tokens come straight from the token endpoint, and are used for one call only."""


class _StoredTokens(msgspec.Struct):
    access_token: str
    refresh_token: str
    expires_at: int
    scopes: list[str]
    granted_at: int | None = None


def keep_tokens(tx: Tx, credentials: Credentials, *, name: str, tokens: Tokens) -> None:
    """Stores the tokens of a new grant in place of the old ones."""
    stored = _StoredTokens(
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token,
        expires_at=tokens.expires_at,
        scopes=sorted(tokens.scopes),
        granted_at=tokens.granted_at,
    )
    credentials.write(tx, name, msgspec.json.encode(stored))


def tokens_of(data: bytes) -> Tokens:
    kept = msgspec.json.decode(data, type=_StoredTokens)
    return Tokens(
        access_token=kept.access_token,
        refresh_token=kept.refresh_token,
        expires_at=kept.expires_at,
        scopes=frozenset(kept.scopes),
        granted_at=kept.granted_at,
    )


def _renew_tokens(tx: Tx, credentials: Credentials, *, name: str, tokens: Tokens) -> None:
    """Stores renewed tokens of the same grant. Stores nothing if the grant was removed or replaced meanwhile."""
    kept = credentials.read(tx, name)
    if kept is not None and tokens_of(kept).granted_at == tokens.granted_at:
        keep_tokens(tx, credentials, name=name, tokens=tokens)
