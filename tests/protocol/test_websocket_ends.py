"""WebSocket: both ways to close, liveness, and clients that do not read, on virtual time."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from wsproto import ConnectionType
from wsproto.connection import Connection
from wsproto.events import CloseConnection, Ping, TextMessage

from svc.protocol.drain import Drain
from svc.protocol.socket import Socket, SocketClosed
from svc.protocol.websocket import SocketLimits, serve_socket
from tests.recorded_log import RecordedLog

from .socket_client import AcceptedBy, echo, served, upgrade_request


async def test_a_close_from_the_client_is_answered_and_the_server_hangs_up_first(log: RecordedLog) -> None:
    async with served(echo, log) as client:
        await client.send(TextMessage(data="last"), CloseConnection(code=4000, reason="bye"))
        assert await client.event() == TextMessage(data="last")
        assert await client.event() == CloseConnection(code=4000, reason="bye")
        assert await client.event() is None


async def test_a_close_from_the_server_waits_for_its_answer_but_not_for_ever(log: RecordedLog) -> None:
    async def closes(socket: Socket) -> None:
        await socket.accept()
        await socket.close(4401, "revoked")
        assert await socket.receive() is None
        with pytest.raises(SocketClosed):
            await socket.send("too late")

    async with served(closes, log) as client:
        began = trio.current_time()
        closed = await client.until_closed()
        assert closed == CloseConnection(code=4401, reason="revoked")
        await client.send(closed.response())
        assert await client.event() is None
        assert trio.current_time() == began
    async with served(closes, log) as client:
        began = trio.current_time()
        await client.until_closed()
        while await client.event() is not None:
            pass
        assert trio.current_time() - began == pytest.approx(SocketLimits().close_deadline_s)
    assert log.events("error") == []


async def test_closing_from_another_task_wakes_the_receiver(log: RecordedLog) -> None:
    woken_at: list[float] = []

    async def handler(socket: Socket) -> None:
        await socket.accept()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(closer, socket)
            assert await socket.receive() is None
            woken_at.append(trio.current_time())

    async def closer(socket: Socket) -> None:
        await trio.sleep(7)
        await socket.close(1013, "too far behind")

    async with served(handler, log) as client:
        began = trio.current_time()
        closed = await client.until_closed()
        assert closed is not None
        assert closed.code == 1013
    assert woken_at[0] - began == pytest.approx(7)


async def test_a_handler_that_ignores_the_end_is_ended(log: RecordedLog) -> None:
    async def deaf(socket: Socket) -> None:
        await socket.accept()
        await socket.close(4401)
        await trio.sleep_forever()

    with trio.fail_after(10):
        async with served(deaf, log) as client:
            await client.until_closed()


async def test_a_drain_closes_with_1001(log: RecordedLog) -> None:
    drain = Drain()
    async with served(echo, log, drain=drain) as client:
        drain.begin()
        closed = await client.until_closed()
        assert closed is not None
        assert closed.code == 1001
        await client.send(closed.response())
        assert await client.event() is None


@pytest.mark.parametrize("attempt", range(20))  # trio runs tasks in random order: each order must do
async def test_a_close_gets_out_although_the_woken_handler_cancels_who_closes(log: RecordedLog, attempt: int) -> None:
    async def handler(socket: Socket) -> None:
        await socket.accept()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(socket.close, 1013, "too far behind")
            assert await socket.receive() is None
            nursery.cancel_scope.cancel()

    drain = Drain()
    for one, code in ((handler, 1013), (echo, 1001)):
        async with served(one, log, drain=drain) as client:
            if one is echo:
                drain.begin()
            closed = await client.until_closed()
            assert closed is not None
            assert closed.code == code


async def test_a_drain_that_comes_as_soon_as_the_client_has_the_handshake_is_told(log: RecordedLog) -> None:
    let_go, drain = trio.Event(), Drain()

    def pair() -> tuple[trio.abc.Stream, trio.abc.Stream]:
        near, far = trio.testing.memory_stream_pair()
        hand_over = far.send_stream.send_all_hook

        async def linger() -> None:
            assert hand_over is not None
            await hand_over()
            await let_go.wait()  # the client has the bytes before who sends them knows

        far.send_stream.send_all_hook = linger
        return near, far

    async with served(echo, log, drain=drain, pair=pair) as client:
        drain.begin()
        await trio.testing.wait_all_tasks_blocked()
        let_go.set()
        closed = await client.until_closed()
        assert closed is not None
        assert closed.code == 1001


async def test_a_client_that_is_cut_off_ends_the_handler_quietly(log: RecordedLog) -> None:
    async with served(echo, log) as client:
        await client.say("x")
        await client.stream.aclose()
    assert log.events("error") == []


async def test_sending_to_a_client_that_is_gone_raises_and_passes_for_an_ordinary_end(log: RecordedLog) -> None:
    async def talks(socket: Socket) -> None:
        await socket.accept()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            while True:
                await socket.send("tick")
                await trio.sleep(1)

    async with served(talks, log) as client:
        await client.event()
        await client.stream.aclose()
    assert log.events("error") == []


# Liveness, and clients that do not read.


async def test_a_silent_peer_is_pinged_at_20_and_40_and_dropped_at_45_seconds(log: RecordedLog) -> None:
    async with served(echo, log) as client:
        began = trio.current_time()
        pings = []
        while (event := await client.event()) is not None:
            assert isinstance(event, Ping)
            pings.append(trio.current_time() - began)
        assert pings == pytest.approx([20, 40])
        assert trio.current_time() - began == pytest.approx(45)


async def test_a_peer_that_answers_its_pings_stays(log: RecordedLog) -> None:
    async with served(echo, log) as client:
        began = trio.current_time()
        while trio.current_time() - began < 3600:
            ping = await client.event()
            assert isinstance(ping, Ping)
            await client.send(ping.response())
        await client.say("still here")
        assert await client.event() == TextMessage(data="still here")
        await client.send(CloseConnection(code=1000))


async def test_a_stream_that_swallows_writes_is_dropped_within_45_seconds(log: RecordedLog) -> None:
    ended: list[float] = []

    async def handler(socket: Socket) -> None:
        await echo(socket)
        ended.append(trio.current_time())

    async with served(handler, log, pair=trio.testing.lockstep_stream_pair):
        began = trio.current_time()
    assert ended[0] - began <= 45


async def test_a_handler_at_work_does_not_make_its_peer_look_dead(log: RecordedLog) -> None:
    async def slow(socket: Socket) -> None:
        await socket.accept()
        await socket.receive()
        await trio.sleep(300)
        assert await socket.receive() == "waited"

    async with served(slow, log) as client:
        await client.say("begin")
        await client.say("waited")
        closed = await client.until_closed()
        assert closed is not None
        assert closed.code == 1000
    assert log.events("error") == []


async def test_a_client_that_does_not_read_is_cut_after_the_send_deadline(log: RecordedLog) -> None:
    faults: list[float] = []

    async def floods(socket: Socket) -> None:
        await socket.accept()
        with pytest.raises(SocketClosed):
            await socket.send("x")
        faults.append(trio.current_time())
        assert await socket.receive() is None

    async with served(floods, log, pair=trio.testing.lockstep_stream_pair):
        began = trio.current_time()
    assert faults[0] - began == pytest.approx(SocketLimits().send_deadline_s)


async def test_after_a_send_cut_in_the_middle_of_a_frame_nothing_more_is_sent(log: RecordedLog) -> None:
    async def gives_up(socket: Socket) -> None:
        await socket.accept()
        with trio.move_on_after(1):
            await socket.send("x" * 1000)
        with pytest.raises(SocketClosed):
            await socket.send("y")

    async with served(gives_up, log, pair=trio.testing.lockstep_stream_pair) as client:
        first = await client.stream.receive_some(100)
        rest = b""
        await trio.sleep(2)
        with trio.move_on_after(60):
            while data := await client.stream.receive_some():
                rest += data
    assert first.startswith(b"\x81\x7e")
    assert b"y" not in rest
    assert b"\x88" not in rest


async def test_a_flood_of_pings_from_a_client_that_does_not_read_is_cut(log: RecordedLog) -> None:
    near, far = trio.testing.lockstep_stream_pair()
    sink, source = trio.testing.memory_stream_pair()

    class OneWay(trio.abc.Stream):
        """Everything the client says arrives; nothing the server says is read."""

        async def send_all(self, data: bytes | bytearray | memoryview) -> None:
            await far.send_all(data)

        async def wait_send_all_might_not_block(self) -> None:
            await far.wait_send_all_might_not_block()

        async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
            return await source.receive_some(max_bytes)

        async def aclose(self) -> None:
            await far.aclose()
            await source.aclose()

    frames = Connection(ConnectionType.CLIENT)
    await sink.send_all(b"".join(bytes(frames.send(Ping(payload=b"x"))) for _ in range(1000)))
    async with trio.open_nursery() as nursery:

        async def serve() -> None:
            await serve_socket(
                OneWay(),
                accepted=AcceptedBy(echo),
                request=upgrade_request(),
                leftover=b"",
                limits=SocketLimits(),
                log=log,
                drain=Drain(),
            )

        nursery.start_soon(serve)
        assert (await near.receive_some()).startswith(b"HTTP/1.1 101")
        began = trio.current_time()
    assert trio.current_time() - began <= 45
    assert log.events("error") == []
