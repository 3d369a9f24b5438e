"""Hostile and unlucky clients of HTTP/2, behind Hypercorn: each harms its own connection at most."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
import trio
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import Event, ResponseReceived, SettingsAcknowledged, StreamEnded, StreamReset
from hypercorn.events import Event as FrontEvent
from hypercorn.events import RawData
from hypercorn.protocol.h2 import H2Protocol

from svc.surface.hypercorn_front import FRAMES_BYTES, MAX_RUNNING
from tests.support.http import HttpWorld
from tests.surface.test_second_front import served

pytestmark = pytest.mark.wall_clock

_PIECE: Final = 65_536


class _Client:
    """Speaks HTTP/2 without TLS, as it is known beforehand that the server does."""

    def __init__(self, stream: trio.SocketStream, port: int) -> None:
        self.protocol = H2Connection(H2Configuration(client_side=True))
        self._stream = stream
        self._authority = f"127.0.0.1:{port}"

    def begin(self, stream_id: int, method: str, path: str, *, ends: bool = True) -> None:
        head = [(":method", method), (":path", path), (":scheme", "http"), (":authority", self._authority)]
        self.protocol.send_headers(stream_id, head, end_stream=ends)

    async def send(self) -> None:
        await self._stream.send_all(self.protocol.data_to_send())

    async def until(self, kind: type[Event], stream_id: int | None = None) -> Event:
        while data := await self._stream.receive_some(_PIECE):
            for event in self.protocol.receive_data(data):
                if isinstance(event, kind) and stream_id in {None, getattr(event, "stream_id", None)}:
                    return event
        raise AssertionError(f"the connection ended before {kind.__name__}")

    async def until_closed(self) -> None:
        try:
            while await self._stream.receive_some(_PIECE):
                pass
        except trio.BrokenResourceError:
            pass  # closed with some of our frames unread


@asynccontextmanager
async def _connected(world: HttpWorld) -> AsyncIterator[_Client]:
    async with await trio.open_tcp_stream("127.0.0.1", world.port) as stream:
        client = _Client(stream, world.port)
        client.protocol.initiate_connection()
        await client.send()
        await client.until(SettingsAcknowledged)
        yield client


async def test_the_rest_of_a_request_that_was_answered_before_its_end_harms_no_other(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, _, _), _connected(world) as client:
        client.begin(1, "POST", "/ignore", ends=False)
        await client.send()
        await client.until(StreamEnded, 1)
        client.protocol.send_data(1, b"x" * 1_000)
        client.protocol.send_data(1, b"x" * 1_000)
        await client.send()
        told = await client.until(StreamReset, 1)
        assert isinstance(told, StreamReset)
        assert told.error_code == ErrorCodes.NO_ERROR
        client.begin(3, "GET", "/hello")
        await client.send()
        await client.until(ResponseReceived, 3)


async def test_who_begins_and_gives_up_more_and_more_requests_loses_the_connection(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, _, _), _connected(world) as client:
        for stream_id in range(1, 5 * MAX_RUNNING, 2):
            client.begin(stream_id, "GET", "/slow")
            client.protocol.reset_stream(stream_id)
        await client.send()
        await client.until_closed()
        assert 0 < world.seen.count("slow begins") < 2 * MAX_RUNNING


async def test_many_small_frames_are_parsed_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    handle = H2Protocol.handle

    async def noted(self: H2Protocol, event: FrontEvent) -> None:
        if isinstance(event, RawData):
            sizes.append(len(event.data))
        await handle(self, event)

    async with served(tmp_path) as (world, _, _), _connected(world) as client:
        monkeypatch.setattr(H2Protocol, "handle", noted)
        for _ in range(1_000):
            client.protocol.ping(b"12345678")
        client.begin(1, "GET", "/hello")
        await client.send()
        await client.until(StreamEnded, 1)
    assert sum(sizes) > 8 * FRAMES_BYTES
    assert max(sizes) <= FRAMES_BYTES
