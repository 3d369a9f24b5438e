"""The way out, against a raw server that says exactly what a test scripts. Real sockets, so real (short) time."""

from __future__ import annotations

import gzip
import socket
import struct
import traceback
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import trio

from svc.protocol.egress import CONNECTIONS_MAX, Egress, EgressFault, EgressResponse, EgressStream
from tests.protocol.raw_server import Script, Server, says, served
from tests.sizes import HANGS_S
from tests.support.certificates import certificates

pytestmark = pytest.mark.wall_clock

CANARY = "canary-f3a1"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Thing: one\r\nX-Thing: two\r\n\r\nhi"
CLOSE = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
BUSY = b"HTTP/1.1 503 No\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n"
LIMIT = 1_000_000


async def get(egress: Egress, url: str, *, limit_bytes: int = LIMIT, deadline_s: float = HANGS_S) -> EgressResponse:
    return await egress.request("GET", url, deadline_s=deadline_s, limit_bytes=limit_bytes)


async def fault_of(answer: bytes | Script, *, limit_bytes: int = LIMIT, deadline_s: float = HANGS_S) -> EgressFault:
    script = says(answer) if isinstance(answer, bytes) else answer
    async with served(script) as (_, url), Egress() as egress:
        with pytest.raises(EgressFault) as caught:
            await get(egress, url, limit_bytes=limit_bytes, deadline_s=deadline_s)
    return caught.value


async def test_a_whole_answer_of_any_status_is_handed_back() -> None:
    async with served(says(OK)) as (server, url), Egress() as egress:
        answer = await get(egress, f"{url}/a?b=c")
        assert (answer.status, answer.body, answer.headers.all("x-thing")) == (200, b"hi", ["one", "two"])
        assert server.heard[0].startswith(b"GET /a?b=c HTTP/1.1\r\n")
        assert b"user-agent: svc/" in server.heard[0]
    async with served(says(BUSY)) as (_, url), Egress() as egress:
        answer = await get(egress, url)
        assert (answer.status, answer.headers.get("retry-after")) == (503, "3")


async def test_a_body_and_headers_go_out_as_given() -> None:
    async with served(says(OK)) as (server, url), Egress() as egress:
        await egress.request(
            "POST", url, headers={"Authorization": "Bearer x"}, body=b"abc", deadline_s=10, limit_bytes=LIMIT
        )
        head, _, body = server.heard[0].partition(b"\r\n\r\n")
        assert b"\r\nauthorization: Bearer x" in head
        assert b"\r\nContent-Length: 3" in head
        assert body == b"abc"


async def test_a_connection_is_used_again() -> None:
    async with served(says(OK, then_close=False)) as (server, url), Egress() as egress:
        for _ in range(3):
            await get(egress, url)
        assert (server.connections, len(server.heard)) == (1, 3)


async def test_nothing_is_said_that_the_caller_did_not_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine 127.0.0.1 login me password {CANARY}\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    cookie = OK.replace(b"\r\n\r\n", f"\r\nSet-Cookie: a={CANARY}; Path=/\r\n\r\n".encode())
    async with served(says(cookie)) as (server, url), Egress() as egress:
        await get(egress, url)
        await get(egress, url)
        assert len(server.heard) == 2
        assert CANARY.encode() not in b"".join(server.heard)
        assert b"authorization" not in b"".join(server.heard).lower()


async def test_a_redirect_is_an_answer_and_not_followed() -> None:
    answer = b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
    async with served(says(answer)) as (server, url), Egress() as egress:
        found = await get(egress, url)
        assert (found.status, found.headers.get("location")) == (302, "/elsewhere")
        assert len(server.heard) == 1


async def test_compressed_answers_are_unpacked_and_counted_unpacked() -> None:
    packed = gzip.compress(b"x" * 500_000, mtime=0)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    async with served(says(head + packed)) as (_, url), Egress() as egress:
        assert (await get(egress, url, limit_bytes=500_000)).body == b"x" * 500_000
        with pytest.raises(EgressFault) as caught:
            await get(egress, url, limit_bytes=499_999)
        assert (caught.value.kind, caught.value.may_have_happened) == ("too_large", True)


