"""A client of ``/pty``: what it is sent, and the words about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import trio
import trio.testing
from wsproto.events import BytesMessage, CloseConnection, Ping, TextMessage

from tests.sizes import HANGS_S
from tests.support.service import EndPair, LiveSocket, Service

NOBODY: Mapping[str, str] = MappingProxyType({})


@dataclass
class Screen:
    socket: LiveSocket
    shown: bytearray = field(default_factory=bytearray)
    words: list[dict[str, Any]] = field(default_factory=list)
    closed: CloseConnection | None = None

    @property
    def status(self) -> int:
        return self.socket.status

    @property
    def session(self) -> str:
        return str(self.words[0]["session"])

    async def type(self, text: str) -> None:
        await self.socket.client.say(text.encode())

    async def say(self, **frame: object) -> None:
        await self.socket.say(**frame)

    async def until(self, wanted: bytes) -> bytes:
        """Until it shows ``wanted``; all that it shows by then is taken."""
        looked = 0
        while self.shown.find(wanted, max(0, looked - len(wanted))) < 0:
            looked = len(self.shown)
            await self.step()
        shown, self.shown = bytes(self.shown), bytearray()
        return shown

    async def word(self, kind: str) -> dict[str, Any]:
        while not any(one["type"] == kind for one in self.words):
            await self.step()
        return next(one for one in self.words if one["type"] == kind)

    async def end(self) -> int:
        """Read on to the end. The close code."""
        while self.closed is None:
            await self.step()
        return int(self.closed.code)

    async def step(self) -> None:
        with trio.fail_after(HANGS_S):
            event = await self.socket.client.event()
        match event:
            case Ping():
                await self.socket.client.send(event.response())
            case TextMessage():
                self.words.append(json.loads(event.data))
            case BytesMessage():
                self.shown += event.data
            case CloseConnection():
                self.closed = event
                await self.socket.client.send(event.response())
            case _:
                raise AssertionError(f"cut after {self.shown[-500:]!r}, {self.words}")

    async def leave(self) -> None:
        await self.socket.client.stream.aclose()


@dataclass
class Screens:
    """Opens screens of a service, and closes them all at the end."""

    service: Service
    screens: list[Screen] = field(default_factory=list)

    async def open(
        self,
        query: str = "",
        *,
        fields: Mapping[str, str] = NOBODY,
        pair: EndPair = trio.testing.memory_stream_pair,
    ) -> Screen:
        screen = Screen(await self.service.socket(f"/pty{query}", fields=fields, pair=pair))
        self.screens.append(screen)
        return screen

    async def ready(
        self,
        query: str = "",
        *,
        fields: Mapping[str, str] = NOBODY,
        pair: EndPair = trio.testing.memory_stream_pair,
    ) -> Screen:
        """One that shows a terminal."""
        screen = await self.open(query, fields=fields, pair=pair)
        assert screen.status == 101, screen.socket.head
        await screen.word("ready")
        return screen

    async def leave(self) -> None:
        for screen in self.screens:
            await trio.aclose_forcefully(screen.socket.client.stream)
