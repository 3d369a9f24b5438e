"""The whole service in-process on virtual time: every feature, the real store, a listener made of memory streams.

    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        await service.mutate("fake.mail.inject", address="mia@example.org", …)
        assert (await service.get("/readyz")).status == 200

Nothing of the service is replaced but the port, and the way out where a test hands one in. Every wait for an answer has
a deadline in virtual time: polling loops would otherwise let a hung test run for ever.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast
from unittest.mock import patch
from urllib.parse import quote

import trio
import trio.testing
from wsproto.events import CloseConnection, Ping, TextMessage

from svc import app
from svc.app import all_rules, all_settings, features_of, run, workspace_of
from svc.capabilities import Broker
from svc.clock import Clock
from svc.config import read_config
from svc.feature import Feature, routes_of
from svc.listening import Role
from svc.nursery import open_task_group
from svc.pages.tasks import catch_up as index_pages
from svc.principal import Principal
from svc.protocol import Application, Guard, Headers, Request, Router
from svc.protocol.egress import Egress
from svc.protocol.messages import BytesBody
from svc.protocol.static import StaticTree
from svc.store import Home, ReadTx, Secrets, Value
from svc.surface import listener
from svc.workspace import RequestContext, Workspace
from tests.migrated import lay_database
from tests.protocol.socket_client import KEY, Client
from tests.protocol.some_procedures import body_of
from tests.recorded_log import RecordedLog
from tests.support.http import Reply, read_to_end, replies

PORT: Final = 4780
HOST: Final = f"127.0.0.1:{PORT}"
ORIGIN: Final = f"http://{HOST}"
ANSWER_DEADLINE_S: Final = 600.0
MIA: Final = "mia@example.org"

EndPair = Callable[[], tuple[trio.abc.HalfCloseableStream, trio.abc.HalfCloseableStream]]


class RpcError(AssertionError):
    """A procedure answered with an error."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error))
        self.code: str = error["data"]["code"]
        self.status: int = error["data"]["httpStatus"]


class _Named:
    """As much of a socket as a listener and a connection are asked for."""

    def getsockname(self) -> tuple[str, int]:
        return ("127.0.0.1", PORT)

    def getpeername(self) -> tuple[str, int]:
        return ("127.0.0.1", 50_000)

    def fileno(self) -> int:
        return -1

    def listen(self, backlog: int) -> None:
        """Does nothing."""


class _ServerEnd(trio.abc.HalfCloseableStream):
    """A memory stream with the name that only a socket has."""

    def __init__(self, stream: trio.abc.HalfCloseableStream) -> None:
        self.socket = _Named()
        self._stream = stream

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def send_eof(self) -> None:
        await self._stream.send_eof()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._stream.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self._stream.aclose()


class MemoryListener(trio.abc.Listener[_ServerEnd]):
    """A port that only this test can reach."""

    def __init__(self) -> None:
        self.socket = _Named()
        self.closed = trio.Event()
        self._arrivals, self._waiting = trio.open_memory_channel[_ServerEnd](100)

    async def connect(self, pair: EndPair = trio.testing.memory_stream_pair) -> trio.abc.HalfCloseableStream:
        """Raises ``BrokenResourceError`` when the port is closed."""
        ours, theirs = pair()
        await self._arrivals.send(_ServerEnd(theirs))
        return ours

    async def accept(self) -> _ServerEnd:
        return await self._waiting.receive()

    async def aclose(self) -> None:
        self._waiting.close()
        self.closed.set()
        await trio.lowlevel.checkpoint()


@dataclass
class LiveSocket:
    """A client of ``/ws``. It answers pings, as every browser does."""

    client: Client
    head: bytes

    @property
    def status(self) -> int:
        return int(self.head.split(b" ", 2)[1])

    async def say(self, **frame: object) -> None:
        await self.client.say(json.dumps(frame))

    async def hear(self) -> dict[str, Any]:
        """The next frame."""
        with trio.fail_after(ANSWER_DEADLINE_S):
            while True:
                event = await self.client.event()
                if isinstance(event, Ping):
                    await self.client.send(event.response())
                elif isinstance(event, TextMessage):
                    frame: dict[str, Any] = json.loads(event.data)
                    return frame
                else:
                    raise AssertionError(f"the socket said {event!r} instead of a frame")

    async def hear_all(self) -> list[dict[str, Any]]:
        """Every frame up to here: what comes before the answer to a ping of our own."""
        await self.say(type="ping")
        frames = []
        while (frame := await self.hear()) != {"type": "pong"}:
            frames.append(frame)
        return frames

    async def closed(self) -> int | None:
        """Read on to the end; the close code, or ``None`` when the connection just ended."""
        with trio.fail_after(ANSWER_DEADLINE_S):
            while (event := await self.client.event()) is not None:
                if isinstance(event, CloseConnection):
                    return int(event.code)
        return None

    async def leave(self) -> None:
        await self.client.send(CloseConnection(code=1000))
        await self.closed()
        await self.client.stream.aclose()


