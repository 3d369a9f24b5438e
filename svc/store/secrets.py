"""The secrets store: credentials encrypted at rest, each bound to its own place.

Owns the ``secrets`` table. AES-256-GCM; the associated data holds name, row id and version, so that a ciphertext moved
to another row, or an older one put back under a newer version, does not decrypt. A value never appears in a repr, an
error or a log; callers hold it no longer than the call they need it for.
"""

from __future__ import annotations

import os
from typing import Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from svc.ids import new_id
from svc.store.keyring import Keyring
from svc.store.transaction import ReadTx, Tx

NONCE_BYTES: Final = 12


class SecretUnreadable(Exception):
    """A secret exists but can't be decrypted: another key, or an altered row. Only its name is told."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"the secret {name!r} can't be decrypted: {why}")
        self.name = name


def has_secrets(tx: ReadTx) -> bool:
    """Whether a lost key would lose something."""
    return tx.one("select 1 from secrets limit 1") is not None


class Secrets:
    """Reads and writes secrets under one keyring."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    def read(self, tx: ReadTx, name: str) -> bytes | None:
        """The value, or ``None``. Raises :class:`SecretUnreadable`."""
        row = tx.one("select id, version, nonce, ciphertext, key_id from secrets where name = :name", name=name)
        if row is None:
            return None
        row_id, version, nonce, ciphertext, key_id = row
        key = self._keyring.find(key_id)
        if key is None:
            raise SecretUnreadable(name, f"its key {key_id} is not in the key file")
        try:
            return AESGCM(key.material).decrypt(nonce, ciphertext, _place(name, row_id, version))
        except (InvalidTag, ValueError):
            raise SecretUnreadable(name, "its row was altered or damaged") from None

    def write(self, tx: Tx, name: str, value: bytes) -> None:
        """Insert or replace."""
        row = tx.one("select id, version from secrets where name = :name", name=name)
        row_id, version = (new_id("sec"), 1) if row is None else (row[0], row[1] + 1)
        nonce = os.urandom(NONCE_BYTES)
        key = self._keyring.current
        tx.run(
            """
            insert into secrets (name, id, version, nonce, ciphertext, key_id, updated_at)
            values (:name, :id, :version, :nonce, :ciphertext, :key_id, :now)
            on conflict (name) do update set version = excluded.version, nonce = excluded.nonce,
                ciphertext = excluded.ciphertext, key_id = excluded.key_id, updated_at = excluded.updated_at
            """,
            name=name,
            id=row_id,
            version=version,
            nonce=nonce,
            ciphertext=AESGCM(key.material).encrypt(nonce, value, _place(name, row_id, version)),
            key_id=key.id,
            now=tx.now,
        )

    def seed(self, tx: Tx, name: str, value: bytes) -> bool:
        """Insert only: a rotated value is never overwritten by a stale variable. Whether it was inserted."""
        if tx.one("select 1 from secrets where name = :name", name=name) is not None:
            return False
        self.write(tx, name, value)
        return True

    def delete(self, tx: Tx, name: str) -> bool:
        """Whether there was one."""
        return tx.run("delete from secrets where name = :name", name=name) == 1

    def names(self, tx: ReadTx) -> list[str]:
        return [name for (name,) in tx.all("select name from secrets order by name")]

    def rotate(self, tx: Tx) -> int:
        """Encrypt everything under the current key that still is under an older one; how many there were."""
        outdated = tx.all(
            "select name from secrets where key_id <> :current order by name", current=self._keyring.current.id
        )
        for (name,) in outdated:
            value = self.read(tx, name)
            if value is not None:
                self.write(tx, name, value)
        return len(outdated)


def _place(name: str, row_id: str, version: int) -> bytes:
    """Where a ciphertext belongs; JSON, so that no two places have one encoding."""
    return msgspec.json.encode([name, row_id, version])