async def test_an_answer_to_head_has_no_body_whatever_it_declares() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n"
    async with served(says(answer)) as (_, url), Egress() as egress:
        found = await egress.request("HEAD", url, deadline_s=10, limit_bytes=10)
        assert (found.status, found.body) == (200, b"")


async def test_an_answer_cut_at_any_byte_is_a_fault_and_may_have_happened() -> None:
    packed = gzip.compress(b"hello", mtime=0)
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
    zipped = CLOSE + b"Content-Encoding: gzip\r\n\r\n" + packed
    for whole in (OK, chunked, zipped):
        script = _Cut(whole)
        async with served(script) as (_, url), Egress() as egress:
            for length in range(len(whole)):
                script.length = length
                if whole is zipped and length == len(whole) - len(packed):
                    continue  # no byte of a body that has no length: indistinguishable from an empty one
                with pytest.raises(EgressFault) as caught:
                    await get(egress, url)
                assert (caught.value.kind, caught.value.may_have_happened) == ("closed", True), length
            script.length = len(whole)
            assert (await get(egress, url)).status == 200


class _Cut:
    def __init__(self, whole: bytes) -> None:
        self.whole = whole
        self.length = 0

    async def __call__(self, stream: trio.SocketStream) -> None:
        await stream.send_all(self.whole[: self.length])
        await stream.aclose()


@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 two OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        CLOSE + b"Content-Encoding: gzip\r\n\r\nnot gzip at all",
        CLOSE + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"a", mtime=0)[:-8] + b"\0" * 8,
        CLOSE + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"a", mtime=0) + b"more",
        CLOSE + b"Content-Encoding: gzip\r\n\r\n" + zlib.compress(b"a"),
        CLOSE + b"Content-Encoding: br\r\n\r\nabc",
        CLOSE + b"Content-Encoding: gzip, gzip\r\n\r\nabc",
        CLOSE + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
    ],
)
async def test_an_answer_that_is_not_http_is_a_protocol_fault(answer: bytes) -> None:
    fault = await fault_of(answer)
    assert (fault.kind, fault.may_have_happened) == ("protocol", True)


async def test_an_endless_answer_stops_at_the_limit() -> None:
    async def endless(stream: trio.SocketStream) -> None:
        await stream.send_all(CLOSE + b"\r\n")
        while True:
            await stream.send_all(b"x" * 65_536)

    assert (await fault_of(endless, limit_bytes=300_000)).kind == "too_large"


async def test_what_is_given_up_leaves_no_connection_behind() -> None:
    left = trio.Event()

    async def endless(stream: trio.SocketStream) -> None:
        try:
            await stream.send_all(CLOSE + b"\r\n")
            while True:
                await stream.send_all(b"x" * 65_536)
        finally:
            left.set()

    async with served(endless) as (_, url), Egress() as egress:
        for _ in range(CONNECTIONS_MAX + 1):
            with pytest.raises(EgressFault) as caught:
                await get(egress, url, limit_bytes=1)
            assert caught.value.kind == "too_large"
        with trio.fail_after(HANGS_S):
            await left.wait()


async def test_a_connection_that_is_reset_is_a_closed_one() -> None:
    async def reset(stream: trio.SocketStream) -> None:
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # its end is a reset
        await stream.aclose()

    fault = await fault_of(reset)
    assert (fault.kind, fault.may_have_happened) == ("closed", True)


async def test_a_bomb_is_unpacked_no_further_than_the_limit() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(1_000_000)) for _ in range(100)) + packer.flush()
    assert (await fault_of(CLOSE + b"Content-Encoding: gzip\r\n\r\n" + bomb)).kind == "too_large"


@pytest.mark.thorough
async def test_the_deadline_covers_a_dripping_body() -> None:
    asked = False

    async def drip(stream: trio.SocketStream) -> None:
        nonlocal asked
        asked = True
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while True:
            await stream.send_all(b"x")
            await trio.sleep(0.01)

    fault = await fault_of(drip, deadline_s=2)  # the whole of it takes ten
    assert fault.kind == "timeout"
    assert fault.may_have_happened or not asked  # a machine that is busy enough does not get to asking


