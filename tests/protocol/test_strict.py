"""The strict layer: it refuses things that h11 accepts, and accepts nothing that h11 refuses."""

from __future__ import annotations

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.errors import Refusal
from svc.protocol.head import Head, HeadParser
from svc.protocol.limits import Limits
from svc.protocol.wire_input import WireInput
from tests.sizes import examples
from tests.support.each import each

LIMITS = Limits()
HOST = b"Host: localhost:4780\r\n"


def read_head(data: bytes, *, piece: int, limits: Limits = LIMITS) -> Head | str | None:
    """Feed ``data`` in pieces: the head, a refusal's code, or ``None`` when more is needed."""
    wire = WireInput(None, limits)  # type: ignore[arg-type]  # nothing is received here
    try:
        for start in range(0, len(data), piece):
            wire.buffer += data[start : start + piece]
            raw = wire.take_head()
            if raw is not None:
                return HeadParser(limits).parse(raw)
    except Refusal as refusal:
        return refusal.code
    return None


SMUGGLING = {
    "length with chunked": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
    "chunked with length": b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n",
    "two equal lengths": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\n",
    "two unequal lengths": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\n",
    "a list of lengths": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 4, 4\r\n\r\n",
    "a signed length": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: +4\r\n\r\n",
    "a negative length": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n",
    "a hexadecimal length": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 0x4\r\n\r\n",
    "an empty length": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length:\r\n\r\n",
    "a length with underscore": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 1_0\r\n\r\n",
    "an endless length": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n",
    "chunked twice": b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n",
    "chunked in 1.0": b"POST / HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n",
    "space before the colon": b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding : chunked\r\n\r\n",
    "tab before the colon": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length\t: 4\r\n\r\n",
    "vertical tab in a coding": b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding:\x0bchunked\r\n\r\n",
    "folded line": b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n",
    "folded coding": b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding:\r\n chunked\r\n\r\n",
    "fold as first line": b"GET / HTTP/1.1\r\n X: a\r\n" + HOST + b"\r\n",
    "bare LF line ends": b"GET / HTTP/1.1\nHost: localhost:4780\n\n",
    "one bare LF": b"GET / HTTP/1.1\r\nHost: localhost:4780\nX: y\r\n\r\n",
    "bare LF at the end": b"GET / HTTP/1.1\r\nHost: localhost:4780\r\n\n",
    "bare CR in a value": b"GET / HTTP/1.1\r\n" + HOST + b"X: a\rY: b\r\n\r\n",
    "CR CR LF": b"GET / HTTP/1.1\r\r\n" + HOST + b"\r\n",
    "NUL in a value": b"GET / HTTP/1.1\r\n" + HOST + b"X: a\x00b\r\n\r\n",
    "control character in a value": b"GET / HTTP/1.1\r\n" + HOST + b"X: a\x01b\r\n\r\n",
    "no name": b"GET / HTTP/1.1\r\n" + HOST + b": a\r\n\r\n",
    "no colon": b"GET / HTTP/1.1\r\n" + HOST + b"nothing\r\n\r\n",
    "name with a space": b"GET / HTTP/1.1\r\n" + HOST + b"a b: c\r\n\r\n",
    "name beyond ASCII": b"GET / HTTP/1.1\r\n" + HOST + b"h\xf6st: c\r\n\r\n",
    "no Host": b"GET / HTTP/1.1\r\n\r\n",
    "no Host in 1.0": b"GET / HTTP/1.0\r\n\r\n",
    "empty Host": b"GET / HTTP/1.1\r\nHost:\r\n\r\n",
    "blank Host": b"GET / HTTP/1.1\r\nHost:   \r\n\r\n",
    "two Hosts": b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n",
    "two Hosts in one": b"GET / HTTP/1.1\r\nHost: localhost, evil.example\r\n\r\n",
    "userinfo in Host": b"GET / HTTP/1.1\r\nHost: localhost@evil.example\r\n\r\n",
    "path in Host": b"GET / HTTP/1.1\r\nHost: localhost/evil\r\n\r\n",
    "letters as port": b"GET / HTTP/1.1\r\nHost: localhost:http\r\n\r\n",
    "NUL in the target": b"GET /\x00 HTTP/1.1\r\n" + HOST + b"\r\n",
    "tab in the target": b"GET /\t HTTP/1.1\r\n" + HOST + b"\r\n",
    "space in the target": b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n",
    "CR in the target": b"GET /a\rb HTTP/1.1\r\n" + HOST + b"\r\n",
    "a target beyond ASCII": b"GET /\xc3\xa4 HTTP/1.1\r\n" + HOST + b"\r\n",
    "fragment in the target": b"GET /a#b HTTP/1.1\r\n" + HOST + b"\r\n",
    "relative target": b"GET a HTTP/1.1\r\n" + HOST + b"\r\n",
    "asterisk for GET": b"GET * HTTP/1.1\r\n" + HOST + b"\r\n",
    "authority target": b"CONNECT localhost:4780 HTTP/1.1\r\n" + HOST + b"\r\n",
    "absolute target elsewhere": b"GET http://evil.example/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "absolute target on another port": b"GET http://localhost:1/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "absolute target with userinfo": b"GET http://a@localhost:4780/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "absolute target of another scheme": b"GET ftp://localhost:4780/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "no version": b"GET /\r\n" + HOST + b"\r\n",
    "two spaces": b"GET  / HTTP/1.1\r\n" + HOST + b"\r\n",
    "space behind the version": b"GET / HTTP/1.1 \r\n" + HOST + b"\r\n",
    "space before the method": b" GET / HTTP/1.1\r\n" + HOST + b"\r\n",
    "method with a slash": b"GE/T / HTTP/1.1\r\n" + HOST + b"\r\n",
    "endless method": b"G" * 33 + b" / HTTP/1.1\r\n" + HOST + b"\r\n",
    "lower-case version": b"GET / http/1.1\r\n" + HOST + b"\r\n",
    "TLS handshake": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "two empty lines first": b"\r\n\r\nGET / HTTP/1.1\r\n" + HOST + b"\r\n",
}
OTHER_REFUSALS = {
    "unknown coding": (b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n", "not_implemented"),
    "near miss": (b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: xchunked\r\n\r\n", "not_implemented"),
    "HTTP/2 in the clear": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "version_not_supported"),
    "HTTP/1.2": (b"GET / HTTP/1.2\r\n" + HOST + b"\r\n", "version_not_supported"),
    "HTTP/1.10": (b"GET / HTTP/1.10\r\n" + HOST + b"\r\n", "version_not_supported"),
    "HTTP/9.9": (b"GET / HTTP/9.9\r\n" + HOST + b"\r\n", "version_not_supported"),
}


@each(list(SMUGGLING))
def test_a_head_that_two_parsers_could_read_differently_is_refused(name: str) -> None:
    for piece in (1, 7, 65536):
        assert read_head(SMUGGLING[name], piece=piece) == "invalid"


@each(list(OTHER_REFUSALS))
def test_what_is_well_formed_but_not_spoken_here_has_its_own_code(name: str) -> None:
    data, code = OTHER_REFUSALS[name]
    for piece in (1, 65536):
        assert read_head(data, piece=piece) == code


@pytest.mark.parametrize("piece", [1, 3, 65536])
@pytest.mark.parametrize(
    ("line", "target"),
    [
        (b"GET / HTTP/1.1", "/"),
        (b"GET /a%2Fb?c=d&e HTTP/1.1", "/a%2Fb?c=d&e"),
        (b"GET http://localhost:4780/x?y HTTP/1.1", "/x?y"),
        (b"GET HTTP://LOCALHOST:4780 HTTP/1.1", "/"),
        (b"GET http://localhost:4780?y HTTP/1.1", "/?y"),
        (b"OPTIONS * HTTP/1.1", "*"),
        (b"GET //double HTTP/1.1", "//double"),
    ],
)
def test_a_good_request_line_is_read_the_same_in_every_cut(line: bytes, target: str, piece: int) -> None:
    head = read_head(line + b"\r\n" + HOST + b"\r\n", piece=piece)
    assert isinstance(head, Head)
    assert head.target == target


def test_one_empty_line_before_a_request_is_forgiven() -> None:
    assert isinstance(read_head(b"\r\nGET / HTTP/1.1\r\n" + HOST + b"\r\n", piece=1), Head)


def test_header_values_keep_their_bytes_and_lose_their_padding() -> None:
    head = read_head(b"GET / HTTP/1.1\r\n" + HOST + b"X-A: \t caf\xe9 \xff\t \r\nx-a: two\r\n\r\n", piece=5)
    assert isinstance(head, Head)
    assert head.fields.headers.all("x-a") == ["caf\xe9 \xff", "two"]


@pytest.mark.parametrize("piece", [1, 16384])
def test_each_size_limit_holds_to_the_byte(piece: int) -> None:
    limits = Limits(target_bytes=100, head_bytes=300, head_fields=3)

    def with_target(length: int) -> bytes:
        return b"GET /" + b"a" * (length - 1) + b" HTTP/1.1\r\n" + HOST + b"\r\n"

    def with_fields(count: int) -> bytes:
        return b"GET / HTTP/1.1\r\n" + HOST + b"A: b\r\n" * (count - 1) + b"\r\n"

    def with_size(size: int) -> bytes:
        start = b"GET / HTTP/1.1\r\n" + HOST + b"A: "
        return start + b"b" * (size - len(start) - 4) + b"\r\n\r\n"

    assert isinstance(read_head(with_target(100), piece=piece, limits=limits), Head)
    assert read_head(with_target(101), piece=piece, limits=limits) == "uri_too_long"
    assert read_head(with_target(10_000), piece=piece, limits=limits) == "uri_too_long"
    assert isinstance(read_head(with_fields(3), piece=piece, limits=limits), Head)
    assert read_head(with_fields(4), piece=piece, limits=limits) == "request_header_fields_too_large"
    assert isinstance(read_head(with_size(300), piece=piece, limits=limits), Head)
    assert read_head(with_size(301), piece=piece, limits=limits) == "request_header_fields_too_large"
    assert read_head(with_size(3_000)[:-4], piece=piece, limits=limits) == "request_header_fields_too_large"


def test_a_remembered_block_is_still_judged_with_each_request_line() -> None:
    parser = HeadParser(LIMITS)
    first = parser.parse(b"GET /a HTTP/1.1\r\nHost: localhost")
    second = parser.parse(b"POST /b HTTP/1.1\r\nHost: localhost")
    assert (second.method, second.target) == ("POST", "/b")
    assert second.fields is first.fields
    with pytest.raises(Refusal):
        parser.parse(b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost")
    assert parser.parse(b"GET /a HTTP/1.0\r\nHost: localhost").fields is not first.fields
    assert parser.parse(b"GET /a HTTP/1.1\r\nHost: localhost\r\nX: y").fields.headers.get("x") == "y"


_pieces = st.sampled_from(
    [
        *(b"GET", b"POST", b" ", b"/", b"*", b"http://a/", b"HTTP/1.1", b"HTTP/1.0", b"#", b"@", b":"),
        *(b"\r\n", b"\n", b"\r", b"\t", b"\x00", b"\xff"),
        *(b"Host: a", b"Content-Length: 5", b"Transfer-Encoding: chunked", b"Connection: close", b"X: y"),
    ]
)
_noise = st.lists(st.one_of(_pieces, st.binary(max_size=3)), max_size=14).map(b"".join)
_line_mutations = st.lists(_pieces, max_size=5).map(b"\r\n".join)


@pytest.mark.thorough
@settings(max_examples=examples(400))
@given(st.one_of(_noise, _line_mutations.map(lambda rest: b"GET / HTTP/1.1\r\nHost: a\r\n" + rest)))
def test_whatever_passes_the_strict_layer_means_the_same_to_h11(noise: bytes) -> None:
    data = noise + b"\r\n\r\n"
    whole = read_head(data, piece=len(data))
    drip = read_head(data, piece=1)
    assert getattr(whole, "target", whole) == getattr(drip, "target", drip)
    if not isinstance(whole, Head):
        return
    peer = h11.Connection(h11.SERVER)
    peer.receive_data(data.removeprefix(b"\r\n"))
    event = peer.next_event()
    assert isinstance(event, h11.Request)
    assert event.method.decode() == whole.method
    assert [(k.decode(), v.decode("latin-1")) for k, v in event.headers] == whole.fields.headers.items()
    framing = {k: v for k, v in event.headers if k in (b"content-length", b"transfer-encoding")}
    if whole.fields.length is None:
        assert framing == {b"transfer-encoding": b"chunked"}
    else:
        assert (
            framing.get(b"content-length", b"0").lstrip(b"0") == b"%d" % whole.fields.length or not whole.fields.length
        )
        assert b"transfer-encoding" not in framing
