"""``/ws`` as a client sees it: told once, in order, of what it may know, across any number of reconnects."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st
from trio_websocket import ConnectionClosed, open_websocket
from wsproto.events import Ping

from svc.clock import VirtualClock
from svc.listening import Front
from svc.principal import Principal
from svc.protocol import Request, Response, Socket
from svc.store import prune
from svc.surface import Surface
from svc.surface.live import MAX_BYTES_BEHIND, MAX_FRAMES_BEHIND, MAX_TOPICS, live
from svc.workspace import RequestContext, Workspace
from tests.identity.people import sign_in
from tests.protocol.socket_client import served, upgrade_request
from tests.quiet import all_quiet
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S, SHARES_FIXTURES, examples
from tests.support.service import MIA, LiveSocket, Service, open_service

BOTH = ("mail", "accounts")


async def newest(service: Service) -> int:
    return service.workspace.store.outbox.head()


async def test_the_first_word_is_ready_with_the_position(service: Service) -> None:
    await service.emit("mail", "mail")
    socket = await service.socket()
    assert socket.status == 101
    assert await socket.hear() == {"type": "ready", "seq": await newest(service)}


async def test_an_answer_to_a_query_says_from_where_nothing_after_it_is_missed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    rpc = service.workspace.service(Surface).rpc
    respond = rpc.respond

    async def busy(context: RequestContext, request: Request, principal: Principal | None) -> Response:
        response = await respond(context, request, principal)
        await service.emit("mail")  # the answer may know it or not
        return response

    await service.emit("mail")
    monkeypatch.setattr(rpc, "respond", busy)
    reply = await service.get("/trpc/health.ping")
    assert reply.header("x-svc-seq") == "1"
    socket = await service.socket()
    await socket.say(type="subscribe", topics=["mail"], after=1)
    assert [frame["seq"] for frame in await socket.hear_all()] == [2, 2]


async def test_a_stranger_does_not_learn_when_something_happens(service: Service) -> None:
    mia = await sign_in(service, MIA)
    assert (await mia.ask("GET", "/trpc/health.ping")).header("x-svc-seq") is not None
    reply = await service.get("/trpc/health.ping")
    assert (reply.status, reply.header("x-svc-seq")) == (200, None)


async def test_a_plain_request_is_told_to_upgrade(service: Service) -> None:
    reply = await service.get("/ws")
    assert (reply.status, reply.header("upgrade")) == (426, "websocket")


async def test_archiving_is_heard_by_who_listens_to_mail(service: Service) -> None:
    (thread_id,) = await service.synced("Hello")
    listener, deaf = await service.live("mail"), await service.live()
    await listener.hear_all()
    await service.mutate("mail.archive", threadIds=[thread_id])
    event = await listener.hear()
    assert (event["type"], event["topic"], event["kind"], event["id"]) == ("event", "mail", "thread.changed", thread_id)
    assert event["seq"] <= await newest(service)
    assert isinstance(event["payload"], dict)
    assert await deaf.hear_all() == []


async def test_after_unsubscribing_nothing_comes_and_other_topics_go_on(service: Service) -> None:
    socket = await service.live(*BOTH)
    await socket.say(type="unsubscribe", topics=["mail"])
    await socket.hear_all()
    await service.emit("mail", "accounts", "mail")
    assert [frame["topic"] for frame in await heard(socket)] == ["accounts"]


async def test_subscribing_twice_repeats_nothing(service: Service) -> None:
    socket = await service.live("mail", after=0)
    await service.emit("mail")
    first = await heard(socket)
    await socket.say(type="subscribe", topics=["mail"], after=0)
    assert len(first) == 1
    assert await heard(socket) == []


async def test_every_topic_of_the_contract_can_be_subscribed_to(service: Service) -> None:
    topics = ("mail", "accounts", "pages", "files", "tasks", "runs", "notifications")
    socket = await service.live(*topics)
    await service.emit("runs", "notifications")
    assert [frame["topic"] for frame in await heard(socket)] == ["runs", "notifications"]


async def test_a_topic_nobody_knows_is_an_error_and_the_known_ones_count(service: Service) -> None:
    socket = await service.live("mail", "weather")
    error = await socket.hear()
    assert (error["type"], error["code"]) == ("error", "invalid")
    assert "weather" in error["message"]
    await socket.hear_all()
    await service.emit("mail")
    assert [frame["topic"] for frame in await heard(socket)] == ["mail"]


GARBAGE = (
    "",
    "no json",
    "[]",
    "null",
    "{}",
    '{"type":"subscribe"}',
    '{"type":"subscribe","topics":"mail"}',
    '{"type":"subscribe","topics":["mail"],"after":-1}',
    '{"type":"subscribe","topics":["mail"],"after":"7"}',
    '{"type":"subscribe","topics":["mail"],"after":1e999}',
    '{"type":"fire"}',
    "[" * 100_000,
    '{"type":"subscribe","topics":' + str(["t"] * (MAX_TOPICS + 1)).replace("'", '"') + "}",
    b"\xff\xfe",
    "\ud7ff" * 70_000,
)


async def test_a_frame_that_means_nothing_is_answered_and_survived(service: Service) -> None:
    socket = await service.live("mail")
    await socket.hear_all()
    for garbage in GARBAGE:
        await socket.client.say(garbage)
        answer = await socket.hear()
        assert (answer["type"], answer["code"]) == ("error", "invalid"), garbage[:60]
        assert len(answer["message"]) <= 500
    await service.emit("mail")
    assert len(await heard(socket)) == 1
    assert not service.log.events("error")


async def test_a_ping_is_answered(service: Service) -> None:
    socket = await service.live()
    await socket.say(type="ping")
    assert await socket.hear() == {"type": "pong"}


@pytest.mark.thorough
async def test_an_idle_socket_that_answers_pings_stays_for_hours(service: Service) -> None:
    socket = await service.live("mail")
    with trio.move_on_after(2 * 3_600):
        while isinstance(event := await socket.client.event(), Ping):
            await socket.client.send(event.response())
    await service.emit("mail")
    assert len(await heard(socket)) == 1


# Resuming


async def test_a_reconnect_hears_what_it_missed_and_nothing_twice(service: Service) -> None:
    first = await service.live("mail")
    await first.hear_all()
    await service.emit("mail")
    (seen,) = await heard(first)
    await trio.aclose_forcefully(first.client.stream)
    await service.emit("accounts", "mail", "mail")
    second = await service.live("mail", after=seen["seq"])
    assert [frame["seq"] for frame in await heard(second)] == [seen["seq"] + 2, seen["seq"] + 3]
    await service.emit("mail")
    assert [frame["seq"] for frame in await heard(second)] == [seen["seq"] + 4]


async def test_more_than_a_page_of_missed_news_comes_whole_and_in_order(service: Service) -> None:
    await service.emit(*["mail", "accounts"] * 700)
    socket = await service.live("mail", after=0)
    assert [frame["seq"] for frame in await heard(socket)] == list(range(1, 1_400, 2))


@pytest.mark.parametrize("after", [1, 10_000_000, 2**60], ids=["pruned", "of another life", "absurd"])
async def test_who_asks_for_what_is_not_kept_is_told_to_fetch_anew(service: Service, after: int) -> None:
    await service.emit(*["mail"] * 6)
    await service.workspace.store.write(prune, keep_ms=10**9, keep_rows=2)
    socket = await service.live("mail", after=after)
    assert await socket.hear() == {"type": "reset", "seq": 6}
    await service.emit("mail")
    assert [frame["seq"] for frame in await heard(socket)] == [7]


async def test_who_knows_all_but_what_is_kept_needs_no_reset(service: Service) -> None:
    await service.emit(*["mail"] * 6)
    await service.workspace.store.write(prune, keep_ms=10**9, keep_rows=2)
    socket = await service.live("mail", after=4)
    assert [frame["seq"] for frame in await heard(socket)] == [5, 6]


async def test_a_number_beyond_what_the_database_can_count_to_is_survived(service: Service) -> None:
    socket = await service.live("mail", after=2**63)
    assert (await socket.hear())["type"] in ("error", "reset")
    await service.emit("mail")
    assert len(await heard(socket)) == 1


Step = tuple[str, ...] | int | None
STEPS = st.lists(
    st.one_of(
        st.lists(st.sampled_from(["mail", "accounts", "files"]), min_size=1, max_size=5).map(tuple),  # a commit
        st.integers(min_value=0, max_value=6),  # so many frames are read
        st.none(),  # the connection is cut, with what was under way on it
    ),
    max_size=25,
)


@pytest.mark.thorough
@settings(max_examples=examples(15), suppress_health_check=SHARES_FIXTURES)
@given(steps=STEPS)
async def test_whenever_the_connection_is_cut_nothing_is_missed_and_nothing_repeated(steps: list[Step]) -> None:
    clock = VirtualClock()
    with tempfile.TemporaryDirectory() as home:
        async with open_service(Path(home), clock=clock, log=RecordedLog(clock), PROVIDERS="fake") as service:
            known: list[int] = []
            socket = await service.live(*BOTH, after=0)
            for step in [*steps, None, 0]:
                if step is None:
                    await trio.aclose_forcefully(socket.client.stream)
                    socket = await service.live(*BOTH, after=known[-1] if known else 0)
                elif isinstance(step, tuple):
                    await service.emit(*step)
                    await all_quiet()
                else:
                    known += [frame["seq"] for frame in await some(socket, step)]
            known += [frame["seq"] for frame in await heard(socket)]
            told = await service.rows("select seq from outbox where topic in ('mail', 'accounts') order by seq")
            assert known == [seq for (seq,) in told]


async def heard(socket: LiveSocket) -> list[dict[str, Any]]:
    """What has been published and is not read yet."""
    await all_quiet()
    return await socket.hear_all()


async def some(socket: LiveSocket, most: int) -> list[dict[str, Any]]:
    """At most so many frames of those that wait."""
    frames: list[dict[str, Any]] = []
    with trio.move_on_after(0.001):
        while len(frames) < most:
            frames.append(await socket.hear())
    return frames


# Whose news it is


async def test_a_person_hears_of_her_own_and_of_everyones(service: Service, log: RecordedLog) -> None:
    mia = Principal(user_id="usr_mia", device_id="dev_mia", is_admin=True, via="session")
    for audience in ("usr_mia", "usr_noa", "*", None):
        await service.emit("mail", audience=audience)

    async def handler(socket: Socket) -> None:
        await live(service.call(mia), Request(method="GET", target="/ws", headers=upgrade_request().headers), socket)

    async with served(handler, log) as client:
        socket = LiveSocket(client, client.head)
        await socket.hear()
        await socket.say(type="subscribe", topics=["mail"], after=0)
        replayed = [frame["seq"] for frame in await socket.hear_all()]
        for audience in ("usr_mia", "usr_noa", "*", None):
            await service.emit("mail", audience=audience)
        live_ones = [frame["seq"] for frame in await heard(socket)]
        await socket.leave()
    assert (replayed, live_ones) == ([1, 3], [5, 7])


# The end of a socket


async def test_who_falls_too_far_behind_is_told_to_come_again(service: Service) -> None:
    socket = await service.socket(pair=trio.testing.lockstep_stream_pair)
    await socket.hear()
    await socket.say(type="subscribe", topics=["mail"])
    await socket.hear_all()
    await service.emit("mail")  # its sending waits for the client to read
    await all_quiet()
    await service.emit(*["mail"] * MAX_FRAMES_BEHIND)
    await service.emit("mail")
    assert (await socket.hear())["seq"] == 1
    assert await socket.closed() == 1013
    again = await service.live("mail", after=1)
    assert len(await heard(again)) == MAX_FRAMES_BEHIND + 1


async def test_few_but_large_frames_put_a_client_behind_too(service: Service) -> None:
    socket = await service.socket(pair=trio.testing.lockstep_stream_pair)
    await socket.hear()
    await socket.say(type="subscribe", topics=["mail"])
    await socket.hear_all()
    for _ in range(4):
        await service.emit("mail", payload={"text": "x" * (MAX_BYTES_BEHIND // 2)})
        await all_quiet()
    assert (await socket.hear())["seq"] == 1
    assert await socket.closed() == 1013


async def test_a_client_that_reads_nothing_holds_up_nobody_and_is_cut(service: Service) -> None:
    stuck = await service.socket(pair=trio.testing.lockstep_stream_pair)
    await stuck.hear()
    await stuck.say(type="subscribe", topics=["mail"])
    await stuck.hear_all()
    other = await service.live("mail")
    await service.emit("mail")
    assert len(await heard(other)) == 1
    await trio.sleep(60)
    assert await stuck.closed() is None
    assert not service.log.events("error")


async def test_a_drain_says_going_away(service: Service) -> None:
    socket = await service.live("mail")
    await socket.hear_all()
    service.workspace.root.drain("test")
    assert await socket.closed() == 1001


@pytest.mark.wall_clock
@pytest.mark.parametrize("front", ["own", "hypercorn"])
async def test_the_public_client_hears_the_same_over_a_real_socket(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, front: Front
) -> None:
    def choose(workspace: Workspace) -> None:
        workspace.service(Surface).front = front

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    async with open_service(
        tmp_path, clock=wall, log=log, listeners=listeners, before=choose, PROVIDERS="fake"
    ) as service:
        with trio.fail_after(HANGS_S):
            async with open_websocket("127.0.0.1", port, "/ws", use_ssl=False) as socket:
                assert '"ready"' in await socket.get_message()
                await socket.send_message('{"type":"subscribe","topics":["mail"],"after":0}')
                await service.emit("mail")
                assert '"topic":"mail"' in await socket.get_message()
                await service.emit(*["mail"] * 20)  # while it listens
                assert [json.loads(await socket.get_message())["seq"] for _ in range(20)] == list(range(2, 22))
                service.workspace.root.drain("test")
                with pytest.raises(ConnectionClosed) as closed:
                    await socket.get_message()
    assert closed.value.reason is not None
    assert closed.value.reason.code == 1001
