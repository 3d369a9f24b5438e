"""Downloads of a whole export that can be resumed: the made archive is kept for a while, so that a client can get the
rest after a lost connection (a range of the same bytes).

A task makes the archive into a file without a name, and the download reads from it meanwhile. The archive is completed
even if the connection breaks. It is deleted an hour after the last read, or with the process. One for each person. If
the disk has no room for it, the archive is streamed as it is made, and can't be resumed.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

import trio

from svc.errors import Unavailable
from svc.export import rows
from svc.log import Log
from svc.nursery import Child, ThreadPool
from svc.store import ROOM_BYTES, Store

KEPT_S: Final = 3_600.0
"""The time that an archive is kept after its last reader. Beyond: a download that broke begins anew."""
MAX_KEPT: Final = 4
"""Archives that are kept for people who download. Beyond: one more is streamed, and can't be resumed."""
WHOLE_S: Final = 240.0
"""How long a request for the rest waits until the archive is complete. Beyond: 503 `unavailable`."""
PIECE_BYTES: Final = 512 * 1024


class ExportCut(Exception):
    """The archive could not be completed."""


@dataclass(kw_only=True, eq=False)
class Kept:
    """An archive that is being made, or complete. ``touched``: the last time that it was read or waited for, or became
    complete, by Trio's clock. ``weight``: its expected size in bytes."""

    file: BinaryIO
    weight: int = 0
    tag: str = field(default_factory=lambda: f'"{secrets.token_hex(16)}"')
    size: int = 0
    whole: bool = False
    fault: bool = False
    readers: int = 0
    touched: float = field(default_factory=trio.current_time)
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    gone: bool = False
    made: bool = False
    """No task writes to it any more."""
    _grown: trio.Event = field(default_factory=trio.Event)

    def grows(self) -> None:
        self._grown.set()
        self._grown = trio.Event()

    def due(self) -> int:
        """About how many bytes are still to be written."""
        return 0 if self.made or self.whole else max(0, self.weight - self.size)

    async def end(self) -> int:
        """Its size, once it is complete. A waiting caller counts as a reader. Raises :class:`Unavailable`."""
        self.readers += 1
        try:
            with trio.move_on_after(WHOLE_S):
                while not self.whole and not self.fault:
                    await self._grown.wait()
        finally:
            self._read_no_more()
        if not self.whole:
            raise Unavailable("The archive is not whole yet. Ask again.", headers={"Retry-After": "30"})
        return self.size

    async def stream(self, threads: ThreadPool, *, start: int = 0) -> AsyncGenerator[bytes, None]:
        """The bytes from ``start`` to its end, as it is made. Raises :class:`ExportCut`, also if its file is already
        closed."""
        if self.file.closed:
            raise ExportCut
        self.readers += 1
        try:
            at = start
            while not (self.whole and at >= self.size):
                if self.fault:
                    raise ExportCut
                if at >= self.size:
                    await self._grown.wait()
                    continue
                piece = await threads.run(os.pread, self.file.fileno(), min(PIECE_BYTES, self.size - at), at)
                at, self.touched = at + len(piece), trio.current_time()
                yield piece
        finally:
            self._read_no_more()

    def _read_no_more(self) -> None:
        self.readers -= 1
        self.touched = trio.current_time()
        self.let_go()

    def let_go(self) -> None:
        """Once it is dropped and has no reader: close its file, or stop its writer, which closes it."""
        if not self.gone or self.readers:
            return
        if self.made:
            self.file.close()
        else:
            self.scope.cancel()


@dataclass(kw_only=True)
class Downloads:
    """``spool``: the folder of the files. ``_open``: all that use space, also one that was replaced and is
    still read."""

    store: Store
    threads: ThreadPool
    log: Log
    spool: Path
    _kept: dict[str, Kept] = field(default_factory=dict)
    _open: list[Kept] = field(default_factory=list)
    _beginning: trio.Lock = field(default_factory=trio.Lock)
    _nursery: trio.Nursery | None = None

    async def run(self, child: Child) -> None:
        """The subsystem. Archives in progress end with it."""
        try:
            async with trio.open_nursery() as self._nursery:
                child.started()
                await trio.sleep_forever()
        finally:
            self._nursery = None

    def of(self, person: str) -> Kept | None:
        return self._kept.get(person)

    async def begin(self, person: str, pieces: AsyncGenerator[bytes, None]) -> Kept | None:
        """Begin an archive, in place of an earlier one of that person. ``None``: there is no room, nothing was
        begun."""
        async with self._beginning:  # one at a time: each counts the room that earlier ones will need
            earlier = self._kept.get(person)
            others = self._others(earlier)
            weight = await self.store.read(rows.weight)
            needed = weight + sum(one.due() for one in others) + ROOM_BYTES
            if len(others) >= MAX_KEPT or needed >= await self.threads.run(_free, self.spool):
                return None
            file = await self.threads.run(_nameless, self.spool)
            nursery = self._nursery
            if nursery is None or len(self._others(earlier)) >= MAX_KEPT:  # the earlier one has a reader again
                file.close()
                return None
            kept = Kept(file=file, weight=weight)
            if earlier is not None and self._kept.pop(person, None) is earlier:
                self._drop(earlier)
            self._kept[person] = kept
            self._open.append(kept)
            nursery.start_soon(self._keep, person, kept, pieces)
            return kept

    def _others(self, earlier: Kept | None) -> list[Kept]:
        """All that use space, except ``earlier`` if it has no reader: it is removed when it is replaced."""
        self._open = [one for one in self._open if not one.file.closed]
        return [one for one in self._open if one.readers or not (one.gone or one is earlier)]

    async def _keep(self, person: str, kept: Kept, pieces: AsyncGenerator[bytes, None]) -> None:
        try:
            with kept.scope:
                await self._make(kept, pieces)
                while kept.whole:
                    left_s = KEPT_S if kept.readers else kept.touched + KEPT_S - trio.current_time()
                    if left_s <= 0:
                        break
                    await trio.sleep(left_s)
        finally:
            if self._kept.get(person) is kept:
                del self._kept[person]
            kept.made, kept.fault = True, not kept.whole
            kept.grows()
            self._drop(kept)

    async def _make(self, kept: Kept, pieces: AsyncGenerator[bytes, None]) -> None:
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    await self.threads.run(_written, kept.file, piece)
                    kept.size += len(piece)
                    kept.grows()
            kept.whole, kept.touched = True, trio.current_time()
        except Exception as error:  # its readers are cut off; other archives continue
            self.log.error("export.cut", error)
            kept.fault = True
        kept.grows()

    def _drop(self, kept: Kept) -> None:
        kept.gone = True
        kept.let_go()


def _nameless(folder: Path) -> BinaryIO:
    """A file without a name: it disappears when its descriptor is closed, whatever happens."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, path = tempfile.mkstemp(dir=folder, prefix="download-")
    os.unlink(path)
    return os.fdopen(descriptor, "w+b", buffering=0)


def _written(file: BinaryIO, piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[file.write(rest) :]


def _free(folder: Path) -> int:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize
