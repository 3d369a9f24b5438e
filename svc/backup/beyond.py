"""Access to the blobs outside the home: the replica, for restoring."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from typing import Final

from svc import replica
from svc.backup.litestream import ArchiveFault
from svc.config import Config
from svc.nursery import open_task_group
from svc.protocol.egress import Egress
from svc.replica import Target, TargetFault
from svc.store import Blobs

AT_ONCE: Final = 8
"""Blobs fetched at the same time."""
SMALL_BYTES: Final = 256 * 1024
"""Size of a blob that waits in memory until others are stored with it."""
GROUP_BLOBS: Final = 64
GROUP_BYTES: Final = 4 * 1024 * 1024
ANY_SIZE: Final = 2**50


def beyond_of(config: Config, egress: Egress) -> Target | None:
    """The replica; ``None`` where none is configured."""
    return replica.target_of(config, egress)


class Bringing:
    """Fetches blobs into the home and compares each with its name: small ones in groups, with one sync for each group.

    Each worker takes the next names when it is free, so at most :data:`AT_ONCE` groups are in memory.
    """

    def __init__(self, target: Target, names: Iterable[str], into: Blobs) -> None:
        self.missing: list[str] = []
        self._target = target
        self._left = iter(names)
        self._into = into

    async def run(self) -> None:
        """Fetch until all are here, or listed in ``missing``. Raises :class:`ArchiveFault` where the replica does not
        answer."""
        async with open_task_group() as nursery:
            for _ in range(AT_ONCE):
                nursery.start_soon(self._bring_groups)

    async def _bring_groups(self) -> None:
        held: list[bytes] = []
        for name in self._left:
            if await self._into.size(name) is not None:
                continue
            if (data := await self._bring(name)) is None:
                continue
            held.append(data)
            if len(held) == GROUP_BLOBS or sum(map(len, held)) > GROUP_BYTES:
                await self._into.put_all(held)
                held.clear()
        if held:
            await self._into.put_all(held)

    async def _bring(self, name: str) -> bytes | None:
        """The bytes of a small blob; a large one is stored while it is received."""
        try:
            async with aclosing(self._target.stream(name)) as pieces:
                begun = b""
                async for piece in pieces:
                    begun += piece
                    if len(begun) > SMALL_BYTES:
                        await self._into.put_stream(_again(begun, pieces), limit=ANY_SIZE)
                        return None
        except LookupError:
            self.missing.append(name)
            return None
        except TargetFault as fault:
            raise ArchiveFault(fault.words.rstrip(".")) from fault
        return begun


async def _again(begun: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield begun
    async for piece in rest:
        yield piece
