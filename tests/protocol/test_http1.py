"""The connection: order, framing, limits and deadlines, on virtual time."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from svc.protocol.limits import Limits
from svc.protocol.messages import Response
from svc.protocol.response_head import encode_head
from tests.cancel_everywhere import Interrupted, cancel_everywhere
from tests.sizes import HANGS_S
from tests.support.http import HOST, SmallApplication, read_to_end, replies, request_bytes

from .test_strict import SMUGGLING

PIECES = [1, 65536]


@pytest.mark.parametrize("piece", PIECES)
async def test_requests_on_one_connection_are_answered_in_order(app: SmallApplication, piece: int) -> None:
    data = b"".join(
        [
            request_bytes("GET", "/hello?1"),
            request_bytes("POST", "/upload", b"hello"),
            request_bytes("GET", "/stream"),
            request_bytes("HEAD", "/hello?4"),
            request_bytes("GET", "/files/a%2Fb/content"),
        ]
    )
    found = replies(await app.talk(data, piece=piece), ["GET", "POST", "GET", "HEAD", "GET"])
    assert [reply.status for reply in found] == [200] * 5
    assert [reply.body[:30] for reply in found[1:]] == [
        b'{"size":5,"text":"hello"}',
        b"one two three",
        b"",
        b'{"id":"a/b"}',
    ]


@pytest.mark.parametrize("piece", PIECES)
async def test_a_chunked_body_is_read_and_the_next_request_found_behind_it(app: SmallApplication, piece: int) -> None:
    body = b"5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX: y\r\n\r\n"
    data = request_bytes("POST", "/upload", transfer_encoding="chunked") + body + request_bytes("GET", "/hello?2")
    found = replies(await app.talk(data, piece=piece), ["POST", "GET"])
    assert [reply.status for reply in found] == [200, 200]
    assert found[0].json == {"size": 11, "text": "hello world"}


@pytest.mark.thorough
@pytest.mark.parametrize("piece", PIECES)
async def test_nothing_behind_a_malformed_head_takes_effect(piece: int) -> None:
    for name, head in SMUGGLING.items():
        app = SmallApplication()
        data = head + b"0\r\n\r\n" + request_bytes("POST", "/ignore") * 2
        raw = await app.talk(data, piece=piece)
        assert raw.startswith(b"HTTP/1.1 400 Bad Request\r\n"), name
        assert raw.count(b"HTTP/1.1 ") == 1, name
        assert app.seen == [], name


@pytest.mark.parametrize("body", [b"5;a\rb\r\nhello\r\n", b"5\nhello\r\n", b"zz\r\n", b"5\r\nhelloGET"])
async def test_nothing_behind_a_malformed_body_takes_effect(app: SmallApplication, body: bytes) -> None:
    head = request_bytes("POST", "/upload", transfer_encoding="chunked")
    raw = await app.talk(head + body + b"0\r\n\r\n" + request_bytes("POST", "/ignore"))
    assert [reply.status for reply in replies(raw, ["POST", "POST"])] == [400]
    assert "ignore" not in app.seen


MALFORMED = [b"5;a\rb\r\nhello\r\n0\r\n\r\n", b"5\r\nhello\r\n2;\r\n", b"zz\r\n"]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("body", MALFORMED)
@pytest.mark.parametrize("target", ["/ignore", "/nowhere", "/hello", "/trpc/mail.send"])
async def test_a_malformed_body_that_nobody_reads_is_refused_all_the_same(
    app: SmallApplication, target: str, body: bytes, piece: int
) -> None:
    head = request_bytes("POST", target, transfer_encoding="chunked")
    raw = await app.talk(head + body + request_bytes("POST", "/hook"), piece=piece)
    found = replies(raw, ["POST", "POST"])
    assert [(reply.status, reply.header("connection")) for reply in found] == [(400, "close")]
    assert found[0].json["code"] == "invalid"


async def test_the_answer_waits_a_moment_only_for_a_body_that_nobody_reads(app: SmallApplication) -> None:
    """A client that wants its answer before it sends on gets it; what it sends then is still not trusted."""
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("POST", "/ignore", transfer_encoding="chunked") + b"5\r\nhel")
        began = trio.current_time()
        assert (await ours.receive_some()).startswith(b"HTTP/1.1 200 ")
        assert trio.current_time() - began == app.limits.unread_body_s
        await ours.send_all(b"lo\r\nzz\r\n" + request_bytes("POST", "/hook"))
        assert await read_to_end(ours) == b""
    assert app.seen.count("ignore") == 1


@pytest.mark.parametrize("piece", PIECES)
async def test_a_streamed_answer_that_a_malformed_body_replaces_is_closed(app: SmallApplication, piece: int) -> None:
    head = request_bytes("GET", "/stream", transfer_encoding="chunked")
    found = replies(await app.talk(head + b"zz\r\n", piece=piece))
    assert [reply.status for reply in found] == [400]


async def test_a_handler_that_shrugs_at_a_broken_body_does_not_keep_the_connection(app: SmallApplication) -> None:
    head = request_bytes("POST", "/swallow", transfer_encoding="chunked")
    raw = await app.talk(head + b"zz\r\n" + request_bytes("POST", "/ignore"))
    found = replies(raw, ["POST", "POST"])
    assert [(reply.status, reply.header("connection")) for reply in found] == [(200, "close")]


async def test_a_fault_is_a_problem_document_with_a_request_id_and_the_security_headers(app: SmallApplication) -> None:
    reply = replies(await app.talk(b"GET / HTTP/1.1\r\n\r\n"))[0]
    assert reply.status == 400
    assert reply.header("content-type") == "application/problem+json"
    assert reply.header("connection") == "close"
    assert reply.header("x-content-type-options") == "nosniff"
    assert len(reply.header("x-request-id") or "") == 16
    assert reply.json["code"] == "invalid"


@pytest.mark.parametrize("piece", PIECES)
async def test_an_address_of_rpc_that_is_too_long_is_told_as_rpc_tells(app: SmallApplication, piece: int) -> None:
    for size in (9_000, 40_000):
        for target, shape in (("/trpc/mail.search?input=", "error"), ("/hello?", "code")):
            reply = replies(await app.talk(request_bytes("GET", target + "x" * size), piece=max(piece, 500)))[0]
            assert (reply.status, reply.header("connection")) == (414, "close")
            assert shape in reply.json
    assert app.seen == []


async def test_any_400_closes_the_connection(app: SmallApplication) -> None:
    data = request_bytes("GET", "/hello/%zz") + request_bytes("GET", "/hello")
    raw = await app.talk(data)
    assert [reply.status for reply in replies(raw, ["GET", "GET"])] == [400]


async def test_a_request_id_from_outside_is_not_taken_over(app: SmallApplication) -> None:
    reply = await app.ask("GET", "/hello", x_request_id="mine")
    assert reply.header("x-request-id") != "mine"


async def test_the_client_may_close_after_its_request_and_still_reads_the_answer(app: SmallApplication) -> None:
    raw = await app.talk(request_bytes("GET", "/hello"), half_close=True)
    assert replies(raw)[0].status == 200


async def test_connection_close_is_honoured_and_echoed(app: SmallApplication) -> None:
    began = trio.current_time()
    raw = await app.talk(request_bytes("GET", "/hello", connection="close") + request_bytes("GET", "/hello"))
    assert replies(raw)[0].header("connection") == "close"
    assert raw.count(b"HTTP/1.1 200") == 1
    assert trio.current_time() - began <= app.limits.linger_silence_s


async def test_http_1_0_gets_an_unchunked_answer_and_the_end(app: SmallApplication) -> None:
    raw = await app.talk(f"GET /stream HTTP/1.0\r\nHost: {HOST}\r\n\r\n".encode())
    head, _, body = raw.partition(b"\r\n\r\n")
    assert body == b"one two three"
    assert b"chunked" not in head
    assert b"connection: close" in head


async def test_head_says_what_get_would_and_does_not_run_the_body(app: SmallApplication) -> None:
    get = await app.ask("GET", "/hello")
    head = await app.ask("HEAD", "/hello")
    assert head.header("content-length") == get.header("content-length") == str(len(get.body))
    assert head.body == b""
    streamed = await app.ask("HEAD", "/stream?length=13")
    assert streamed.header("content-length") == "13"


async def test_the_number_of_requests_on_a_connection_is_bounded() -> None:
    app = SmallApplication(limits=Limits(requests_per_connection=3))
    found = replies(await app.talk(request_bytes("GET", "/hello") * 5), ["GET"] * 5)
    assert [reply.header("connection") for reply in found] == [None, None, "close"]


# Bodies


async def test_100_continue_is_sent_when_the_body_is_asked_for(app: SmallApplication) -> None:
    async with trio.open_nursery() as nursery:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("POST", "/upload", expect="100-continue", content_length="5"))
        assert await ours.receive_some() == b"HTTP/1.1 100 Continue\r\n\r\n"
        await ours.send_all(b"hello" + request_bytes("GET", "/hello", connection="close"))
        found = replies(await read_to_end(ours), ["POST", "GET"])
    assert [reply.status for reply in found] == [200, 200]


@pytest.mark.parametrize("length", ["100001", "99999999999999"])
async def test_a_body_declared_too_large_is_refused_before_100_continue(app: SmallApplication, length: str) -> None:
    raw = await app.talk(request_bytes("POST", "/upload", expect="100-continue", content_length=length))
    assert raw.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in raw
    assert b"100 Continue" not in raw


async def test_a_chunked_body_is_refused_with_the_byte_that_passes_the_limit(app: SmallApplication) -> None:
    chunk = b"%x\r\n%b\r\n" % (50_001, b"a" * 50_001)
    raw = await app.talk(request_bytes("POST", "/upload", transfer_encoding="chunked") + chunk * 2)
    assert [reply.status for reply in replies(raw, ["POST"])] == [413]


async def test_an_expectation_nobody_wants_closes_the_connection(app: SmallApplication) -> None:
    data = request_bytes("POST", "/ignore", expect="100-continue", content_length="5")
    raw = await app.talk(data + b"hello" + request_bytes("GET", "/hello"))
    found = replies(raw, ["POST", "GET"])
    assert [(reply.status, reply.header("connection")) for reply in found] == [(200, "close")]


@pytest.mark.parametrize(("size", "answers"), [(60_000, 2), (70_000, 1)])
async def test_an_unread_body_is_skipped_if_it_is_small_else_the_connection_closes(
    app: SmallApplication, size: int, answers: int
) -> None:
    data = request_bytes("POST", "/ignore", b"a" * size) + request_bytes("GET", "/hello")
    assert len(replies(await app.talk(data), ["POST", "GET"])) == answers


async def test_an_unread_chunked_body_is_skipped_up_to_the_bound(app: SmallApplication) -> None:
    small = b"5\r\nhello\r\n0\r\n\r\n"
    large = b"%x\r\n%b\r\n" % (40_000, b"a" * 40_000)
    head = request_bytes("POST", "/ignore", transfer_encoding="chunked")
    again = request_bytes("GET", "/hello")
    assert len(replies(await app.talk(head + small + again), ["POST", "GET"])) == 2
    assert len(replies(await app.talk(head + large * 2 + b"0\r\n\r\n" + again), ["POST", "GET"])) == 1


async def test_a_body_that_ends_early_is_refused(app: SmallApplication) -> None:
    raw = await app.talk(request_bytes("POST", "/upload", content_length="10") + b"half", half_close=True)
    assert [reply.status for reply in replies(raw, ["POST"])] == [400]


@pytest.mark.wall_clock
async def test_a_refused_upload_is_not_reset_before_the_client_has_read_why(app: SmallApplication) -> None:
    """Over real sockets: a close on unread bytes would make the client's system drop our answer."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    with trio.fail_after(HANGS_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, app.serve, listeners)
            async with await trio.testing.open_stream_to_socket_listener(listeners[0]) as ours:
                await ours.send_all(request_bytes("POST", "/upload", b"a" * 8_000_000))
                raw = await read_to_end(ours)
            nursery.cancel_scope.cancel()
    assert raw.startswith(b"HTTP/1.1 413 ")


