"""A recorder by hand: what the Meetings page says on its socket, and the sound to send."""

from __future__ import annotations

import json
import math
import struct
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import trio
from wsproto.events import Ping, TextMessage

from tests.support.service import LiveSocket, Service

RATE = 16_000
SECOND = RATE * 2


def tone(seconds: float, *, rate: int = RATE, pitch: float = 220.0) -> bytes:
    """Loud enough to count as speech."""
    samples = (round(9_000 * math.sin(2 * math.pi * pitch * at / rate)) for at in range(round(seconds * rate)))
    return array("h", samples).tobytes()


def quiet(seconds: float, *, rate: int = RATE) -> bytes:
    return bytes(2 * round(seconds * rate))


def opus_packet(number: int = 0, *, silent: bool = False) -> bytes:
    """20 ms of one channel, as far as the first byte tells."""
    return b"\x98" if silent else b"\x98" + struct.pack("<I", number) * 10


@dataclass
class Recorder:
    socket: LiveSocket
    meeting: str = ""
    received: int = 0

    async def say(self, *frames: bytes) -> None:
        for frame in frames:
            await self.socket.client.say(frame)

    async def stop(self) -> None:
        await self.socket.say(type="stop")

    async def hear(self, *kinds: str) -> dict[str, Any]:
        """The next frame of one of these kinds."""
        while True:
            frame = await self.socket.hear()
            if frame["type"] in kinds:
                return frame

    async def wait(self, seconds: float) -> list[str]:
        """Do nothing but answer pings; which kinds of frames came, each once, in their order."""
        kinds: list[str] = []
        with trio.move_on_after(seconds):
            while (event := await self.socket.client.event()) is not None:
                if isinstance(event, Ping):
                    await self.socket.client.send(event.response())
                elif isinstance(event, TextMessage):
                    kinds.append(json.loads(event.data)["type"])
        return list(dict.fromkeys(kinds))

    async def hear_to_the_end(self) -> list[dict[str, Any]]:
        """All frames up to ``done``, without the ``kept``."""
        frames: list[dict[str, Any]] = []
        while not frames or frames[-1]["type"] != "done":
            frame = await self.socket.hear()
            if frame["type"] != "kept":
                frames.append(frame)
        return frames


async def record(service: Service, query: str = "", fields: Mapping[str, str] = MappingProxyType({})) -> Recorder:
    """A recorder that has heard ``ready``."""
    socket = await service.socket(f"/meetings/audio?{query}", fields=fields)
    assert socket.status == 101, socket.head
    ready = await socket.hear()
    assert ready["type"] == "ready"
    return Recorder(socket, meeting=ready["meeting"], received=ready["received"])
