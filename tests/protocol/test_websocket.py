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
from svc.protocol.socket import Socket, encode_text_frame
from svc.protocol.websocket import SocketLimits
from tests.recorded_log import RecordedLog, StoppedClock
from tests.sizes import examples

from .socket_client import ACCEPT, echo, served, upgrade_request

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


async def test_a_handler_that_opens_nothing_when_the_service_drains_is_cancelled_and_its_client_refused(
    log: RecordedLog,
) -> None:
    drain = Drain()

    async def waits(socket: Socket) -> None:
        drain.begin()
        await trio.sleep_forever()

    async with served(waits, log, drain=drain) as client:
        assert client.head.startswith(b"HTTP/1.1 503 ")


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