# Answers


async def test_a_bug_is_logged_whole_and_shown_as_internal(app: SmallApplication) -> None:
    reply = await app.ask("GET", "/bug")
    assert reply.status == 500
    assert reply.json["code"] == "internal"
    assert b"the reason" not in reply.body
    assert "the reason nobody outside may read" in app.log_text
    assert str(reply.header("x-request-id")) in app.log_text


async def test_a_refusal_brings_its_data(app: SmallApplication) -> None:
    reply = await app.ask("GET", "/conflict")
    assert (reply.status, reply.json["revision"]) == (409, 7)


async def test_a_header_value_with_a_line_break_is_never_sent(app: SmallApplication) -> None:
    raw = await app.talk(request_bytes("GET", "/break"))
    assert raw.startswith(b"HTTP/1.1 500 ")
    assert b"evil" not in raw


@pytest.mark.parametrize("value", ["a\rb", "a\nb", "a\r\nb: c", "a\0b", "\u20ac"])
@pytest.mark.parametrize("in_name", [False, True])
def test_no_header_of_ours_breaks_out_of_its_line(value: str, in_name: bool) -> None:
    field = (value, "x") if in_name else ("x", value)
    with pytest.raises(ValueError, match=r"line break|codec"):
        encode_head(Response(headers=[field]), is_http11=True, keep=True)


