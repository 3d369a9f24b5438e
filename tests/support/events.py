"""A reader of server-sent events, as browsers read them (HTML, 9.2.6), over the service's own listener."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self
from urllib.parse import quote

import trio
import trio.testing

from tests.support.service import ANSWER_DEADLINE_S, HOST, EndPair, Service


@dataclass(frozen=True, kw_only=True)
class SentEvent:
    name: str
    data: str
    id: str | None
    retry: str | None = None

    @property
    def json(self) -> Any:
        return json.loads(self.data)


@dataclass
class EventSource:
    """One connection. ``status`` and ``head`` are known once it is open."""

    stream: trio.abc.Stream
    head: str = ""
    _bytes: bytearray = field(default_factory=bytearray)
    _text: str = ""
    _ended: bool = False

    @classmethod
    async def open(
        cls,
        service: Service,
        procedure: str,
        wanted: object,
        fields: Mapping[str, str] = MappingProxyType({}),
        *,
        pair: EndPair = trio.testing.memory_stream_pair,
    ) -> Self:
        target = f"/trpc/{procedure}?input={quote(json.dumps(wanted))}"
        named = {"host": HOST, "accept": "text/event-stream", **fields}
        lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
        source = cls(await service.listener.connect(pair))
        await source.stream.send_all("\r\n".join(lines).encode() + b"\r\n\r\n")
        while b"\r\n\r\n" not in source._bytes:
            assert await source._receive(), "the connection ended before an answer"
        head, _, rest = bytes(source._bytes).partition(b"\r\n\r\n")
        source.head, source._bytes = head.decode(), bytearray(rest)
        return source

    @property
    def status(self) -> int:
        return int(self.head.split(" ", 2)[1])

    async def event(self) -> SentEvent | None:
        """The next one; ``None`` at the end of the answer."""
        with trio.fail_after(ANSWER_DEADLINE_S):
            while True:
                while "\n\n" not in self._text:
                    if not await self._piece():
                        return None
                block, _, self._text = self._text.partition("\n\n")
                if block.strip("\n"):
                    return _parsed(block)

    async def frame(self) -> Any:
        """The data of the next event that is told, whatever signs of life come before it."""
        while (event := await self.event()) is not None:
            if event.name == "message":
                return event.json
            assert event.name in ("connected", "ping"), event
        raise AssertionError("the stream ended")

    async def aclose(self) -> None:
        await trio.aclose_forcefully(self.stream)

    async def _piece(self) -> bool:
        """One chunk of the body (RFC 9112, 7.1)."""
        while b"\r\n" not in self._bytes:
            if not await self._receive():
                return False
        size = int(bytes(self._bytes).partition(b"\r\n")[0], 16)
        start = self._bytes.index(b"\r\n") + 2
        while len(self._bytes) < start + size + 2:
            if not await self._receive():
                return False
        self._text += self._bytes[start : start + size].decode()
        del self._bytes[: start + size + 2]
        return size > 0

    async def _receive(self) -> bool:
        data = b""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            data = bytes(await self.stream.receive_some())
        self._bytes += data
        return bool(data)


def _parsed(block: str) -> SentEvent:
    fields: dict[str, str] = {}
    for line in block.strip("\n").split("\n"):
        name, _, value = line.partition(":")
        fields[name] = value.removeprefix(" ")
    return SentEvent(
        name=fields.get("event", "message"),
        data=fields.get("data", ""),
        id=fields.get("id"),
        retry=fields.get("retry"),
    )
