"""WebSocket: the handshake, the limits, liveness and both ways to close, on virtual time."""

from __future__ import annotations

from itertools import pairwise

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st
from wsproto import ConnectionType
from wsproto.connection import Connection
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage

from svc.errors import NotFound, Refusal
from svc.protocol.drain import Drain
from svc.protocol.handshake import check_handshake
from svc.protocol.messages import BytesBody
from svc.protocol.socket import Socket, SocketClosed, encode_text_frame
from svc.protocol.websocket import SocketLimits, serve_socket
from tests.recorded_log import RecordedLog, StoppedClock
from tests.sizes import examples

from .socket_world import ACCEPT, echo, served, upgrade_request

SMALL = SocketLimits(message_bytes=10)
EURO = "€"


# The handshake.


async def test_the_handshake_proves_that_the_nonce_was_read(log: RecordedLog) -> None:
    async with served(echo, log) as client:
        lines = client.head.decode().split("\r\n")
        assert lines[0] == "HTTP/1.1 101 Switching Protocols"
        assert f"sec-websocket-accept: {ACCEPT}" in lines
        assert "x-request-id: r1" in lines
        await client.send(CloseConnection(code=1000))


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"upgrade": None}, 426),
        ({"upgrade": "h2c"}, 426),
        ({"connection": "keep-alive"}, 426),
        ({"sec_websocket_version": "8"}, 426),
        ({"sec_websocket_version": None}, 400),
        ({"sec_websocket_key": None}, 400),
        ({"sec_websocket_key": "c2hvcnQ="}, 400),
        ({"sec_websocket_key": "dGhlIHNhbXBsZSBub25jZQ"}, 400),
        ({"sec_websocket_key": "dGhlIHNhbXBsZ\u00e9Bub25jZQ=="}, 400),
    ],
)
async def test_a_bad_handshake_is_answered_over_http(
    log: RecordedLog, changes: dict[str, str | None], status: int
) -> None:
    async with served(echo, log, request=upgrade_request(**changes)) as client:
        assert client.head.startswith(b"HTTP/1.1 %d " % status)
        assert b"connection: close" in client.head
        assert b"101" not in client.head
        if status == 426:
            assert b"sec-websocket-version: 13" in client.head


def test_only_a_get_without_a_body_is_a_handshake() -> None:
    posted = upgrade_request()
    posted.method = "POST"
    with_body = upgrade_request()
    with_body.body = BytesBody(b"x")
    for request in (posted, with_body):
        with pytest.raises(Refusal) as caught:
            check_handshake(request)
        assert caught.value.code == "invalid"


async def test_a_handler_that_closes_or_refuses_before_accepting_answers_over_http(log: RecordedLog) -> None:
    async def closes(socket: Socket) -> None:
        await socket.close(4403, "not today")

    async def refuses(socket: Socket) -> None:
        raise NotFound("no such run")

    for handler, status in ((closes, b"403"), (refuses, b"404")):
        async with served(handler, log) as client:
            assert client.head.startswith(b"HTTP/1.1 " + status)


async def test_a_handler_that_breaks_is_logged_whole_and_tells_the_client_nothing(log: RecordedLog) -> None:
    async def breaks(socket: Socket) -> None:
        await socket.accept()
        raise ValueError("the secret reason")

    async with served(breaks, log) as client:
        closed = await client.until_closed()
    assert closed is not None
    assert closed.code == 1011
    assert "secret" not in (closed.reason or "")
    assert log.events("error") == ["socket handler failed"]
    assert "the secret reason" in log.text


async def test_a_refusal_after_accepting_becomes_its_close_code(log: RecordedLog) -> None:
    async def refuses(socket: Socket) -> None:
        await socket.accept()
        async with trio.open_nursery() as nursery:  # as it comes out of a handler's own nursery: in a group
            nursery.start_soon(trio.sleep_forever)
            raise NotFound("no such run")

    async with served(refuses, log) as client:
        closed = await client.until_closed()
    assert closed is not None
    assert (closed.code, closed.reason) == (4404, "no such run")
    assert log.events("error") == []


