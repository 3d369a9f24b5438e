"""The secrets store: credentials encrypted at rest, each bound to its own place.

Owns the ``secrets`` table. Envelope encryption by AES-256-GCM: each value under its own random data key, that key under
the master key. The associated data of both holds name, row id and version, so that a ciphertext moved to another row,
or an older one put back under a newer version, does not decrypt. Rotating the master key only encrypts the data keys
again; the values stay unchanged.

A value never appears in a repr, an error or a log; a caller keeps it only for the call that needs it. Features do not
read secrets here: they get them from :mod:`svc.capabilities`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final, Literal, cast

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from svc.clock import Millis
from svc.ids import new_id
from svc.store.keyring import KEY_BYTES, Keyring
from svc.store.transaction import ReadTx, Tx

NONCE_BYTES: Final = 12

SecretSource = Literal["seed", "user", "oauth"]
"""Who gave the value: the environment at boot, a person, or a consent screen."""


class SecretUnreadable(Exception):
    """A secret exists but can't be decrypted: the key is another one, or the row was altered. The message has only its
    name."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"the secret {name!r} can't be decrypted: {why}")
        self.name = name


@dataclass(frozen=True, slots=True)
class SecretRow:
    """The data of a secret that may be shown."""

    name: str
    source: SecretSource
    version: int
    updated_at: Millis


def has_secrets(tx: ReadTx) -> bool:
    """Whether any secret exists, which a lost key would make unreadable."""
    return tx.one("select 1 from secrets limit 1") is not None


def forget_secrets(tx: Tx) -> int:
    """Delete all secrets: their key is lost. Returns how many there were."""
    return tx.run("delete from secrets")


def has_secret(tx: ReadTx, name: str) -> bool:
    """Whether a secret of that name exists, whatever key it is encrypted under."""
    return tx.one("select 1 from secrets where name = :name", name=name) is not None


