"""The ASGI face answers as our own connection does, also under Hypercorn's trio worker."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from hypercorn.typing import ASGIFramework
from trio_websocket import ConnectionRejected, open_websocket_url

from svc.protocol.asgi import AsgiFace, Message
from svc.protocol.drain import Drain
from svc.protocol.limits import DEFAULT_LIMITS
from tests.sizes import HANGS_S
from tests.support.http import HOST, Reply, SmallApplication, read_to_end, replies, request_bytes


async def call(app: SmallApplication, scope: dict[str, Any], events: Sequence[Message] = ()) -> list[Message]:
    """What the face sends when it is called with ``events`` to receive."""
    waiting, sent = list(events), []

    async def receive() -> Message:
        return waiting.pop(0) if waiting else {"type": f"{scope['type']}.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await AsgiFace(app.application, log=app.log, drain=app.drain)(scope, receive, send)
    return sent


def http_scope(method: str, path: str, *, http_version: str = "1.1", **headers: str) -> dict[str, Any]:
    fields = [(name.replace("_", "-").encode(), value.encode()) for name, value in {"host": HOST, **headers}.items()]
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": fields,
        "http_version": http_version,
        "scheme": "http",
        "client": ("192.0.2.7", 1234),
    }


def socket_scope(path: str, *, extensions: dict[str, object] | None = None, **headers: str) -> dict[str, Any]:
    return {
        **http_scope("GET", path, **headers),
        "type": "websocket",
        "extensions": extensions or {},
    }


def body_of(sent: Sequence[Message]) -> bytes:
    return b"".join(message["body"] for message in sent if message["type"] == "http.response.body")


async def test_a_request_is_answered_with_every_header() -> None:
    sent = await call(SmallApplication(), http_scope("GET", "/hello"))
    headers = dict(sent[0]["headers"])
    assert sent[0]["status"] == 200
    assert headers[b"content-length"] == b"18"
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert body_of(sent) == b'{"hello":"/hello"}'


async def test_a_body_comes_in_pieces_and_a_head_has_none() -> None:
    events: list[Message] = [
        {"type": "http.request", "body": b"hel", "more_body": True},
        {"type": "http.request", "body": b"lo", "more_body": False},
    ]
    for scope in (
        http_scope("POST", "/upload", content_length="5"),
        http_scope("POST", "/upload", transfer_encoding="chunked"),
        http_scope("POST", "/upload", http_version="2"),
    ):
        assert body_of(await call(SmallApplication(), scope, events)) == b'{"size":5,"text":"hello"}'
    assert body_of(await call(SmallApplication(), http_scope("HEAD", "/hello"))) == b""
    assert body_of(await call(SmallApplication(), http_scope("GET", "/stream"))) == b"one two three"


async def test_a_client_that_leaves_in_the_middle_of_its_body_has_uploaded_nothing() -> None:
    app = SmallApplication()
    events: list[Message] = [{"type": "http.request", "body": b"hel", "more_body": True}]
    sent = await call(app, http_scope("POST", "/upload", content_length="5"), events)
    assert sent[0]["status"] == 400
    assert "upload 5" not in app.seen


@pytest.mark.parametrize(("rate", "status"), [(900, 408), (1200, 200)])
async def test_a_body_has_to_keep_its_pace(rate: int, status: int) -> None:
    sent: list[Message] = []
    left = 90_000

    async def receive() -> Message:
        nonlocal left
        await trio.sleep(1)
        left -= rate
        return {"type": "http.request", "body": b"a" * rate, "more_body": left > 0}

    async def send(message: Message) -> None:
        sent.append(message)

    app = SmallApplication()
    scope = http_scope("POST", "/upload", content_length="90000")
    await AsgiFace(app.application, log=app.log, drain=Drain())(scope, receive, send)
    assert sent[0]["status"] == status


@pytest.mark.parametrize(
    ("hosts", "status"), [([], 400), ([HOST, HOST], 400), (["a@b"], 400), (["evil.example"], 421), ([HOST], 200)]
)
async def test_the_host_is_as_strictly_read_as_on_our_own_connection(hosts: list[str], status: int) -> None:
    scope = {**http_scope("GET", "/hello"), "headers": [(b"host", host.encode()) for host in hosts]}
    assert (await call(SmallApplication(), scope))[0]["status"] == status


@pytest.mark.parametrize("http_version", ["1.1", "2"])
@pytest.mark.parametrize(
    ("target", "fields", "status"),
    [
        ("/" + "x" * DEFAULT_LIMITS.target_bytes, [], 414),
        ("/hello", [("a", "b")] * DEFAULT_LIMITS.head_fields, 431),
        ("/hello", [("a", "x" * DEFAULT_LIMITS.head_bytes)], 431),
        ("/hello", [("a", "b")] * (DEFAULT_LIMITS.head_fields - 1), 200),
    ],
)
async def test_a_head_has_the_limits_of_our_own_connection(
    http_version: str, target: str, fields: list[tuple[str, str]], status: int
) -> None:
    scope = http_scope("GET", target, http_version=http_version)
    scope["headers"] += [(name.encode(), value.encode()) for name, value in fields]
    sent = await call(SmallApplication(), scope)
    assert sent[0]["status"] == status
    is_last = (b"connection", b"close") in sent[0]["headers"]
    assert is_last is (status != 200 and http_version == "1.1")


async def test_two_framings_are_refused_also_after_a_front_has_chosen_one() -> None:
    scope = http_scope("POST", "/upload", content_length="5", transfer_encoding="chunked")
    assert (await call(SmallApplication(), scope))[0]["status"] == 400


async def test_lifespan_is_agreed_to() -> None:
    sent = await call(
        SmallApplication(), {"type": "lifespan"}, [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    )
    assert [message["type"] for message in sent] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


async def test_a_refused_upgrade_is_an_answer_where_the_front_can_carry_one() -> None:
    app = SmallApplication()
    connect: Message = {"type": "websocket.connect"}
    sent = await call(app, socket_scope("/ws", extensions={"websocket.http.response": {}}), [connect])
    assert (sent[0]["type"], sent[0]["status"]) == ("websocket.http.response.start", 401)
    assert await call(app, socket_scope("/ws"), [connect]) == [{"type": "websocket.close"}]


@pytest.mark.parametrize(("path", "status"), [("/full", 409), ("/shy", 403), ("/broken", 500), ("/late", 503)])
async def test_a_socket_whose_handler_refuses_is_answered_as_any_request(path: str, status: int) -> None:
    app = SmallApplication()
    scope = socket_scope(path, extensions={"websocket.http.response": {}}, x_as="member")
    start, body = await call(app, scope, [{"type": "websocket.connect"}])
    headers = dict(start["headers"])
    assert (start["type"], start["status"]) == ("websocket.http.response.start", status)
    assert {b"date", b"x-request-id", b"content-security-policy", b"x-content-type-options"} <= set(headers)
    assert int(headers[b"content-length"]) == len(body["body"])
    assert app.traffic.answers == {(path, status): 1}
    assert app.traffic.sockets[path] == 0
    assert [line["status"] for line in app.log_lines] == [status]


async def test_a_socket_echoes_until_its_peer_goes() -> None:
    events: list[Message] = [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "text": "hello", "bytes": None},
        {"type": "websocket.receive", "bytes": b"\x00"},
        {"type": "websocket.disconnect", "code": 1000},
    ]
    sent = await call(SmallApplication(), socket_scope("/ws", x_as="member"), events)
    assert [message["type"] for message in sent] == ["websocket.accept", "websocket.send", "websocket.send"]
    assert (sent[1]["text"], sent[2]["bytes"]) == ("hello", b"\x00")


async def test_a_socket_is_told_to_go_when_the_service_drains() -> None:
    app, drain, sent = SmallApplication(), Drain(), list[Message]()
    closed = trio.Event()
    connect: list[Message] = [{"type": "websocket.connect"}]

    async def receive() -> Message:
        if connect:
            return connect.pop()
        await closed.wait()
        return {"type": "websocket.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)
        if message["type"] == "websocket.accept":
            drain.begin()
        elif message["type"] == "websocket.close":
            closed.set()

    await AsgiFace(app.application, log=app.log, drain=drain)(socket_scope("/ws", x_as="member"), receive, send)
    assert [message["type"] for message in sent] == ["websocket.accept", "websocket.close"]
    assert sent[1]["code"] == 1001


# Under Hypercorn, on a loopback port


@asynccontextmanager
async def hypercorn() -> AsyncIterator[SmallApplication]:
    """The small application behind Hypercorn's trio worker, on ``app.port`` of the loopback."""
    listener = socket.create_server(("127.0.0.1", 0))
    app = SmallApplication(port=listener.getsockname()[1])
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.graceful_timeout = 1
    config.loglevel = "ERROR"
    stop = trio.Event()

    async def run(task_status: trio.TaskStatus[list[str]] = trio.TASK_STATUS_IGNORED) -> None:
        face = AsgiFace(app.application, log=app.log, drain=Drain())
        await serve(cast(ASGIFramework, face), config, shutdown_trigger=stop.wait, task_status=task_status)

    async with trio.open_nursery() as nursery:
        await nursery.start(run)
        yield app
        stop.set()