async def test_an_answer_that_breaks_off_is_visibly_cut(app: SmallApplication) -> None:
    raw = await app.talk(request_bytes("GET", "/halfway") + request_bytes("GET", "/hello"))
    assert raw.endswith(b"first half\r\n")
    assert "the disk is gone" in app.log_text


@pytest.mark.parametrize("length", [5, 50])
async def test_an_answer_of_another_length_than_announced_ends_the_connection(
    app: SmallApplication, length: int
) -> None:
    raw = await app.talk(request_bytes("GET", f"/stream?length={length}") + request_bytes("GET", "/hello"))
    assert raw.count(b"HTTP/1.1 ") == 1
    assert len(raw.partition(b"\r\n\r\n")[2]) <= length
    assert "stream closed" in app.seen


async def test_a_small_answer_leaves_in_one_piece(app: SmallApplication) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("GET", "/hello"))
        assert (await ours.receive_some()).endswith(b'{"hello":"/hello"}')
        nursery.cancel_scope.cancel()


async def test_the_log_holds_no_query_value(app: SmallApplication) -> None:
    await app.ask("GET", "/hello?ticket=verysecret")
    assert '"path":"/hello?' in app.log_text.replace(": ", ":")
    assert "verysecret" not in app.log_text


# Upgrades


def handshake(target: str = "/ws", who: str = "member") -> bytes:
    return request_bytes(
        "GET",
        target,
        x_as=who,
        connection="Upgrade",
        upgrade="websocket",
        sec_websocket_version="13",
        sec_websocket_key="AAAAAAAAAAAAAAAAAAAAAA==",
    )