class Secrets:
    """Reads and writes secrets under one keyring."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    def read(self, tx: ReadTx, name: str) -> bytes | None:
        """The value, or ``None``. Raises :class:`SecretUnreadable`."""
        row = tx.one(
            "select id, version, nonce, ciphertext, key_id, wrapped_key from secrets where name = :name", name=name
        )
        if row is None:
            return None
        row_id, version, nonce, ciphertext, key_id, wrapped_key = row
        place = _place(name, row_id, version)
        master_key = self._material(name, key_id)
        try:
            # Written before data keys existed: the value is encrypted under the master key itself.
            data_key = master_key if wrapped_key is None else _unwrap(master_key, wrapped_key, place)
            return AESGCM(data_key).decrypt(nonce, ciphertext, place)
        except (InvalidTag, ValueError):
            raise SecretUnreadable(name, "its row was altered or damaged") from None

    def write(self, tx: Tx, name: str, value: bytes, *, source: SecretSource = "oauth") -> None:
        """Insert or replace."""
        row = tx.one("select id, version from secrets where name = :name", name=name)
        row_id, version = (new_id("sec"), 1) if row is None else (row[0], row[1] + 1)
        place = _place(name, row_id, version)
        key = self._keyring.current
        data_key, nonce = os.urandom(KEY_BYTES), os.urandom(NONCE_BYTES)
        tx.run(
            """
            insert into secrets (name, id, version, nonce, ciphertext, key_id, wrapped_key, source, updated_at)
            values (:name, :id, :version, :nonce, :ciphertext, :key_id, :wrapped_key, :source, :now)
            on conflict (name) do update set version = excluded.version, nonce = excluded.nonce,
                ciphertext = excluded.ciphertext, key_id = excluded.key_id, wrapped_key = excluded.wrapped_key,
                source = excluded.source, updated_at = excluded.updated_at
            """,
            name=name,
            id=row_id,
            version=version,
            nonce=nonce,
            ciphertext=AESGCM(data_key).encrypt(nonce, value, place),
            key_id=key.id,
            wrapped_key=_wrap(key.material, data_key, place),
            source=source,
            now=tx.now,
        )

    def seed(self, tx: Tx, name: str, value: bytes) -> bool:
        """Insert only: a stale environment variable never overwrites a rotated value. Returns whether it inserted."""
        if self.has(tx, name):
            return False
        self.write(tx, name, value, source="seed")
        return True

    def delete(self, tx: Tx, name: str) -> bool:
        """Delete it. Returns whether it existed."""
        return tx.run("delete from secrets where name = :name", name=name) == 1

    def rows(self, tx: ReadTx) -> list[SecretRow]:
        """All secrets by name, without their values."""
        found = tx.all("select name, source, version, updated_at from secrets order by name")
        return [SecretRow(name, cast(SecretSource, source), version, at) for name, source, version, at in found]

    def has(self, tx: ReadTx, name: str) -> bool:
        return has_secret(tx, name)

    def edition(self, tx: ReadTx, name: str) -> str | None:
        """A mark of the value that is stored, another for each that is ever stored; ``None`` where there is none."""
        row = tx.one("select id, version from secrets where name = :name", name=name)
        return None if row is None else f"{row[0]}.{row[1]}"

    def names(self, tx: ReadTx) -> list[str]:
        return [row.name for row in self.rows(tx)]

    def outdated(self, tx: ReadTx) -> int:
        """How many secrets are not yet encrypted under the current master key."""
        return cast(int, tx.value(f"select count(*) from secrets where {_OUTDATED}", current=self._keyring.current.id))

    def rewrap(self, tx: Tx, *, after: str = "", limit: int) -> list[str]:
        """Encrypt the next ``limit`` outdated secrets after the name ``after`` under the current master key.

        Returns their names. One that can't be decrypted stays unchanged: its key may come back. May be interrupted at
        any point and called again.
        """
        names = [
            cast(str, name)
            for (name,) in tx.all(
                f"select name from secrets where {_OUTDATED} and name > :after order by name limit :limit",
                current=self._keyring.current.id,
                after=after,
                limit=limit,
            )
        ]
        for name in names:
            try:
                self._rewrap_one(tx, name)
            except SecretUnreadable:
                continue
        return names

    def derived(self, purpose: bytes) -> tuple[str, bytes]:
        """32 bytes derived from the current master key for this one purpose, and that key's id.

        They reveal nothing about the key (RFC 5869).
        """
        key = self._keyring.current
        return key.id, HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=purpose).derive(key.material)

    def keys_as_text(self) -> str:
        """All master keys as text, which the caller must encrypt by other means at once."""
        return self._keyring.as_text()

    def _rewrap_one(self, tx: Tx, name: str) -> None:
        row_id, version, nonce, ciphertext, key_id, wrapped_key = cast(
            "tuple[str, int, bytes, bytes, str, bytes | None]",
            tx.one("select id, version, nonce, ciphertext, key_id, wrapped_key from secrets where name = :n", n=name),
        )
        place = _place(name, row_id, version)
        if wrapped_key is None:
            value = cast(bytes, self.read(tx, name))
            data_key, nonce = os.urandom(KEY_BYTES), os.urandom(NONCE_BYTES)
            ciphertext = AESGCM(data_key).encrypt(nonce, value, place)
        else:
            try:
                data_key = _unwrap(self._material(name, key_id), wrapped_key, place)
            except (InvalidTag, ValueError):
                raise SecretUnreadable(name, "its row was altered or damaged") from None
        key = self._keyring.current
        tx.run(
            """
            update secrets set nonce = :nonce, ciphertext = :ciphertext, key_id = :key_id, wrapped_key = :wrapped_key
            where name = :name
            """,
            nonce=nonce,
            ciphertext=ciphertext,
            key_id=key.id,
            wrapped_key=_wrap(key.material, data_key, place),
            name=name,
        )

    def _material(self, name: str, key_id: str) -> bytes:
        key = self._keyring.find(key_id)
        if key is None:
            raise SecretUnreadable(name, f"its key {key_id} is not in the key file")
        return key.material


_OUTDATED: Final = "(key_id <> :current or wrapped_key is null)"


def _wrap(master_key: bytes, data_key: bytes, place: bytes) -> bytes:
    """Nonce and ciphertext of the data key, bound to the same place as the value."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(master_key).encrypt(nonce, data_key, b"data key of " + place)


def _unwrap(master_key: bytes, wrapped_key: bytes, place: bytes) -> bytes:
    nonce, ciphertext = wrapped_key[:NONCE_BYTES], wrapped_key[NONCE_BYTES:]
    return AESGCM(master_key).decrypt(nonce, ciphertext, b"data key of " + place)


def _place(name: str, row_id: str, version: int) -> bytes:
    """The place of a ciphertext, as JSON so that no two places have the same encoding."""
    return msgspec.json.encode([name, row_id, version])
