"""What others ask of a server: the 33 questions of h1spec about HTTP/1.1, and Autobahn's cases about WebSocket."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
import trio
import trio.testing

from svc.principal import Principal
from svc.protocol.messages import Request, Response
from svc.protocol.rows import Route
from svc.protocol.websocket import SocketLimits
from tests.peers.needs import AUTOBAHN, AUTOBAHN_PATH, needs
from tests.sizes import HANGS_S, SOAK
from tests.support.http import ADMIN, SmallApplication, Who

HOST: Final = b"Host: example.com\r\n"
BEGUN: Final = (
    *(b"G", b"GET ", b"GET /hello", b"GET /hello ", b"GET /hello HTTP", b"GET /hello HTTP/1.1"),
    *(b"GET /hello HTTP/1.1" + rest for rest in (b"\r", b"\r\n", b"\r\nHos", b"\r\nHost:", b"\r\nHost: ")),
    *(b"GET /hello HTTP/1.1\r\nHost: localhost" + rest for rest in (b"", b"\r", b"\r\n", b"\r\n\r")),
)
"""Requests whose end has not come: a server waits."""
WHOLE: Final = {
    "no version": (b"GET / \r\n\r\n", 400),
    "another version": (b"GET / HTTP/9.9\r\n" + HOST + b"\r\n", 505),
    "a word too many before the method": (b"Extra lineGET / HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "an expectation": (b"GET / HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\n\r\n", 200),
    "an ordinary one": (b"GET / HTTP/1.1\r\n" + HOST + b"\r\n", 200),
    "any case, a tab, no value": (b"GET / HTTP/1.1\r\nhoSt:\texample.com\r\nempty:\r\n\r\n", 200),
    "an empty value": (b"GET / HTTP/1.1\r\n" + HOST + b"X-Empty-Header: \r\n\r\n", 200),
    "brackets in a field's name": (b"GET / HTTP/1.1\r\n" + HOST + b"X-Invalid[]: test\r\n\r\n", 400),
    "a control character in a value": (b"GET / HTTP/1.1\r\n" + HOST + b"X-Bad: test\x07\r\n\r\n", 400),
    "a bare CR": (b"GET / HTTP/1.1\r\n" + HOST + b"\rSome-Header: Test\r\n\r\n", 400),
    "no host": (b"GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", 400),
    "two hosts": (b"GET / HTTP/1.1\r\n" + HOST + b"Host: example.org\r\n\r\n", 400),
    "a length below any": (b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: -" + b"123456789" * 3 + b"\r\n\r\n", 400),
    "a length below zero": (b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: -1234\r\n\r\n", 400),
    "a length in letters": (b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: abc\r\n\r\n", 400),
    "a body": (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello", 200),
    "a body in chunks": (
        b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        200,
    ),
    "two lengths": (
        b"POST / HTTP/1.1\r\n" + HOST + b"transfer-ENCODING: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        400,
    ),
}
"""Requests with the status of their answer."""
CASES: Final = ("1", "2", "3", "4", "5", "6", "7", *(("9",) if SOAK else ()), "10")
"""12 and 13 are about compression, which is not spoken here; 9 is about messages of up to 16 MiB."""


class Mirror(SmallApplication):
    """Everybody is an admin; `/` says the body again, and `/ws` each message."""

    async def resolve(self, request: Request) -> Principal | None:
        return ADMIN

    def routes(self) -> list[Route[Who]]:
        rows = [
            Route(method=method, path="/", access="public", handle=self.mirror, summary="")
            for method in ("GET", "POST")
        ]
        return rows + super().routes()

    async def mirror(self, who: Who, request: Request) -> Response:
        return Response(body=await request.read(100))


@pytest.fixture
def mirror() -> Mirror:
    return Mirror(public_origin="http://example.com", socket_limits=SocketLimits(message_bytes=16 * 1024 * 1024))


def test_these_are_the_33() -> None:
    assert len(BEGUN) + len(WHOLE) == 33


@pytest.mark.parametrize("begun", BEGUN)
async def test_a_request_that_has_begun_is_waited_for(mirror: Mirror, begun: bytes) -> None:
    async with trio.open_nursery() as nursery:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(mirror.serve, theirs)
        await ours.send_all(begun)
        with trio.move_on_after(mirror.limits.head_s - 1) as patience:
            assert await ours.receive_some() is None, "it was answered, or hung up on"
        assert patience.cancelled_caught
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("piece", [1, 65536])
@pytest.mark.parametrize("name", WHOLE)
async def test_a_whole_request_is_answered_as_it_should_be(mirror: Mirror, name: str, piece: int) -> None:
    request, status = WHOLE[name]
    raw = await mirror.talk(request, piece=piece, half_close=True)
    while raw.startswith(b"HTTP/1.1 100 "):
        _, _, raw = raw.partition(b"\r\n\r\n")
    assert raw.startswith(b"HTTP/1.1 %d " % status), raw
    if name.startswith("a body"):
        assert raw.endswith(b"\r\n\r\nhello")


@pytest.mark.peer
@pytest.mark.wall_clock
@needs(AUTOBAHN)
async def test_no_case_of_autobahn_fails(mirror: Mirror, tmp_path: Path) -> None:
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, mirror.serve, [listener])
        words = ["--mode", "fuzzingclient", f"ws://127.0.0.1:{port}/ws", "--outdir", str(tmp_path)]
        for case in CASES:
            words += ["--include", f"{case}.*"]
        with trio.fail_after(HANGS_S):
            done = await trio.run_process(
                [AUTOBAHN_PATH, *words, "--parallelism", "4"], capture_stdout=True, capture_stderr=True, check=False
            )
        nursery.cancel_scope.cancel()
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    assert f"{301 if SOAK else 247} cases passed" in said
