"""Subscriptions on the wire of tRPC: server-sent events, the words for what can't be one, and where they go on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest
import trio

from svc.errors import Conflict, Invalid
from svc.protocol.messages import Request, Response, pour
from svc.protocol.rows import Feed, Procedure, Tell, Wire
from svc.protocol.trpc import RpcLayer
from tests.recorded_log import RecordedLog

from .some_procedures import MEMBER, body_of, mutation, query


class TickInput(Wire, frozen=True):
    count: int
    pause_s: float = 0
    end: str = ""
    last_event_id: str | None = None


@dataclass
class Ticking:
    log: RecordedLog
    ended: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        row: Procedure[str] = Procedure(
            name="tick",
            kind="subscription",
            access="authenticated",
            input=TickInput,
            output=int,
            call=self.tick,
            summary="",
        )
        self.layer: RpcLayer[str] = RpcLayer([row], log=self.log)

    async def tick(self, context: str, wanted: TickInput) -> Feed:
        if wanted.end == "before":
            raise Invalid("Not so - at `$.end`")

        async def feed(tell: Tell) -> None:
            try:
                for number in range(int(wanted.last_event_id or 0) + 1, wanted.count + 1):
                    await trio.sleep(wanted.pause_s)
                    await tell({"i": number}, id=str(number))
                if wanted.end == "refused":
                    raise Conflict("Somebody was faster.")
                if wanted.end == "bug":
                    raise ValueError("the secret reason")
            finally:
                self.ended.append("feed")

        return feed

    async def ask(self, request: Request) -> Response:
        return await self.layer.respond("context", request, MEMBER)


@pytest.fixture
def procedures(log: RecordedLog) -> Ticking:
    return Ticking(log)


def blocks(body: bytes) -> list[str]:
    return body.decode().split("\n\n\n")[1:]


async def test_what_is_told_comes_with_its_id_and_the_end_is_said(procedures: Ticking) -> None:
    response = await procedures.ask(query("tick", {"count": 2}))
    assert (response.status, response.header("content-type")) == (200, "text/event-stream")
    assert blocks(await body_of(response)) == [
        'data: {"i":1}\nid: 1',
        'data: {"i":2}\nid: 2',
        "event: return\ndata: ",
        "",
    ]


@pytest.mark.parametrize(
    ("end", "told", "code", "number"),
    [
        ("before", 0, "BAD_REQUEST", -32600),
        ("refused", 1, "CONFLICT", -32009),
        ("bug", 1, "INTERNAL_SERVER_ERROR", -32603),
    ],
)
async def test_a_refusal_is_an_event_whenever_it_comes(
    procedures: Ticking, end: str, told: int, code: str, number: int
) -> None:
    found = blocks(await body_of(await procedures.ask(query("tick", {"count": 1, "end": end}))))
    assert len(found) == told + 2
    name, _, data = found[told].partition("\n")
    error = json.loads(data.removeprefix("data: "))
    assert name == "event: serialized-error"
    assert (error["code"], error["data"]["code"], error["data"]["path"]) == (number, code, "tick")
    assert "secret" not in found[told]
    assert len(procedures.log.events("error")) == (end == "bug")


@pytest.mark.parametrize(("header", "more"), [("2", ""), ("", "&lastEventId=2"), ("", "&Last-Event-Id=2")])
async def test_it_goes_on_behind_the_last_id_wherever_that_stands(procedures: Ticking, header: str, more: str) -> None:
    request = query("tick", {"count": 3, "lastEventId": "1"}, last_event_id=header)
    request.target += more
    assert blocks(await body_of(await procedures.ask(request)))[0] == 'data: {"i":3}\nid: 3'


async def test_a_subscription_can_be_no_batch_no_stream_and_no_post(procedures: Ticking) -> None:
    batch = await procedures.ask(query("tick,tick", {}, batch=True))
    assert [one["error"]["message"] for one in json.loads(await body_of(batch))] == [
        "Cannot batch subscription calls"
    ] * 2
    assert batch.status == 400
    post = await procedures.ask(mutation("tick", b'{"count":1}'))
    assert (post.status, post.header("allow")) == (405, "GET")
    assert (await procedures.ask(query("tick", {"count": 1}, trpc_accept="application/jsonl"))).status == 400


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("{", "Not JSON-parsable query params"),
        ('{"a":1}', "Invalid connection params shape"),
        ("[]", "Invalid connection params shape"),
    ],
)
async def test_connection_params_have_a_form(procedures: Ticking, said: str, message: str) -> None:
    request = query("tick", {"count": 1})
    request.target += f"&connectionParams={said}"
    response = await procedures.ask(request)
    assert response.status == 400
    found = json.loads(await body_of(response))["error"]
    assert (found["message"], found["code"], found["data"]["code"]) == (message, -32700, "PARSE_ERROR")


async def test_it_ends_with_its_reader_and_with_the_service(procedures: Ticking) -> None:
    for ends in ("gone", "draining"):
        request = query("tick", {"count": 1_000, "pauseS": 1})
        event = trio.Event()
        if ends == "gone":
            request.gone = event.wait
        else:
            request.draining = event
        response = await procedures.ask(request)
        assert not isinstance(response.body, bytes)
        pieces: list[bytes] = []

        async def write(piece: bytes, pieces: list[bytes] = pieces, event: trio.Event = event) -> None:
            pieces.append(piece)
            if len(pieces) == 4:
                event.set()

        await pour(response.body, write)
        assert (len(pieces), procedures.ended.pop()) == (4, "feed")
        assert b"return" not in pieces[-1]


async def test_a_reader_that_breaks_off_is_no_fault_of_the_feed(procedures: Ticking) -> None:
    class Gone(Exception):
        pass

    async def write(piece: bytes) -> None:
        if b'data: {"i"' in piece:
            raise Gone

    response = await procedures.ask(query("tick", {"count": 3}))
    assert not isinstance(response.body, bytes)
    with pytest.RaisesGroup(Gone):
        await pour(response.body, write)
    assert not procedures.log.events("error")
