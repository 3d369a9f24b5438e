"""The model vendors behind the broker, on real sockets: the key goes in, the answer streams out, its cost counts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from svc.broker import forwarding
from svc.broker.forwarding import Streamed
from svc.broker.in_flight import MAX_BODY_BYTES, MAX_CALLS_EACH, InFlight
from svc.broker.vendors import Outgoing, Vendors
from svc.clock import VirtualClock
from svc.protocol.egress import EgressFault
from tests.broker.broker_service import (
    KEY_A,
    KEY_B,
    Heard,
    ask,
    audited,
    begun,
    open_broker,
    run_token,
    usage,
    vendor_with,
)
from tests.broker.test_usage import A_END, A_START, A_TEXT, B_DONE, B_END, B_TEXT
from tests.protocol.raw_server import Script, Server, says
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = pytest.mark.wall_clock

MESSAGES = "/llm-a/v1/messages"
CHAT = "/llm-b/v1/chat/completions"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"


def whole(body: object, *fields: str, status: str = "200 OK") -> bytes:
    data = json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(data)}", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def never_again() -> Script:
    async def script(stream: trio.SocketStream) -> None:
        await trio.sleep_forever()

    return script


class ServiceWithVendor:
    """A service whose vendor A is a server that a test scripts."""

    def __init__(self, service: Service, vendor: Server) -> None:
        self.service = service
        self.vendor = vendor

    def says(self, data: bytes) -> None:
        self.vendor.script = says(data)

    @property
    def heard(self) -> Heard:
        return Heard.read(self.vendor.heard[-1])

    async def ends(self, *said: int | None) -> None:
        """Until this is noted as used."""

        async def is_noted() -> bool:
            return await usage(self.service) == said

        await until(is_noted, what=f"{said} to be noted as used")

    async def is_empty(self) -> None:
        """Until nothing is under way."""

        in_flight = self.service.workspace.service(InFlight)
        await until(lambda: in_flight.calls == 0, what="all calls to end", tell=lambda: in_flight.calls)


@pytest.fixture
async def scripted(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[ServiceWithVendor]:
    async with (
        vendor_with(says(whole({})), vendor="a") as (vendor, url),
        open_broker(tmp_path, clock=wall, log=log, SVC_LLM_A_URL=url, SVC_LLM_B_URL=url) as service,
    ):
        yield ServiceWithVendor(service, vendor)


@pytest.mark.parametrize(
    ("path", "grant", "said"),
    [
        (MESSAGES, "llm.a", {"content": [], "usage": {"input_tokens": 10, "output_tokens": 2}}),
        (CHAT, "llm.b", {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2}}),
    ],
)
async def test_a_whole_answer_comes_back_and_is_counted(
    scripted: ServiceWithVendor, path: str, grant: str, said: object
) -> None:
    scripted.says(whole(said))
    token = await run_token(scripted.service, grant)
    reply = await ask(scripted.service, path, {"model": "m"}, run=token)
    assert (reply.status, reply.json, reply.header("content-type")) == (200, said, "application/json")
    assert await usage(scripted.service) == (10, 2)
    assert await audited(scripted.service) == [(grant, "run", "granted")]


async def test_the_vendor_gets_path_and_body_as_they_are_and_our_key(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with (
        vendor_with(says(whole({})), vendor="a") as (a, url_a),
        vendor_with(says(whole({})), vendor="b") as (b, url_b),
        open_broker(tmp_path, clock=wall, log=log, SVC_LLM_A_URL=url_a, SVC_LLM_B_URL=url_b) as service,
    ):
        token = await run_token(service, "llm.*")
        body = b'{ "model":"m",\n"odd": "\\u00e9" }'
        forged = {
            "x-api-key": "mine",
            "cookie": "a=b",
            "proxy-authorization": "x",
            "anthropic-version": "2023-06-01",
            "anthropic-beta": "new",
            "openai-beta": "new",
            "x-secret-hop": "y",
            "connection": "close, anthropic-beta",
            "accept-encoding": "gzip",
        }
        for path in ("/llm-a/v1/messages?beta=true&a=%2F", "/llm-b/v1/chat%20x/completions?"):
            assert (await ask(service, path, body, run=token, fields=forged)).status == 200
        heard_a, heard_b = Heard.read(a.heard[0]), Heard.read(b.heard[0])
        assert heard_a.line == "POST /v1/messages?beta=true&a=%2F HTTP/1.1"
        assert heard_b.line == "POST /v1/chat%20x/completions HTTP/1.1"
        assert (heard_a.body, heard_b.body) == (body, body)
        assert heard_a.headers["anthropic-version"] == "2023-06-01"
        assert heard_b.headers["openai-beta"] == "new"
        assert heard_b.headers["authorization"] == f"Bearer {KEY_B}"
        allowed = {"host", "content-length", "content-type", "accept", "accept-encoding", "user-agent"}
        assert set(heard_a.headers) - allowed == {"anthropic-version", "x-api-key"}
        assert set(heard_b.headers) - allowed == {"openai-beta", "authorization"}
        assert heard_a.headers["accept-encoding"] == "identity"
        for raw in (*a.heard, *b.heard):
            assert token.encode() not in raw


async def test_each_event_reaches_the_run_before_the_next_is_sent(scripted: ServiceWithVendor) -> None:
    may_go_on = trio.Semaphore(0)
    events = [A_START, A_TEXT, A_END]

    async def script(stream: trio.SocketStream) -> None:
        await stream.send_all(STREAM)
        for event in events:
            await stream.send_all(chunk(event))
            await may_go_on.acquire()
        await stream.send_all(LAST)

    scripted.vendor.script = script
    stream = await begun(scripted.service, MESSAGES, {"stream": True}, run=await run_token(scripted.service, "llm.a"))
    seen = b""
    with trio.fail_after(HANGS_S):
        for event in events:
            while not seen.endswith(chunk(event)):
                seen += await stream.receive_some()
            may_go_on.release()
        while not seen.endswith(LAST):
            seen += await stream.receive_some()
    assert b"content-type: text/event-stream" in seen
    assert await usage(scripted.service) == (125, 15)
    await stream.aclose()


@pytest.mark.parametrize(("events", "said"), [((B_TEXT, B_END, B_DONE), (9, 4)), ((B_TEXT, B_DONE), (None, None))])
async def test_what_a_stream_does_not_say_is_unknown_and_not_zero(
    scripted: ServiceWithVendor, events: tuple[bytes, ...], said: tuple[int | None, ...]
) -> None:
    scripted.says(STREAM + b"".join(map(chunk, events)) + LAST)
    reply = await ask(scripted.service, CHAT, {}, run=await run_token(scripted.service, "llm.b"))
    assert reply.body == b"".join(events)
    assert await usage(scripted.service) == said


async def test_a_run_that_hangs_up_does_not_lose_what_it_used(scripted: ServiceWithVendor) -> None:
    gone = trio.Event()

    async def script(stream: trio.SocketStream) -> None:
        await stream.send_all(STREAM + chunk(A_START))
        await gone.wait()
        for _ in range(20):
            await stream.send_all(chunk(A_TEXT))
        await stream.send_all(chunk(A_END) + LAST)

    scripted.vendor.script = script
    stream = await begun(scripted.service, MESSAGES, {}, run=await run_token(scripted.service, "llm.a"))
    with trio.fail_after(HANGS_S):
        while A_START not in await stream.receive_some():
            pass
    await stream.aclose()
    gone.set()
    await scripted.ends(125, 15)
    await scripted.is_empty()


@pytest.mark.parametrize("ends_in", ["more and more", "silence"])
async def test_what_nobody_reads_is_read_on_within_a_bound(
    scripted: ServiceWithVendor, monkeypatch: pytest.MonkeyPatch, ends_in: str
) -> None:
    monkeypatch.setattr(forwarding, "READ_ON_BYTES" if ends_in == "more and more" else "READ_ON_S", 0.1)
    gone = trio.Event()

    async def script(stream: trio.SocketStream) -> None:
        await stream.send_all(STREAM + chunk(A_START))
        await gone.wait()
        await stream.send_all(chunk(A_TEXT))
        while ends_in == "more and more":
            await stream.send_all(chunk(A_TEXT))
        await trio.sleep_forever()

    scripted.vendor.script = script
    stream = await begun(scripted.service, MESSAGES, {}, run=await run_token(scripted.service, "llm.a"))
    with trio.fail_after(HANGS_S):
        while A_START not in await stream.receive_some():
            pass
    await stream.aclose()
    gone.set()
    await scripted.ends(125, None)
    await scripted.is_empty()


@pytest.mark.parametrize("status", ["401 Unauthorized", "400 Bad Request", "529 Overloaded"])
async def test_a_refusal_of_the_vendor_is_passed_on_without_the_key_it_echoes(
    scripted: ServiceWithVendor, status: str
) -> None:
    echo = {"error": {"message": f"bad key {KEY_A}, or Bearer {KEY_A}"}}
    scripted.says(whole(echo, f"Request-Id: {KEY_A}-7", "Retry-After: 3", "Set-Cookie: a=b", status=status))
    reply = await ask(scripted.service, MESSAGES, {}, run=await run_token(scripted.service, "llm.a"))
    assert reply.status == int(status[:3])
    masked = "*" * len(KEY_A)
    assert reply.json == {"error": {"message": f"bad key {masked}, or Bearer {masked}"}}
    assert (reply.header("request-id"), reply.header("retry-after")) == (f"{masked}-7", "3")
    assert reply.header("set-cookie") is None
    assert KEY_A not in scripted.service.log.text


async def test_a_key_that_an_event_echoes_in_two_pieces_is_masked(scripted: ServiceWithVendor) -> None:
    half = len(KEY_A) // 2
    first, second = f"data: {KEY_A[:half]}".encode(), f"{KEY_A[half:]}\n\n".encode()
    scripted.says(STREAM + chunk(first) + chunk(second) + LAST)
    reply = await ask(scripted.service, MESSAGES, {}, run=await run_token(scripted.service, "llm.a"))
    assert reply.body == b"data: " + b"*" * len(KEY_A) + b"\n\n"


@pytest.mark.parametrize(
    ("answer", "charges"),
    [
        (b"", True),
        (b"nonsense\r\n\r\n", True),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", True),
    ],
)
async def test_a_vendor_that_gives_no_answer_is_told_in_words_and_asked_once(
    scripted: ServiceWithVendor, answer: bytes, *, charges: bool
) -> None:
    scripted.says(answer)
    reply = await ask(scripted.service, MESSAGES, {}, run=await run_token(scripted.service, "llm.a"))
    assert (reply.status, reply.json["status"]) == (502, 502)
    kept = await scripted.service.rows("select state from model_calls")
    assert kept == ([("reserved",)] if charges else []), "who hung up may charge for it all the same"
    assert len(scripted.vendor.heard) == 1
    assert await usage(scripted.service) == (None, None)
    await scripted.is_empty()


async def test_a_vendor_that_hangs_is_given_up_and_not_asked_again(
    scripted: ServiceWithVendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc.broker.vendors.HEAD_S", 0.2)
    scripted.vendor.script = never_again()
    reply = await ask(scripted.service, MESSAGES, {}, run=await run_token(scripted.service, "llm.a"))
    assert reply.status == 504
    assert len(scripted.vendor.heard) <= 1


@pytest.mark.parametrize("sent", [False, True])
async def test_a_call_of_which_nothing_was_sent_keeps_no_cost(scripted: ServiceWithVendor, *, sent: bool) -> None:
    async def fails(call: Outgoing) -> Streamed:
        raise EgressFault("timeout", "it took too long", may_have_happened=sent)

    scripted.service.workspace.service(Vendors).replace_all(fails)
    reply = await ask(scripted.service, MESSAGES, {}, run=await run_token(scripted.service, "llm.a"))
    assert reply.status == 504
    assert await scripted.service.rows("select state from model_calls") == ([("reserved",)] if sent else [])


async def test_an_answer_that_is_cut_is_cut_and_what_is_known_is_counted(scripted: ServiceWithVendor) -> None:
    scripted.says(STREAM + chunk(A_START) + chunk(A_TEXT))
    stream = await begun(scripted.service, MESSAGES, {}, run=await run_token(scripted.service, "llm.a"))
    seen = b""
    with trio.fail_after(HANGS_S):
        while more := await stream.receive_some():
            seen += more
    assert A_TEXT in seen
    assert not seen.endswith(LAST)
    assert await usage(scripted.service) == (125, None)
    await scripted.is_empty()


async def test_a_vendor_that_is_not_there_is_tried_again_for_nothing_was_sent(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with vendor_with(says(whole({})), vendor="a") as (_, url):
        pass
    port = int(url.rpartition(":")[2])
    listening: list[trio.Nursery] = []
    async with open_broker(tmp_path, clock=wall, log=log, SVC_LLM_A_URL=url) as service, trio.open_nursery() as nursery:
        listening.append(nursery)
        server = Server(says(whole({"late": True})))

        async def comes_late(pause_s: float) -> None:
            listeners = await trio.open_tcp_listeners(port, host="127.0.0.1")
            nursery.start_soon(trio.serve_listeners, server.serve, listeners)

        monkeypatch.setattr(forwarding, "PAUSES_S", (0.0,))
        monkeypatch.setattr(forwarding, "pause", comes_late)
        reply = await ask(service, MESSAGES, {}, run=await run_token(service, "llm.a"))
        assert reply.json == {"late": True}
        nursery.cancel_scope.cancel()


@pytest.mark.thorough
async def test_a_key_that_is_replaced_goes_on_for_calls_under_way_and_is_masked_in_them(
    scripted: ServiceWithVendor,
) -> None:
    service = scripted.service
    replaced = trio.Event()

    async def script(stream: trio.SocketStream) -> None:
        await stream.send_all(STREAM + chunk(A_START))
        await replaced.wait()
        await stream.send_all(chunk(KEY_A.encode()) + LAST)

    scripted.vendor.script = script
    token = await run_token(service, "llm.a")
    stream = await begun(service, MESSAGES, {}, run=token)
    seen = b""
    with trio.fail_after(HANGS_S):
        while A_START not in seen:
            seen += await stream.receive_some()
        await service.mutate("capabilities.set", name="llm.a", value="a-newer-key")
        replaced.set()
        while not seen.endswith(LAST):
            seen += await stream.receive_some()
    assert chunk(b"*" * len(KEY_A)) in seen
    await stream.aclose()
    assert (await ask(service, MESSAGES, {}, run=token)).status == 200
    assert [Heard.read(raw).headers["x-api-key"] for raw in scripted.vendor.heard] == [KEY_A, "a-newer-key"]


@pytest.mark.thorough
async def test_a_run_that_floods_is_held_back_and_others_are_not(scripted: ServiceWithVendor) -> None:
    service = scripted.service
    await service.mutate("models.setCeilings", dayUsd=1_000, runUsd=1_000, dayTokens=10**9)
    scripted.vendor.script = never_again()
    flooding, other = await run_token(service, "llm.a"), await run_token(service, "llm.a")
    streams = [await begun(service, MESSAGES, {}, run=flooding) for _ in range(MAX_CALLS_EACH)]
    await until(lambda: len(scripted.vendor.heard) == MAX_CALLS_EACH, what="the vendor to be asked by all calls")
    reply = await ask(service, MESSAGES, {}, run=flooding)
    assert (reply.status, reply.json["code"], reply.header("retry-after")) == (429, "rate_limited", "1")
    scripted.says(whole({}))
    assert (await ask(service, MESSAGES, {}, run=other)).status == 200
    for stream in streams:
        await stream.aclose()


async def test_a_body_over_the_bound_is_refused_before_it_is_read(scripted: ServiceWithVendor) -> None:
    token = await run_token(scripted.service, "llm.a")
    stream = await begun(scripted.service, MESSAGES, {}, run=token, declared=MAX_BODY_BYTES + 1)
    with trio.fail_after(HANGS_S):
        assert b" 413 " in await stream.receive_some()
    await stream.aclose()
    assert scripted.vendor.heard == []
    await scripted.is_empty()


async def test_the_models_are_listed_and_cost_nothing(scripted: ServiceWithVendor) -> None:
    scripted.says(whole({"data": []}))
    token = await run_token(scripted.service, "llm.a")
    assert (await ask(scripted.service, "/llm-a/v1/models", run=token, method="GET")).json == {"data": []}
    assert scripted.heard.line == "GET /v1/models HTTP/1.1"
    assert (await ask(scripted.service, "/llm-a/v1/models", run=token, method="PUT")).status == 405
    assert (await ask(scripted.service, "/llm-a/v2/models", run=token, method="GET")).status == 404
    assert (await ask(scripted.service, "/llm-a/v1/%2e%2e/admin", run=token, method="GET")).status == 400
    assert await usage(scripted.service) == (None, None)