async def exchange(app: SmallApplication, data: bytes) -> Reply:
    async with await trio.open_tcp_stream("127.0.0.1", app.port) as stream:
        await stream.send_all(data)
        return replies(await read_to_end(stream), [data.split(b" ")[0].decode()])[0]


@pytest.mark.wall_clock
async def test_hypercorn_serves_the_same_answers() -> None:
    with trio.fail_after(HANGS_S):
        async with hypercorn() as app:
            ours = {"host": "localhost", "connection": "close"}
            hello = await exchange(app, request_bytes("GET", "/hello", **ours))
            upload = await exchange(app, request_bytes("POST", "/upload", b"hello", **ours))
            foreign = await exchange(app, request_bytes("GET", "/hello", host="evil.example", connection="close"))
            refused = await exchange(app, request_bytes("GET", "/mine", **ours))
            own = replies(await app.talk(request_bytes("GET", "/hello", **ours), half_close=True))[0]
    assert (hello.status, hello.body) == (200, own.body)
    varying = {"x-request-id", "date", "server", "connection"}
    assert {field for field in own.headers if field[0] not in varying} <= set(hello.headers)
    assert upload.json == {"size": 5, "text": "hello"}
    assert (foreign.status, refused.status) == (421, 401)


@pytest.mark.wall_clock
async def test_hypercorn_carries_a_socket_and_its_refusal() -> None:
    with trio.fail_after(HANGS_S):
        async with hypercorn() as app:
            url = f"ws://127.0.0.1:{app.port}/ws"
            async with open_websocket_url(url, extra_headers=[(b"x-as", b"member")]) as client:
                await client.send_message("hello")
                assert await client.get_message() == "hello"
            with pytest.raises(ConnectionRejected) as caught:
                async with open_websocket_url(url):
                    pass
    assert caught.value.status_code == 401
