"""The connection: what a drain leaves time for, and a client that is gone."""

from __future__ import annotations

import socket
from contextlib import suppress
from functools import partial

import pytest
import trio
import trio.testing

from svc.protocol.idle import Idle, Waiting
from tests.support.http import SmallApplication, read_to_end, replies, request_bytes


async def test_on_drain_an_idle_connection_that_asks_no_more_closes_after_a_moment(app: SmallApplication) -> None:
    async with trio.open_nursery() as nursery:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("GET", "/hello"))
        await ours.receive_some()
        began = trio.current_time()
        app.drain.begin()
        assert await read_to_end(ours) == b""
        assert trio.current_time() - began == pytest.approx(app.limits.drain_idle_s)


@pytest.mark.parametrize("new", [False, True], ids=["kept alive", "new"])
async def test_a_request_on_its_way_when_the_drain_begins_is_answered_and_told_that_it_is_the_last(
    app: SmallApplication, new: bool
) -> None:
    """Of two connections the other one says nothing: the one that asks does not wait for it."""
    idle = Idle()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(idle.run, app.limits, app.drain)
        streams = [trio.testing.memory_stream_pair() for _ in range(2)]
        if new:
            app.drain.begin()
        for _, theirs in streams:
            nursery.start_soon(partial(app.serve, theirs, idle=idle))
        await trio.testing.wait_all_tasks_blocked()
        app.drain.begin()
        began = trio.current_time()
        await trio.sleep(app.limits.drain_idle_s * 0.9)
        asks = streams[0][0]
        await asks.send_all(request_bytes("GET", "/hello") + request_bytes("GET", "/hello"))
        found = replies(await read_to_end(asks), ["GET", "GET"])
        assert [(reply.status, reply.header("connection")) for reply in found] == [(200, "close")]
        await asks.aclose()
        assert await read_to_end(streams[1][0]) == b""
        assert trio.current_time() - began == pytest.approx(app.limits.drain_idle_s)


class _Watched(Idle):
    waiting: Waiting

    def begin(self, one: Waiting) -> None:
        self.waiting = one
        super().begin(one)


class _OnSocket(trio.abc.Stream):
    """A stream above a socket, as TLS is."""

    def __init__(self, plain: trio.SocketStream) -> None:
        self.socket = plain.socket
        self._plain = plain

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._plain.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._plain.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._plain.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self._plain.aclose()


@pytest.mark.wall_clock
@pytest.mark.parametrize("is_plain", [True, False], ids=["plain", "above a socket"])
async def test_a_connection_whose_next_request_has_come_is_not_idle(app: SmallApplication, is_plain: bool) -> None:
    idle = _Watched()
    theirs, ours = socket.socketpair()
    plain = trio.SocketStream(trio.socket.from_stdlib_socket(theirs))
    with ours:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(app.serve, plain if is_plain else _OnSocket(plain), idle=idle))
            ours.sendall(request_bytes("GET", "/hello"))
            await trio.testing.wait_all_tasks_blocked(0.01)
            ours.sendall(request_bytes("GET", "/hello", connection="close"))
            idle.waiting.close_if_idle()
        assert ours.recv(65_536).count(b"HTTP/1.1 200 ") == 2


async def test_whoever_watches_the_idle_waits_for_nobody_who_has_gone(app: SmallApplication) -> None:
    idle = Idle()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(idle.run, app.limits, app.drain)
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(partial(app.serve, theirs, idle=idle))
        await trio.testing.wait_all_tasks_blocked()
        began = trio.current_time()
        app.drain.begin()
        await ours.aclose()
    assert trio.current_time() == began


async def test_a_drain_lets_a_client_take_an_answer_that_was_sent_before(app: SmallApplication) -> None:
    """It may still be sending: closing at once would reset the connection, and the answer would be lost."""
    async with trio.open_nursery() as nursery:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("GET", "/hello", connection="close"))
        await trio.testing.wait_all_tasks_blocked()
        app.drain.begin()
        await trio.sleep(app.limits.drain_idle_s * 0.9)
        await ours.send_all(b"and on")
        await trio.sleep(app.limits.drain_idle_s * 0.2)
        with pytest.raises(trio.BrokenResourceError):
            await ours.send_all(b"and on")
        assert (await read_to_end(ours)).startswith(b"HTTP/1.1 200 ")


async def test_a_client_that_asks_during_the_drain_and_sends_on_is_read_for_a_moment_only(
    app: SmallApplication,
) -> None:
    async with trio.open_nursery() as nursery:
        ours, theirs = trio.testing.memory_stream_pair()
        app.drain.begin()
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("GET", "/hello"))
        await trio.testing.wait_all_tasks_blocked()
        began = trio.current_time()
        with suppress(trio.BrokenResourceError):
            while trio.current_time() - began < app.limits.linger_silence_s:
                await trio.sleep(app.limits.drain_idle_s / 10)
                await ours.send_all(b"and on")
        assert trio.current_time() - began <= app.limits.drain_idle_s * 1.2


async def test_on_drain_a_busy_connection_finishes_its_answer_and_says_close(app: SmallApplication) -> None:
    async with trio.open_nursery() as nursery:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("GET", "/slow") + request_bytes("GET", "/hello"))
        await trio.sleep(1)
        app.drain.begin()
        found = replies(await read_to_end(ours), ["GET", "GET"])
    assert [(reply.status, reply.header("connection")) for reply in found] == [(200, "close")]


async def test_a_connection_made_during_the_drain_that_asks_nothing_closes_after_a_moment(
    app: SmallApplication,
) -> None:
    app.drain.begin()
    began = trio.current_time()
    assert await app.talk(b"") == b""
    assert trio.current_time() - began == pytest.approx(app.limits.drain_idle_s)


async def test_a_client_that_vanishes_ends_the_connection_quietly(app: SmallApplication) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("GET", "/stream"))
        await trio.sleep(0.5)
        await ours.aclose()
    assert '"error"' not in app.log_text
    assert "stream closed" in app.seen


async def test_cancelling_the_task_closes_the_stream(app: SmallApplication) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("GET", "/slow"))
        await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert await read_to_end(ours) == b""


async def test_a_client_that_resets_its_upload_is_no_bug_of_ours(app: SmallApplication) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("POST", "/upload", content_length="500") + b"a part")
        await trio.sleep(1)
        await ours.aclose()
    assert '"level":"error"' not in app.log_text.replace(": ", ":")
    assert not any(line.startswith("upload") for line in app.seen)


async def test_a_client_gone_before_100_continue_is_no_bug_of_ours(app: SmallApplication) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    await ours.send_all(request_bytes("POST", "/upload", expect="100-continue", content_length="5"))
    await ours.aclose()
    await app.serve(theirs)
    assert '"level":"error"' not in app.log_text.replace(": ", ":")
