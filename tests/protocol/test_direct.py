"""The quick way of a connection, by remembered heads and single calls of the system, beside the slow way: no stranger
can tell them apart."""

from __future__ import annotations

import os
import re
import socket
from itertools import pairwise

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.errors import Refusal
from svc.protocol.direct import Direct
from svc.protocol.head import HeadParser
from svc.protocol.limits import Limits
from tests.sizes import HANGS_S, examples
from tests.support.http import SmallApplication, read_to_end, replies, request_bytes

from .test_strict import SMUGGLING

_SEVERAL = [
    request_bytes("GET", "/hello?1"),
    request_bytes("GET", "/hello?1", x_as="member"),
    request_bytes("HEAD", "/big"),
    request_bytes("GET", "/big"),
    request_bytes("POST", "/upload", b"hello"),
    request_bytes("POST", "/upload", transfer_encoding="chunked") + b"5;x=y\r\nhello\r\n0\r\n\r\n",
    request_bytes("POST", "/ignore", b"x" * 100),
    request_bytes("GET", "/nowhere"),
    request_bytes("GET", "/break"),
    request_bytes("GET", "/hello", connection="close"),
    request_bytes("GET", "/hello", host="evil.example"),
    b"\r\n",
    b"G",
]
_streams = st.lists(
    st.one_of(st.sampled_from(_SEVERAL), st.sampled_from(sorted(SMUGGLING.values())), st.binary(max_size=4)), max_size=6
).map(b"".join)
_OF_ITS_OWN = re.compile(rb"(?m)^(?:date|x-request-id): .*\r\n")
_WORDS_OF_A_FAULT = re.compile(rb'content-length: \d+(\r\n(?:.+\r\n)*\r\n\{"type":.*"status":400),"detail":"[^"]*"')


def _sockets() -> tuple[trio.SocketStream, trio.SocketStream]:
    near, far = socket.socketpair()
    return trio.SocketStream(trio.socket.from_stdlib_socket(near)), trio.SocketStream(
        trio.socket.from_stdlib_socket(far)
    )


async def _talk(near: trio.abc.HalfCloseableStream, far: trio.abc.Stream, pieces: list[bytes]) -> bytes:
    """What a connection answers, without what is new in each answer, and the words for a fault, which may be found as
    soon as a part of it is here."""
    said: list[bytes] = []

    async def say() -> None:
        for piece in pieces:
            await near.send_all(piece)
            await trio.testing.wait_all_tasks_blocked()
        await near.send_eof()

    async def hear() -> None:
        said.append(await read_to_end(near))

    with trio.fail_after(HANGS_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(SmallApplication().serve, far)
            nursery.start_soon(say)
            nursery.start_soon(hear)
    return _WORDS_OF_A_FAULT.sub(rb"\1", _OF_ITS_OWN.sub(b"", said[0]))


@settings(max_examples=examples(40), deadline=None)
@given(_streams, st.lists(st.integers(min_value=0, max_value=2_000), max_size=6))
def test_a_plain_socket_is_answered_as_any_stream_is_however_its_bytes_are_cut(data: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    pieces = [data[start:end] for start, end in pairwise(places)]

    async def both() -> tuple[bytes, bytes]:
        return await _talk(*_sockets(), pieces), await _talk(*trio.testing.memory_stream_pair(), [data])

    quick, slow = trio.run(both)
    assert quick == slow


_LINES = [b"GET /a HTTP/1.1", b"POST /a HTTP/1.1", b"GET /a HTTP/1.0", b"GET http://a/x HTTP/1.1", b"GET  / HTTP/1.1"]
_BLOCKS = [
    b"Host: a",
    b"Host: a\r\nX: y",
    b"Host: b",
    b"Host: a\r\nX : y",
    b"Host: a\r\nContent-Length: 5",
    b"Host: a\r\n X",
]


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(st.sampled_from(_LINES), st.sampled_from(_BLOCKS)), max_size=12))
def test_what_was_read_before_changes_no_verdict(heads: list[tuple[bytes, bytes]]) -> None:
    kept = HeadParser(Limits())
    for line, block in heads:
        raw = b"\r\n".join([line, block])
        assert _verdict(kept, raw) == _verdict(HeadParser(Limits()), raw)


def _verdict(parser: HeadParser, raw: bytes) -> object:
    try:
        head = parser.parse(raw)
    except Refusal as refusal:
        return refusal.code, refusal.detail
    fields = head.fields
    return head.method, head.target, head.is_http11, head.keep_alive, fields.length, fields.headers.items()


async def test_what_a_full_socket_does_not_take_is_not_said_to_be_sent() -> None:
    near, far = _sockets()
    async with near, far:
        direct = Direct.of(far)
        assert direct is not None
        sent = 0
        while taken := direct.send(b"x" * 100_000):
            sent += taken
        assert 0 < sent < 100_000_000
        received = 0
        while received < sent:
            received += len(await near.receive_some())
        assert direct.send(b"y") == 1
    assert direct.send(b"y") == 0
    assert Direct.of(trio.testing.memory_stream_pair()[0]) is None


@pytest.mark.parametrize("whole", [True, False])
async def test_a_request_that_came_before_the_drain_is_answered_though_nobody_has_read_it(whole: bool) -> None:
    app = SmallApplication()
    near, far = _sockets()
    request = request_bytes("GET", "/hello")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(app.serve, far)
        await near.send_all(request)
        assert (await near.receive_some()).startswith(b"HTTP/1.1 200 ")
        await trio.testing.wait_all_tasks_blocked()
        sent = request if whole else request[:20]
        assert os.write(near.socket.fileno(), sent) == len(sent)  # the server has no turn before the drain begins
        app.drain.begin()
        await near.send_all(request[len(sent) :])
        [reply] = replies(await read_to_end(near))
        assert (reply.status, reply.header("connection")) == (200, "close")


async def test_a_request_that_came_before_its_connection_had_a_turn_is_answered_in_the_drain() -> None:
    app = SmallApplication()
    near, far = _sockets()
    async with trio.open_nursery() as nursery:
        await near.send_all(request_bytes("GET", "/hello"))
        nursery.start_soon(app.serve, far)
        app.drain.begin()
        [reply] = replies(await read_to_end(near))
        assert (reply.status, reply.header("connection")) == (200, "close")
