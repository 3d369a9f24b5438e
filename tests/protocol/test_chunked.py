"""The chunked coding, whole and in pieces, against h11 where both accept."""

from __future__ import annotations

import h11
import pytest
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.errors import Invalid
from svc.protocol.body import StreamBody
from svc.protocol.chunked import CHUNK_LINE_BYTES, CHUNKS_AT_ONCE, EXTENSION_BYTES, TRAILER_BYTES, ChunkedDecoder
from svc.protocol.limits import Limits
from svc.protocol.wire_input import WireInput
from tests.sizes import examples


def decode(data: bytes, *, piece: int) -> tuple[bytes, bool, bytes]:
    """The decoded body, whether it ended, and what lies behind it."""
    decoder, buffer, out = ChunkedDecoder(), bytearray(), b""
    for start in range(0, len(data), piece):
        buffer += data[start : start + piece]
        while taken := decoder.take(buffer):
            out += taken
    return out, decoder.ended, bytes(buffer)


@pytest.mark.parametrize("piece", [1, 2, 5, 1000])
def test_a_body_is_decoded_in_every_cut_and_leaves_what_follows(piece: int) -> None:
    data = b"5\r\nhello\r\n1;a=b\r\n \r\n5;x\r\nworld\r\n0\r\nTrailer: x\r\n\r\nGET /next"
    assert decode(data, piece=piece) == (b"hello world", True, b"GET /next")


@pytest.mark.parametrize("piece", [1, 1000])
@pytest.mark.parametrize("extension", [b";a", b";a=b;c", b"; a = b", b';a="b; \\" c"', b";a;b=c;d"])
def test_an_extension_in_its_grammar_is_read_and_forgotten(extension: bytes, piece: int) -> None:
    data = b"5" + extension + b"\r\nhello\r\n0" + extension + b"\r\n\r\n"
    assert decode(data, piece=piece) == (b"hello", True, b"")


@pytest.mark.parametrize("piece", [1, 1000])
@pytest.mark.parametrize(
    "data",
    [
        b"5;a\rb\r\nhello\r\n0\r\n\r\n",
        b"5;a\nb\r\nhello\r\n0\r\n\r\n",
        b"5\nhello\r\n0\r\n\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
        b"5 ;x\r\nhello\r\n0\r\n\r\n",
        b" 5\r\nhello\r\n0\r\n\r\n",
        b"5;\r\nhello\r\n0\r\n\r\n",
        b"5; \r\nhello\r\n0\r\n\r\n",
        b"5;;a\r\nhello\r\n0\r\n\r\n",
        b"5;a;\r\nhello\r\n0\r\n\r\n",
        b"5;=b\r\nhello\r\n0\r\n\r\n",
        b"5;a=\r\nhello\r\n0\r\n\r\n",
        b"5;a b\r\nhello\r\n0\r\n\r\n",
        b'5;a="b\r\nhello\r\n0\r\n\r\n',
        b'5;a="b"c\r\nhello\r\n0\r\n\r\n',
        b"5\r\nhello\r\n0;\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"+5\r\nhello\r\n0\r\n\r\n",
        b"-1\r\nhello\r\n0\r\n\r\n",
        b"\r\nhello\r\n0\r\n\r\n",
        b"g\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhelloX\r\n0\r\n\r\n",
        b"5\r\nhello\n0\r\n\r\n",
        b"5\r\nhello\rX0\r\n\r\n",
        b"5\r\nhello0\r\n\r\n",
        b"10000000000000000\r\nhello",
        b"5;" + b"a" * CHUNK_LINE_BYTES + b"\r\nhello\r\n0\r\n\r\n",
        b"1" * 4096,
        b"0\r\nbad trailer\r\n\r\n",
        b"0\r\nx: a\x00\r\n\r\n",
        b"0\r\nx: a\n\r\n\r\n",
        b"0\r\n" + b"x: " + b"a" * TRAILER_BYTES + b"\r\n\r\n",
        b"0\r\n" + b"x: aaaaa\r\n" * (TRAILER_BYTES // 10 + 1) + b"\r\n",
        (b"1;" + b"a" * 200 + b"\r\nz\r\n") * (EXTENSION_BYTES // 200 + 1) + b"0\r\n\r\n",
    ],
)
def test_framing_that_is_not_exactly_chunked_is_refused(data: bytes, piece: int) -> None:
    with pytest.raises(Invalid):
        decode(data, piece=piece)


_fragments = st.sampled_from([b"1", b"5", b"0", b"\r\n", b"\r", b"\n", b";x", b"hello", b"a", b" ", b"X: y", b"f"])


@pytest.mark.thorough
@settings(max_examples=examples(400))
@given(st.one_of(st.lists(_fragments, max_size=12).map(b"".join), st.binary(max_size=24)), st.integers(1, 9))
def test_whatever_is_accepted_means_the_same_to_h11(data: bytes, piece: int) -> None:
    try:
        body, ended, rest = decode(data, piece=piece)
    except Invalid:
        return
    peer = h11.Connection(h11.SERVER)
    peer.receive_data(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert isinstance(peer.next_event(), h11.Request)
    if data:
        peer.receive_data(data)  # nothing would mean the end of the stream
    seen, finished = b"", False
    while (event := peer.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
        if isinstance(event, h11.Data):
            seen += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            finished = True
    assert (seen, finished) == (body, ended)
    if ended:
        assert peer.trailing_data[0] == rest


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=8), st.integers(1, 64))
def test_any_body_survives_the_coding(chunks: list[bytes], piece: int) -> None:
    data = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    assert decode(data, piece=piece) == (b"".join(chunks), True, b"")


async def test_others_have_their_turn_between_very_many_small_chunks() -> None:
    stream, _ = trio.testing.memory_stream_pair()
    wire = WireInput(stream, Limits())
    wire.buffer += b"1\r\nx\r\n" * (3 * CHUNKS_AT_ONCE) + b"0\r\n\r\nGET"
    body = StreamBody(wire, length=None, send_continue=None, limits=Limits())
    for _ in range(3):
        with trio.testing.assert_checkpoints():
            assert await anext(body) == b"x" * CHUNKS_AT_ONCE
    assert [piece async for piece in body] == []
    assert wire.buffer == b"GET"