async def test_a_caller_that_is_cancelled_is_cancelled_and_the_client_lives_on() -> None:
    slow = True

    async def script(stream: trio.SocketStream) -> None:
        if slow:
            await trio.sleep_forever()
        await stream.send_all(OK)

    async with served(script) as (_, url), Egress() as egress:
        with trio.move_on_after(0.1) as scope:
            await get(egress, url)
        assert scope.cancelled_caught
        slow = False
        assert (await get(egress, url)).body == b"hi"


async def test_what_was_never_sent_has_not_happened() -> None:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    await listeners[0].aclose()
    async with Egress() as egress:
        for url, kind in [
            (f"http://127.0.0.1:{port}/", "connect"),
            ("ftp://127.0.0.1/", "protocol"),
            ("http://", "protocol"),
            ("/relative", "protocol"),
            ("http://[::1", "protocol"),
            (f"http://me:{CANARY}@127.0.0.1/", "protocol"),
            ("http://\ud800/", "protocol"),
        ]:
            with pytest.raises(EgressFault) as caught:
                await get(egress, url)
            assert (caught.value.kind, caught.value.may_have_happened) == (kind, False), url
            assert CANARY not in str(caught.value)


async def test_a_fault_tells_no_secret_not_even_in_its_traceback() -> None:
    async with served(says(f"HTTP/1.1 {CANARY}\r\n\r\n".encode())) as (_, url), Egress() as egress:
        for headers in ({"authorization": f"Bearer {CANARY}"}, {"authorization": f"{CANARY}\r\nX: y"}, {CANARY: "é"}):
            try:
                await egress.request(
                    "POST",
                    f"{url}/bot{CANARY}/send?token={CANARY}#{CANARY}",
                    headers=headers,
                    body=CANARY.encode(),
                    deadline_s=10,
                    limit_bytes=LIMIT,
                )
            except EgressFault as fault:
                text = "".join(traceback.format_exception(fault)) + repr(fault)
            assert CANARY not in text
            assert url in text


# TLS.


@pytest.mark.parametrize(
    ("name", "trusted", "kind"),
    [
        ("localhost", True, None),
        ("localhost", False, "tls"),
        ("elsewhere.example", True, "tls"),
    ],
)
async def test_a_certificate_is_verified_and_nothing_sent_before(
    tmp_path: Path, name: str, trusted: bool, kind: str | None
) -> None:
    server_tls, client_tls = certificates(tmp_path, name)
    server = Server(says(OK))
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_ssl_over_tcp_listeners(0, server_tls, host="127.0.0.1", https_compatible=True)
        port = listeners[0].transport_listener.socket.getsockname()[1]  # type: ignore[attr-defined]
        nursery.start_soon(trio.serve_listeners, server.serve, listeners)
        async with Egress(tls=client_tls if trusted else None) as egress:
            if kind is None:
                assert (await get(egress, f"https://localhost:{port}/")).body == b"hi"
            else:
                with pytest.raises(EgressFault) as caught:
                    await get(egress, f"https://localhost:{port}/")
                assert (caught.value.kind, caught.value.may_have_happened) == (kind, False)
                assert server.heard == []
        nursery.cancel_scope.cancel()


# An answer that is passed on as it comes


async def opened(
    egress: Egress, url: str, *, head_s: float = 10, idle_s: float = 10, slowest_bytes_s: float | None = None
) -> EgressStream:
    return await egress.open(
        *("POST", url),
        headers={"x": "y"},
        body=b"ask",
        head_s=head_s,
        idle_s=idle_s,
        slowest_bytes_s=slowest_bytes_s,
    )


def in_pieces(*pieces: bytes, between: Callable[[], Awaitable[None]]) -> Script:
    async def script(stream: trio.SocketStream) -> None:
        await stream.send_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in pieces:
            await stream.send_all(b"%x\r\n%b\r\n" % (len(piece), piece))
            await between()
        await stream.send_all(b"0\r\n\r\n")

    return script


