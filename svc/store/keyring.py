"""The master key: where it is stored, who may read it, and how it is first created.

Owns the key file: one key a line, 64 hexadecimal digits, the first one current, the others kept until nothing is
encrypted under them. The file is outside the home, so that a copy of the home gives nothing away. A key is never
created where secrets exist that an older one encrypted, and never shown.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from svc.store.faults import KeyRefused
from svc.store.home import PRIVATE_DIRECTORY, PRIVATE_UMASK, sync_directory

KEY_BYTES: Final = 32  # AES-256
MAX_KEYS: Final = 16

_LINE: Final = re.compile(rf"[0-9a-f]{{{2 * KEY_BYTES}}}")
_MAX_FILE_BYTES: Final = MAX_KEYS * (2 * KEY_BYTES + 2)


@dataclass(frozen=True)
class MasterKey:
    """``id`` may be stored beside the encrypted data: it reveals nothing about ``material``."""

    id: str
    material: bytes = field(repr=False)

    @classmethod
    def of(cls, material: bytes) -> MasterKey:
        return cls(f"key_{hashlib.sha256(b'svc master key id' + material).hexdigest()[:16]}", material)


@dataclass(frozen=True)
class Keyring:
    """The keys of one home. New values are encrypted under the first."""

    keys: tuple[MasterKey, ...]

    @property
    def current(self) -> MasterKey:
        return self.keys[0]

    def find(self, key_id: str) -> MasterKey | None:
        return next((key for key in self.keys if key.id == key_id), None)

    @classmethod
    def random(cls) -> Keyring:
        """A key that lives only in memory."""
        return cls((MasterKey.of(secrets.token_bytes(KEY_BYTES)),))

    def renewed(self) -> Keyring:
        """A keyring with a new current key; the others stay, for what is still encrypted under them."""
        if len(self.keys) >= MAX_KEYS:
            raise KeyRefused(
                f"the master key has {MAX_KEYS} versions; let go of old ones: svc secrets rotate --forget-old"
            )
        return Keyring((*Keyring.random().keys, *self.keys))

    def current_only(self) -> Keyring:
        return Keyring((self.current,))

    def as_text(self) -> str:
        """The stored form: a key a line, 64 hexadecimal digits, the current one first."""
        return "".join(f"{key.material.hex()}\n" for key in self.keys)

    @classmethod
    def from_text(cls, text: str) -> Keyring | None:
        """The keyring of such a text; ``None`` where ``text`` is not valid."""
        lines = text.split()
        if not 1 <= len(lines) <= MAX_KEYS or not all(_LINE.fullmatch(line) for line in lines):
            return None
        return cls(tuple(MasterKey.of(bytes.fromhex(line)) for line in lines))


class MasterKeySource(Protocol):
    """Where a home's master key is stored: a file, the system's keyring, later a key-management service."""

    def load(self, *, may_create: bool) -> Keyring:
        """``may_create`` is false once the home has secrets. Raises :class:`KeyRefused`."""
        ...

    def exists(self) -> bool:
        """Whether anything is stored there, valid or not. Raises :class:`KeyRefused` where that is unknown."""
        ...

    def replace(self, keyring: Keyring) -> None:
        """Store ``keyring`` instead, durably and atomically. Raises :class:`KeyRefused`."""
        ...


@dataclass(frozen=True, kw_only=True)
class KeyFile:
    """The key file of a home: private, and outside the home."""

    path: Path
    home: Path

    def load(self, *, may_create: bool) -> Keyring:
        return open_keyring(self.path, home=self.home, may_create=may_create)

    def exists(self) -> bool:
        return self.path.exists()

    def replace(self, keyring: Keyring) -> None:
        try:
            temporary = _written_beside(self.path, keyring)
            os.replace(temporary, self.path)
            sync_directory(self.path.parent)
        except OSError as error:
            raise KeyRefused(f"the master key {self.path} can't be replaced: {error.strerror}") from error


def master_key_path(key_file: Path | None, *, home_id: str, environ: Mapping[str, str]) -> Path:
    """``key_file`` when it is set, else ``$XDG_CONFIG_HOME/svc/keys/<home id>``."""
    if key_file is not None:
        return key_file
    configured = environ.get("XDG_CONFIG_HOME", "")
    user_home = Path(environ.get("HOME") or os.path.expanduser("~"))
    base = Path(configured) if configured.startswith("/") else user_home / ".config"
    return base / "svc" / "keys" / home_id


def open_keyring(path: Path, *, home: Path, may_create: bool) -> Keyring:
    """Read or create the key file. ``may_create`` is false once the home has secrets. Raises :class:`KeyRefused`."""
    if path.resolve().is_relative_to(home.resolve()):
        raise KeyRefused(
            f"the master key {path} lies in the home it protects; set SVC_MASTER_KEY_FILE to a file elsewhere"
        )
    try:
        if not path.exists():
            if not may_create:
                raise KeyRefused(
                    f"the master key {path} is missing, and this home has secrets under it; put it back there"
                )
            _create(path)
        return _read(path)
    except OSError as error:
        raise KeyRefused(f"the master key {path} can't be used: {error.strerror}") from error


def _create(path: Path) -> None:
    """Write another file, then link it: the name appears with its whole content or not at all, and never replaces
    another."""
    path.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    temporary = _written_beside(path, Keyring.random())
    try:
        os.link(temporary, path)
    finally:
        temporary.unlink()
    sync_directory(path.parent)


def _written_beside(path: Path, keyring: Keyring) -> Path:
    """A private file in the same directory that holds ``keyring``, synced to the disk."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(keyring.as_text().encode())
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink()
        raise
    return temporary


def _read(path: Path) -> Keyring:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        _refuse_shared(path, os.fstat(descriptor))
        keyring = Keyring.from_text(file.read(_MAX_FILE_BYTES + 1).decode("ascii", "replace"))
    if keyring is None:
        raise KeyRefused(
            f"the master key {path} is damaged: it must hold {2 * KEY_BYTES} hexadecimal digits; restore it"
        )
    return keyring


def _refuse_shared(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise KeyRefused(f"the master key {path} is not a file")
    if status.st_mode & PRIVATE_UMASK:
        raise KeyRefused(f"the master key {path} can be read by others; run: chmod 600 {path}")
    if status.st_uid not in {os.geteuid(), 0}:
        raise KeyRefused(f"the master key {path} belongs to another user; make it your own")