async def test_bytes_that_came_with_the_handshake_are_its_first_messages(log: RecordedLog) -> None:
    early = Connection(ConnectionType.CLIENT).send(TextMessage(data="early"))
    async with served(echo, log, leftover=bytes(early)) as client:
        assert await client.event() == TextMessage(data="early")
        await client.send(CloseConnection(code=1000))


# Messages.


async def test_messages_and_fragments_come_back_whole_and_in_order(log: RecordedLog) -> None:
    async with served(echo, log) as client:
        await client.say("one")
        await client.say(b"\x00\xff")
        await client.send(TextMessage(data="thr", message_finished=False), Ping(payload=b"p"), TextMessage(data="ee"))
        await client.say("")
        assert await client.event() == TextMessage(data="one")
        assert await client.event() == BytesMessage(data=b"\x00\xff")
        assert await client.event() == Pong(payload=b"p")
        assert await client.event() == TextMessage(data="three")
        assert await client.event() == TextMessage(data="")
        await client.send(CloseConnection(code=1000))


@pytest.mark.parametrize("frame", [b"\x00\x80\0\0\0\0", b"\x8a\x80\0\0\0\0"], ids=["empty fragments", "pongs"])
async def test_many_frames_that_are_no_message_do_not_keep_the_others_waiting(log: RecordedLog, frame: bytes) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    async with served(echo, log) as client, trio.open_nursery() as nursery:
        nursery.start_soon(others)
        before = turns
        await client.stream.send_all(b"\x01\x80\0\0\0\0" + frame * 1_000 + b"\x80\x80\0\0\0\0")
        assert await client.event() == TextMessage(data="")
        assert turns - before > 1_000
        nursery.cancel_scope.cancel()
        await client.send(CloseConnection(code=1000))


@settings(max_examples=examples(30))
@given(
    messages=st.lists(st.text(max_size=20) | st.binary(max_size=20), max_size=5),
    cuts=st.lists(st.integers(0, 200), max_size=8),
)
async def test_how_the_bytes_are_cut_never_changes_the_messages(messages: list[str | bytes], cuts: list[int]) -> None:
    async with served(echo, RecordedLog(StoppedClock())) as client:
        frames = [TextMessage(data=m) if isinstance(m, str) else BytesMessage(data=m) for m in messages]
        wire = b"".join(map(client.frames.send, frames))
        edges = sorted({0, len(wire), *(cut for cut in cuts if cut < len(wire))})
        for start, end in pairwise(edges):
            await client.stream.send_all(wire[start:end])
            await trio.testing.wait_all_tasks_blocked()
        assert [await client.event() for _ in frames] == frames
        await client.send(CloseConnection(code=1000))


async def test_a_message_of_exactly_the_limit_passes_and_one_byte_more_is_1009(log: RecordedLog) -> None:
    async with served(echo, log, limits=SMALL) as client:
        await client.say("x" * 10)
        assert await client.event() == TextMessage(data="x" * 10)
        await client.say(EURO * 4)  # 12 bytes in 4 characters
        closed = await client.until_closed()
        assert closed is not None
        assert closed.code == 1009


async def test_a_message_too_long_is_refused_before_its_end_has_come(log: RecordedLog) -> None:
    async with served(echo, log, limits=SMALL) as client:
        for _ in range(11):
            await client.send(BytesMessage(data=b"x", message_finished=False))
        closed = await client.until_closed()
        assert closed is not None
        assert closed.code == 1009


async def test_a_frame_that_announces_too_much_is_refused_at_its_head(log: RecordedLog) -> None:
    async with served(echo, log, limits=SMALL) as client:
        await client.stream.send_all(b"\x82\xff" + (1 << 62).to_bytes(8, "big") + b"\0\0\0\0")
        closed = await client.until_closed()
        assert closed is not None
        assert (closed.code, closed.reason) == (1009, "A message may have at most 10 bytes.")