async def test_each_piece_of_an_opened_answer_comes_before_the_next_is_sent() -> None:
    heard = trio.Semaphore(0)
    script = in_pieces(b"one", b"two", between=heard.acquire)
    async with served(script) as (server, url), Egress() as egress:
        stream = await opened(egress, f"{url}/v1?beta=true")
        pieces = []
        with trio.fail_after(HANGS_S):
            while piece := await stream.receive():
                pieces.append(piece)
                heard.release()
        await stream.aclose()
        assert (stream.status, pieces) == (200, [b"one", b"two"])
        assert b"accept-encoding: identity" in server.heard[0]
        assert server.heard[0].startswith(b"POST /v1?beta=true HTTP/1.1\r\n")
        assert server.heard[0].endswith(b"\r\n\r\nask")


async def test_the_connection_of_an_answer_read_to_its_end_is_used_again() -> None:
    async with served(says(OK, then_close=False)) as (server, url), Egress() as egress:
        for _ in range(2):
            stream = await opened(egress, url)
            assert [await stream.receive(), await stream.receive()] == [b"hi", b""]
            await stream.aclose()
        assert (server.connections, len(server.heard)) == (1, 2)


async def test_an_opened_answer_may_take_its_time_but_not_fall_silent() -> None:
    async with served(says(CLOSE + b"\r\nbegun", then_close=False)) as (_, url), Egress() as egress:
        stream = await opened(egress, url, idle_s=0.2)
        assert await stream.receive() == b"begun"
        with pytest.raises(EgressFault, match="nothing more came") as caught:
            await stream.receive()
        await stream.aclose()
        assert (caught.value.kind, caught.value.may_have_happened) == ("timeout", True)


async def pieces_of(stream: EgressStream) -> AsyncIterator[bytes]:
    while piece := await stream.receive():
        yield piece


async def test_an_opened_answer_that_comes_a_byte_at_a_time_is_given_up_and_a_slow_reader_is_not() -> None:
    async def trickle(stream: trio.SocketStream) -> None:
        await stream.send_all(CLOSE + b"\r\n")
        while True:
            await stream.send_all(b"x")
            await trio.sleep(0.02)

    async with served(trickle) as (_, url), Egress() as egress:
        stream = await opened(egress, url, idle_s=0.3, slowest_bytes_s=10_000)
        with trio.fail_after(HANGS_S), pytest.raises(EgressFault, match="less than 10000 bytes a second"):
            [piece async for piece in pieces_of(stream)]
        await stream.aclose()
    async with served(says(CLOSE + b"\r\n" + b"x" * 9)) as (_, url), Egress() as egress:
        stream = await opened(egress, url, idle_s=0.3, slowest_bytes_s=10)
        await trio.sleep(0.4)  # it reads late, and that is not the server's fault
        assert await stream.receive() == b"x" * 9
        await stream.aclose()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"", "closed"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", "protocol"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "protocol"),
        (b"nonsense\r\n\r\n", "protocol"),
    ],
)
async def test_what_is_no_answer_is_told_before_any_of_it_is_passed_on(answer: bytes, kind: str) -> None:
    async with served(says(answer)) as (_, url), Egress() as egress:
        with pytest.raises(EgressFault) as caught:
            await opened(egress, url)
        assert (caught.value.kind, caught.value.may_have_happened) == (kind, True)


async def test_an_opened_answer_that_never_begins_ends_at_its_deadline() -> None:
    async with served(says(b"", then_close=False)) as (_, url), Egress() as egress:
        with pytest.raises(EgressFault, match="no answer began"):
            await opened(egress, url, head_s=0.2)


async def test_an_opened_answer_that_is_cut_says_so() -> None:
    async with served(says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")) as (_, url), Egress() as egress:
        stream = await opened(egress, url)
        assert await stream.receive() == b"half"
        with pytest.raises(EgressFault) as caught:
            await stream.receive()
        await stream.aclose()
        assert caught.value.kind == "closed"


async def test_nobody_listening_means_that_nothing_was_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with Egress() as egress:
        with pytest.raises(EgressFault) as caught:
            await opened(egress, f"http://127.0.0.1:{port}")
    assert (caught.value.kind, caught.value.may_have_happened) == ("connect", False)