@dataclass
class Service:
    workspace: Workspace
    log: RecordedLog
    listener: MemoryListener = field(default_factory=MemoryListener)
    internal: MemoryListener = field(default_factory=MemoryListener)

    @property
    def secrets(self) -> Secrets:
        """The secrets store itself, which the program reaches through the broker only."""
        return self.workspace.service(Broker).secrets

    async def ask(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        *,
        host: str | None = HOST,
        fields: dict[str, str] | None = None,
        listener: MemoryListener | None = None,
    ) -> Reply:
        """One request on a connection of its own."""
        lines = [f"{method} {target} HTTP/1.1", "connection: close"]
        lines += [f"host: {host}"] if host is not None else []
        lines += [f"{name}: {value}" for name, value in (fields or {}).items()]
        lines += [f"content-length: {len(body)}"] if body or method == "POST" else []
        stream = await (listener or self.listener).connect()
        try:
            with trio.fail_after(ANSWER_DEADLINE_S):
                await stream.send_all("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
                raw = await read_to_end(stream)
        finally:
            await trio.aclose_forcefully(stream)
        found = replies(raw, [method])
        assert found, f"{method} {target} was cut: {raw[:2_000]!r}"
        return found[0]

    async def get(self, target: str, **fields: str) -> Reply:
        return await self.ask("GET", target, fields={name.replace("_", "-"): value for name, value in fields.items()})

    async def query(self, procedure: str, **wanted: object) -> Any:
        return _result(await self.get(f"/trpc/{procedure}?input={quote(json.dumps(wanted))}"))

    async def mutate(self, procedure: str, **wanted: object) -> Any:
        body = json.dumps(wanted).encode()
        return _result(await self.ask("POST", f"/trpc/{procedure}", body, fields={"content-type": "application/json"}))

    async def socket(
        self,
        target: str = "/ws",
        *,
        pair: EndPair = trio.testing.memory_stream_pair,
        host: str = HOST,
        fields: Mapping[str, str] = MappingProxyType({}),
        **named: str,
    ) -> LiveSocket:
        """Knock at a socket. ``head`` tells whether it opened."""
        stream = await self.listener.connect(pair)
        more = {name.replace("_", "-"): value for name, value in named.items()}
        wanted = {
            "host": host,
            "upgrade": "websocket",
            "connection": "Upgrade",
            "sec-websocket-key": KEY,
            "sec-websocket-version": "13",
            **fields,
            **more,
        }
        lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in wanted.items())]
        await stream.send_all("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
        client = Client(stream)
        with trio.fail_after(ANSWER_DEADLINE_S):
            return LiveSocket(client=client, head=await client.read_head())

    async def live(self, *topics: str, after: int | None = None) -> LiveSocket:
        """A socket that has heard ``ready`` and subscribed to ``topics``."""
        socket = await self.socket()
        ready = await socket.hear()
        assert ready["type"] == "ready"
        if topics:
            await socket.say(type="subscribe", topics=topics, **({} if after is None else {"after": after}))
        return socket

    # What is in it

    async def rows(self, sql: str, **params: Value) -> list[tuple[Any, ...]]:
        return await self.workspace.store.read(lambda tx: tx.all(sql, **params))

    async def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table, but for where the consumers stand, and the files of pages: they follow in the
        background. So does the index of pages, which is brought up to date before."""
        await index_pages(self.workspace.store)
        return await self.workspace.store.read(_dump)

    async def emit(
        self, *topics: str, audience: str | None = "*", payload: Mapping[str, object] = MappingProxyType({})
    ) -> None:
        """One commit with an outbox row for each topic."""

        def tell(tx: Any) -> None:
            for topic in topics:
                tx.emit(topic=topic, kind="thread.changed", id="thr_x", payload=payload, audience=audience)

        await self.workspace.store.write(tell)

    def call(self, principal: Principal | None) -> RequestContext:
        """What a row's function is handed when ``principal`` asks."""
        return RequestContext(workspace=self.workspace, principal_or_none=principal, request_id="test")

    def application_for(self, principal: Principal | None) -> Application[RequestContext]:
        """The service's own rows behind its own guard, where everybody is ``principal``."""

        async def resolve(request: Request) -> Principal | None:
            return principal

        features = self.workspace.features
        return Application(
            router=Router(
                routes_of(features, "public"),
                [row for feature in features for row in feature.sockets],
            ),
            guard=Guard(bind_host="127.0.0.1", port=PORT),
            resolve=resolve,
            context=lambda request, principal: self.call(principal),
            log=self.log,
            clock=self.workspace.clock,
        )

    async def get_as(self, principal: Principal | None, target: str, **fields: str) -> Reply:
        """What ``principal`` would get."""
        named = [(name.replace("_", "-"), value) for name, value in fields.items()]
        request = Request(method="GET", target=target, headers=Headers([("host", HOST), *named]))
        return await self._answer_as(principal, request)

    async def ask_as(self, principal: Principal | None, procedure: str, wanted: Mapping[str, object]) -> Reply:
        """How a procedure answers ``principal``."""
        kinds = {row.name: row.kind for feature in self.workspace.features for row in feature.procedures}
        data = json.dumps(wanted)
        if kinds[procedure] == "query":
            return await self.get_as(principal, f"/trpc/{procedure}?input={quote(data)}")
        fields = [("host", HOST), ("content-type", "application/json")]
        body = BytesBody(data.encode())
        request = Request(method="POST", target=f"/trpc/{procedure}", headers=Headers(fields), body=body)
        return await self._answer_as(principal, request)

    async def _answer_as(self, principal: Principal | None, request: Request) -> Reply:
        response = await self.application_for(principal)(request)
        body = await body_of(response)
        return Reply(response.status, response.headers, body)

    async def synced(self, *subjects: str, address: str = MIA, **more: object) -> list[str]:
        """Mails with these subjects, each a thread of its own, arrived and synced. Returns the threads' ids."""
        found = []
        for subject in subjects:
            wanted = {"address": address, "from": "Noa <noa@example.org>", "subject": subject, "text": "Hi.", **more}
            found.append((await self.mutate("fake.mail.inject", **wanted))["threadId"])
            await self.mutate("fake.mail.syncNow", address=address)
        return found


@asynccontextmanager
async def _app_read_once() -> AsyncIterator[None]:
    """To read and digest the files of the app takes as long as the rest of a boot: once a process is enough."""
    with patch.object(listener, "StaticTree", _KeptTree):
        yield


class _KeptTree:
    @staticmethod
    def load(path: Path, *, off: Iterable[str]) -> StaticTree:
        return app_tree(path, tuple(off))


@asynccontextmanager
async def _statistics_later() -> AsyncIterator[None]:
    """The database's statistics come after their first hour, not at boot as well: those of an empty database say
    nothing, and each connection is opened anew for them, which takes a third of a boot.
    """
    with patch.object(app, "features_of", lambda config: tuple(map(_with_statistics_later, features_of(config)))):
        yield


def _with_statistics_later(feature: Feature) -> Feature:
    if all(job.name != "statistics" for job in feature.jobs):
        return feature
    return replace(
        feature, jobs=tuple(replace(job, at_once=job.at_once and job.name != "statistics") for job in feature.jobs)
    )


@cache
def app_tree(path: Path, off: tuple[str, ...]) -> StaticTree:
    return StaticTree.load(path, off=off)


@asynccontextmanager
async def open_service(
    directory: Path,
    *,
    clock: Clock,
    log: RecordedLog,
    egress: object | None = None,
    before: Callable[[Workspace], None] = lambda workspace: None,
    listeners: Sequence[trio.SocketListener] | None = None,
    environ: Mapping[str, str] = MappingProxyType({}),
    role: Role = "all",
    **settings: str,
) -> AsyncIterator[Service]:
    """Boot on a home under ``directory``, ready when this yields; drained when it ends. ``before`` sees it built.

    With real ``listeners`` the service is reached through them, and not by the methods of :class:`Service` that ask.
    """
    environ = {
        "HOME": str(directory),
        "XDG_CONFIG_HOME": str(directory / "config"),
        "SVC_HOME": str(directory / "home"),
        "SVC_PORT": str(PORT),
        **environ,
        **settings,
    }
    config = read_config(all_settings(), environ, all_rules())
    lay_database(Home.database_of(directory / "home"))
    async with (
        _app_read_once(),
        _statistics_later(),
        workspace_of(config, clock=clock, log=log, rng=random.Random(7), environ=environ) as workspace,
        open_task_group() as nursery,
    ):
        if egress is not None:
            workspace.egress = cast(Egress, egress)
        before(workspace)
        service = Service(workspace, log)
        public, internal = ([cast(trio.SocketListener, one)] for one in (service.listener, service.internal))
        nursery.start_soon(partial(run, workspace, listeners or public, internal=internal, role=role))
        if listeners is None:
            await service.get("/livez")  # the listener keeps what comes early: an answer means that it serves
        yield service
        workspace.root.drain("test over")


def _result(reply: Reply) -> Any:
    answer: Any = json.loads(reply.body)
    if "error" in answer:
        raise RpcError(answer["error"])
    return answer["result"].get("data")


def _dump(tx: ReadTx) -> dict[str, list[tuple[Any, ...]]]:
    names = [name for (name,) in tx.all("select name from sqlite_schema where type = 'table' order by name")]
    return {
        name: tx.all(f"select * from {name}") for name in names if name != "consumers" and not name.startswith("okf_")
    }
