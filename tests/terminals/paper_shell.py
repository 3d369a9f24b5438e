"""A program in memory that says and takes what a test wants."""

from __future__ import annotations

from dataclasses import dataclass, field

import trio

from svc.terminals.shell import Size


@dataclass(kw_only=True)
class PaperShell:
    """``say`` blocks while its output is not read. ``heeds``: a hang-up ends it."""

    heeds: bool = True
    sizes: list[Size] = field(default_factory=list)
    redrawn: int = 0
    is_closed: bool = False
    takes: bool = True
    typed: bytes = b""
    _waiting: bytearray = field(default_factory=bytearray)
    _turn: trio.Condition = field(default_factory=trio.Condition)
    _status: int | None = None

    async def say(self, data: bytes) -> None:
        async with self._turn:
            while self._waiting and self._status is None:
                await self._turn.wait()
            self._waiting += data
            self._turn.notify_all()

    async def exit(self, status: int) -> None:
        async with self._turn:
            self._status = status if self._status is None else self._status
            self._turn.notify_all()

    async def take(self) -> None:
        async with self._turn:
            self.takes = True
            self._turn.notify_all()

    async def read(self, at_most: int) -> bytes:
        async with self._turn:
            while not self._waiting and self._status is None:
                await self._turn.wait()
            data = bytes(self._waiting[:at_most])
            del self._waiting[:at_most]
            self._turn.notify_all()
            return data

    async def write(self, data: bytes) -> None:
        async with self._turn:
            while not self.takes:
                await self._turn.wait()
        self.typed += data

    async def wait(self) -> int:
        async with self._turn:
            while self._status is None:
                await self._turn.wait()
        return self._status

    async def end(self) -> None:
        if not self.heeds:
            await trio.sleep(2)
        await self.exit(-1 if self.heeds else -9)

    async def close(self) -> None:
        self.is_closed = True

    def resize(self, size: Size) -> None:
        self.sizes.append(size)

    def redraw(self) -> None:
        self.redrawn += 1

    def foreground(self) -> str | None:
        return "paper"