async def test_the_frames_of_a_message_are_added_up_however_their_heads_arrive(log: RecordedLog) -> None:
    begins, ping, goes_on = b"\x02\x86\0\0\0\0" + b"x" * 6, b"\x89\x84\0\0\0\0ping", b"\x80\x84\0\0\0\0" + b"y" * 4
    async with served(echo, log, limits=SMALL) as client:
        for byte in (begins + ping + goes_on) * 2:
            await client.stream.send_all(bytes([byte]))
            await trio.testing.wait_all_tasks_blocked()
        said = [await client.event() for _ in range(4)]
        assert said == [Pong(payload=b"ping"), BytesMessage(data=b"x" * 6 + b"y" * 4)] * 2
        await client.stream.send_all(begins + ping + b"\x80\x85\0\0\0\0")
        closed = await client.until_closed()
        assert closed is not None
        assert closed.code == 1009


FAULTS = {
    "invalid UTF-8": (b"\x81\x82\0\0\0\0\xc3\x28", 1007),
    "unmasked frame": (b"\x81\x01a", 1002),
    "reserved bit": (b"\xc1\x80\0\0\0\0", 1002),
    "unknown opcode": (b"\x83\x80\0\0\0\0", 1002),
    "fragmented ping": (b"\x09\x80\0\0\0\0", 1002),
    "continuation of nothing": (b"\x80\x80\0\0\0\0", 1002),
    "overlong length": (b"\x81\xfe\0\x05\0\0\0\0hello", 1002),
    "close with one byte": (b"\x88\x81\0\0\0\0\x03", 1002),
    "close with a code nobody may send": (b"\x88\x82\0\0\0\0\x03\xed", 1002),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_broken_frame_ends_the_socket_with_its_code(log: RecordedLog, name: str) -> None:
    data, code = FAULTS[name]
    async with served(echo, log) as client:
        await client.stream.send_all(data + b"\xff" * 1000)
        began = trio.current_time()
        closed = await client.until_closed()
        assert closed is not None
        assert closed.code == code
        assert await client.event() is None
        assert trio.current_time() == began  # the server hangs up without waiting for an answer
        await client.stream.aclose()
    assert log.events("error") == []


@given(st.integers(0, 70_000))
def test_a_frame_encoded_once_is_the_frame_wsproto_makes(length: int) -> None:
    text = EURO * (length // 3) + "x" * (length % 3)
    assert encode_text_frame(text) == Connection(ConnectionType.SERVER).send(TextMessage(data=text))


async def test_a_socket_without_frames_of_its_own_sends_an_encoded_one_as_text() -> None:
    sent: list[str | bytes] = []

    class Plain(Socket):
        async def accept(self, *, headers: object = ()) -> None: ...

        async def receive(self) -> None: ...

        async def listen(self) -> None: ...

        def nudge(self) -> None: ...

        async def send(self, message: str | bytes) -> None:
            sent.append(message)

        async def close(self, code: int = 1000, reason: str = "") -> None: ...

    texts = ["", "a" * 125, "b" * 126, "c" * 65_536]
    for text in texts:
        await Plain().send_encoded(encode_text_frame(text))
    assert sent == texts


async def test_any_number_of_tasks_may_send_at_once(log: RecordedLog) -> None:
    async def many(socket: Socket) -> None:
        await socket.accept()
        async with trio.open_nursery() as nursery:
            for number in range(50):
                nursery.start_soon(socket.send, f"{number}:" + "x" * 1000)

    async with served(many, log, pair=trio.testing.lockstep_stream_pair) as client:
        found = []
        while isinstance(event := await client.event(), TextMessage):
            found.append(event.data)
    assert sorted(int(text.partition(":")[0]) for text in found) == list(range(50))


# Closing.


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
                request=upgrade_request(),
                leftover=b"",
                handler=echo,
                limits=SocketLimits(),
                log=log,
                drain=Drain(),
            )

        nursery.start_soon(serve)
        assert (await near.receive_some()).startswith(b"HTTP/1.1 101")
        began = trio.current_time()
    assert trio.current_time() - began <= 45
    assert log.events("error") == []
