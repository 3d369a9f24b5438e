"""Hostile and unlucky clients of HTTP/2, behind Hypercorn: each harms its own connection at most."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
import trio
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    Event,
    ResponseReceived,
    SettingsAcknowledged,
    StreamEnded,
    StreamReset,
)
from hypercorn.events import Event as FrontEvent
from hypercorn.events import RawData
from hypercorn.protocol.h2 import H2Protocol
from trio.testing import wait_all_tasks_blocked

from svc.principal import Principal
from svc.protocol.messages import Request, Response
from svc.surface.hypercorn_http2 import FRAMES_BYTES, MAX_RUNNING
from tests.support.http import SmallApplication, Who
from tests.surface.test_second_front import PATIENT, all_free, ignore_all_that_comes, served

pytestmark = pytest.mark.wall_clock

_PIECE: Final = 65_536


class _Client:
    """Speaks HTTP/2 without TLS, as it is known beforehand that the server does."""

    def __init__(self, stream: trio.SocketStream, port: int) -> None:
        self.protocol = H2Connection(H2Configuration(client_side=True))
        self._stream = stream
        self._authority = f"127.0.0.1:{port}"

    def begin(self, stream_id: int, method: str, path: str, *, ends: bool = True, **fields: str) -> None:
        """``sec_websocket_version="13"`` becomes a field; ``protocol="websocket"`` the one with a colon before it."""
        head = [(":method", method), (":path", path), (":scheme", "http"), (":authority", self._authority)]
        if "protocol" in fields:
            head.append((":protocol", fields.pop("protocol")))
        head += [(name.replace("_", "-"), value) for name, value in fields.items()]
        self.protocol.send_headers(stream_id, head, end_stream=ends)

    async def send(self, *, all_but: int = 0) -> None:
        data = self.protocol.data_to_send()
        await self._stream.send_all(data[: len(data) - all_but])

    async def send_bytes(self, data: bytes) -> None:
        await self._stream.send_all(data)

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
async def _connected(app: SmallApplication) -> AsyncIterator[_Client]:
    async with await trio.open_tcp_stream("127.0.0.1", app.port) as stream:
        client = _Client(stream, app.port)
        client.protocol.initiate_connection()
        await client.send()
        await client.until(SettingsAcknowledged)
        yield client


async def test_the_rest_of_a_request_that_was_answered_before_its_end_harms_no_other(tmp_path: Path) -> None:
    async with served(tmp_path) as (app, _, _), _connected(app) as client:
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


async def test_more_than_anybody_reads_of_one_request_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SmallApplication, "ignore", ignore_all_that_comes)
    async with served(tmp_path) as (app, _, _), _connected(app) as client:
        client.begin(1, "POST", "/ignore", ends=False)
        for _ in range(40):
            client.protocol.send_data(1, b"x" * 1_000)
        client.begin(3, "GET", "/hello")
        await client.send()
        await client.until(StreamEnded, 3)


async def test_who_begins_and_gives_up_more_and_more_requests_loses_the_connection(tmp_path: Path) -> None:
    async with served(tmp_path) as (app, _, _), _connected(app) as client:
        for stream_id in range(1, 5 * MAX_RUNNING, 2):
            client.begin(stream_id, "GET", "/slow")
            client.protocol.reset_stream(stream_id)
        await client.send()
        await client.until_closed()
        assert 0 < app.seen.count("slow begins") < 2 * MAX_RUNNING


async def test_many_small_frames_are_parsed_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    handle = H2Protocol.handle

    async def noted(self: H2Protocol, event: FrontEvent) -> None:
        if isinstance(event, RawData):
            sizes.append(len(event.data))
        await handle(self, event)

    async with served(tmp_path) as (app, _, _), _connected(app) as client:
        monkeypatch.setattr(H2Protocol, "handle", noted)
        for _ in range(1_000):
            client.protocol.ping(b"12345678")
        client.begin(1, "GET", "/hello")
        await client.send()
        await client.until(StreamEnded, 1)
    assert sum(sizes) > 8 * FRAMES_BYTES
    assert max(sizes) <= FRAMES_BYTES


_HEADERS, _PRIORITY, _END_STREAM = 1, 2, 1


def _frame(kind: int, stream_id: int, payload: bytes, *, flags: int = 0) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream_id.to_bytes(4, "big") + payload


_UNSERVABLE: Final = {
    "a path that is not ASCII": [
        (":method", "GET"),
        (":path", "/\xe9"),
        (":scheme", "http"),
        (":authority", "localhost"),
    ],
    "a method that is not ASCII": [
        (":method", "G\xc9T"),
        (":path", "/"),
        (":scheme", "http"),
        (":authority", "localhost"),
    ],
    "a tunnel, which has no path": [(":method", "CONNECT"), (":authority", "localhost")],
}


@pytest.mark.parametrize("head", _UNSERVABLE.values(), ids=_UNSERVABLE)
async def test_a_head_that_is_no_request_closes_its_connection_and_is_one_line_of_the_log(
    tmp_path: Path, head: list[tuple[str, str]]
) -> None:
    async with served(tmp_path) as (app, _, _), _connected(app) as client, _connected(app) as other:
        client.protocol.config.validate_outbound_headers = False
        client.protocol.send_headers(1, head, end_stream=True)
        await _is_refused(client, app, ErrorCodes.PROTOCOL_ERROR)
        other.begin(1, "GET", "/hello")
        await other.send()
        await other.until(ResponseReceived, 1)


async def test_who_names_ever_more_requests_by_their_priority_alone_loses_the_connection(tmp_path: Path) -> None:
    async with served(tmp_path) as (app, _, _), _connected(app) as client:
        weights = (_frame(_PRIORITY, stream_id, bytes(5)) for stream_id in range(1, 2_400, 2))
        await client.send_bytes(b"".join(weights))
        await _is_refused(client, app, ErrorCodes.PROTOCOL_ERROR)


async def _is_refused(client: _Client, app: SmallApplication, code: ErrorCodes) -> None:
    await client.send()
    told = await client.until(ConnectionTerminated)
    assert isinstance(told, ConnectionTerminated)
    assert told.error_code == code
    await client.until_closed()
    assert app.log_text.count('"event":"http.not_understood"') == 1
    assert "Traceback" not in app.log_text


@pytest.mark.parametrize("where", ["in a frame", "between two frames"])
async def test_a_head_that_does_not_end_is_cut(tmp_path: Path, where: str) -> None:
    limits = replace(PATIENT, head_s=0.05)
    async with served(tmp_path, limits=limits) as (app, _, _), _connected(app) as client:
        if where == "in a frame":
            client.begin(1, "GET", "/hello")
            await client.send(all_but=1)
        else:
            await client.send_bytes(_frame(_HEADERS, 1, b"", flags=_END_STREAM))
        told = await client.until(ConnectionTerminated)
        assert isinstance(told, ConnectionTerminated)
        assert told.error_code == ErrorCodes.ENHANCE_YOUR_CALM
        await client.until_closed()


async def test_a_body_that_does_not_end_has_more_time_than_a_head(tmp_path: Path) -> None:
    limits = replace(PATIENT, head_s=0.0)
    async with served(tmp_path, limits=limits) as (app, _, _), _connected(app) as client:
        client.begin(1, "POST", "/upload", ends=False)
        await client.send()
        client.protocol.send_data(1, b"hello", end_stream=True)
        rest = client.protocol.data_to_send()
        for byte in rest:
            await client.send_bytes(bytes([byte]))
            await wait_all_tasks_blocked()
        await client.until(StreamEnded, 1)
    assert "upload 5" in app.seen


async def test_a_query_hears_that_its_client_has_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, heard = trio.Event(), trio.Event()

    async def wait(app: SmallApplication, who: Who, request: Request) -> Response:
        begun.set()
        assert request.gone is not None
        await request.gone()
        heard.set()
        return Response()

    monkeypatch.setattr(SmallApplication, "slow", wait)
    async with served(tmp_path) as (app, _, _):
        async with _connected(app) as client:
            client.begin(1, "GET", "/slow")
            await client.send()
            await begun.wait()
        await heard.wait()


_SOCKET: Final = {"protocol": "websocket", "sec_websocket_version": "13", "x_as": "member"}
_NO_SOCKETS: Final = {
    "another version": ("CONNECT", "/ws", {**_SOCKET, "sec_websocket_version": "8"}, 426),
    "no version": ("CONNECT", "/ws", {"protocol": "websocket", "x_as": "member"}, 426),
    "another protocol": ("CONNECT", "/ws", {**_SOCKET, "protocol": "webtransport"}, 405),
    "a method in small letters": ("connect", "/ws", {"sec_websocket_version": "13", "x_as": "member"}, 405),
}


@pytest.mark.parametrize(("method", "path", "fields", "status"), _NO_SOCKETS.values(), ids=_NO_SOCKETS)
async def test_who_opens_no_websocket_gets_none_and_hears_why(
    tmp_path: Path, method: str, path: str, fields: dict[str, str], status: int
) -> None:
    async with served(tmp_path) as (app, _, _), _connected(app) as client:
        client.protocol.config.validate_outbound_headers = False
        client.begin(1, method, path, ends=False, **fields)
        await client.send()
        told = await _answer(client, 1)
        assert told["status"] == str(status)
        assert told["content-type"] == "application/problem+json"
        assert told["x-request-id"]
        assert told.get("sec-websocket-version") == ("13" if status == 426 else None)


@pytest.mark.parametrize("method", ["get", "head", "Get"])
async def test_a_method_in_small_letters_is_another_method(tmp_path: Path, method: str) -> None:
    async with served(tmp_path) as (app, _, _), _connected(app) as client:
        client.begin(1, method, "/hello")
        await client.send()
        told = await _answer(client, 1)
        assert (told["status"], told["allow"]) == ("405", "GET, HEAD, OPTIONS")
        assert app.seen == []


async def test_a_frame_before_the_answer_to_its_handshake_ends_its_stream_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve = SmallApplication.resolve

    async def resolve_late(app: SmallApplication, request: Request) -> Principal | None:
        await wait_all_tasks_blocked(0.05)
        return await resolve(app, request)

    monkeypatch.setattr(SmallApplication, "resolve", resolve_late)
    async with served(tmp_path) as (app, slots, _):
        async with _connected(app) as client:
            client.begin(1, "CONNECT", "/ws", ends=False, **_SOCKET)
            client.protocol.send_data(1, b"\x81\x80\0\0\0\0")
            client.begin(3, "GET", "/hello")
            await client.send()
            told = await client.until(StreamReset, 1)
            assert isinstance(told, StreamReset)
            assert told.error_code == ErrorCodes.PROTOCOL_ERROR
            await client.send()
            client.begin(5, "GET", "/hello")
            await client.send()
            await client.until(StreamEnded, 5)
        await all_free(slots)
        assert '"level":"error"' not in app.log_text


async def _answer(client: _Client, stream_id: int) -> dict[str, str]:
    """The head of the answer; ``status`` is in it, without its colon."""
    told = await client.until(ResponseReceived, stream_id)
    assert isinstance(told, ResponseReceived)
    return {name.decode().lstrip(":"): value.decode() for name, value in told.headers}
