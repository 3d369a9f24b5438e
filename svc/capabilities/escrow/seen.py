"""A home's note about its wrapped key: enough to detect an older or a different key.

It has no key, and no part of one that would help an attacker. It is written after the key has opened the home.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import msgspec

from svc.capabilities.escrow.refusals import EscrowRefused
from svc.capabilities.escrow.service import Record
from svc.capabilities.escrow.settings import ESCROW_URL, TENANT_ID
from svc.config import Config
from svc.store import Home, write_durably

FILE: Final = "escrow.json"
FILE_MAX_BYTES: Final = 4_096


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """The key that this home was last opened with."""

    tenant: str
    version: int
    digest: str

    @classmethod
    def of(cls, record: Record) -> Seen:
        digest = hashlib.sha256(record.wrapped_key.encode()).hexdigest()
        return cls(tenant=record.tenant_id, version=record.version, digest=digest)


def seen_by(home: Path) -> Seen | None:
    """The note; ``None`` where there is no home yet, or it was never opened by an escrowed key. Raises
    :class:`EscrowRefused` where it can't be read: then nothing is known."""
    path = home / FILE
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(FILE_MAX_BYTES), type=Seen)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EscrowRefused(
            "SVC_HOME", f"{path} can't be read ({error})", "restore it, or delete it to trust the escrow service again"
        ) from None


def note(home: Path, record: Record) -> None:
    if seen_by(home) != Seen.of(record):
        write_durably(home / FILE, msgspec.json.encode(Seen.of(record)))


def check(seen: Seen | None, record: Record, config: Config) -> None:
    """Raise :class:`EscrowRefused` unless ``record`` is the one seen last, or newer."""
    if seen is None:
        return
    if seen.tenant != config[TENANT_ID]:
        raise EscrowRefused(
            TENANT_ID.name, f"this home is that of the tenant {seen.tenant!r}", "set its tenant, or another SVC_HOME"
        )
    if record.version < seen.version:
        raise EscrowRefused(
            ESCROW_URL.name,
            f"the escrow service has version {record.version} of the key, and this home has seen {seen.version}",
            "its database is older than this home: restore the newer one, or this home's backup of that time",
        )
    if record.version == seen.version and Seen.of(record) != seen:
        raise EscrowRefused(
            ESCROW_URL.name,
            f"the escrow service has another key as version {record.version} than this home has seen",
            "find out who changed its database; restore the one that this home knows",
        )


def is_home(home: Path) -> bool:
    """Whether a home or a database exists there."""
    return Home.exists(home) or Home.database_of(home).exists()