HELLO_FRAME = bytes([0x81, 0x85, 0, 0, 0, 0]) + b"hello"  # masked with zeros


@pytest.mark.parametrize("piece", PIECES)
async def test_a_socket_takes_over_behind_answered_requests_and_loses_no_byte(
    app: SmallApplication, piece: int
) -> None:
    data = request_bytes("GET", "/hello") + handshake() + HELLO_FRAME
    raw = await app.talk(data, piece=piece, half_close=True)
    first, _, rest = raw.partition(b"HTTP/1.1 101 ")
    assert first.endswith(b'{"hello":"/hello"}')
    head, _, frames = rest.partition(b"\r\n\r\n")
    assert b"x-request-id: " in head
    assert frames.startswith(b"\x81\x05hello")


async def test_on_drain_a_socket_is_closed_with_1001(app: SmallApplication) -> None:
    async with trio.open_nursery() as nursery:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(handshake())
        await trio.testing.wait_all_tasks_blocked()
        await ours.receive_some()
        app.drain.begin()
        frame = await ours.receive_some()
        nursery.cancel_scope.cancel()
    assert frame[0] == 0x88
    assert int.from_bytes(frame[2:4], "big") == 1001


async def test_an_upgrade_with_a_body_is_refused(app: SmallApplication) -> None:
    raw = await app.talk(handshake()[:-2] + b"content-length: 5\r\n\r\nhello")
    assert raw.startswith(b"HTTP/1.1 400 ")


async def test_http_1_0_can_not_upgrade(app: SmallApplication) -> None:
    raw = await app.talk(handshake().replace(b"HTTP/1.1", b"HTTP/1.0"))
    assert raw.split(b" ")[1] == b"426"


# Cancellation


async def test_wherever_a_connection_is_cancelled_it_closes_and_nothing_is_left(app: SmallApplication) -> None:
    async def attempt(run: Interrupted) -> None:
        fresh = SmallApplication()
        ours, theirs = trio.testing.memory_stream_pair()
        await ours.send_all(request_bytes("POST", "/upload", b"hello") + request_bytes("GET", "/stream"))
        await ours.send_eof()
        await run(fresh.serve, theirs)
        await read_to_end(ours)  # ends, so the stream is closed
        assert '"level":"error"' not in fresh.log_text.replace(": ", ":")

    assert await cancel_everywhere(attempt) > 10
