"""Every way in which a blob goes bad, and what the service says of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import trio

from tests.support.service import Service


def delete(path: Path) -> None:
    path.unlink()


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


Harming = Callable[[Path], None]
WAYS: Final[tuple[Harming, ...]] = (delete, flip, truncate, empty)


def blob_of(service: Service, sha256: object) -> Path:
    name = str(sha256)
    return service.workspace.home.blobs / name[:2] / name


async def damages(service: Service) -> list[tuple[str, str, str]]:
    """What is recorded: blob, state, reason."""
    return [
        (str(sha256), str(state), str(reason))
        for sha256, state, reason in await service.rows("select sha256, state, reason from blob_damage order by sha256")
    ]


async def healed(service: Service) -> None:
    """Long enough for the healer to have done what it can do now."""
    await trio.sleep(5)
