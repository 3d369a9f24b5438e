"""``events.live``: the frames of ``/ws`` as server-sent events, resumed by their ids, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from svc.protocol.streaming import INACTIVE_S, PING_S, RETRY_S
from svc.store import prune
from svc.surface.live import MAX_FRAMES_BEHIND, MAX_TOPICS
from tests.identity.people import sign_in
from tests.quiet import all_quiet
from tests.support.events import EventSource
from tests.support.service import MIA, Service
from tests.surface.every_row import SUBSCRIPTIONS


async def live(service: Service, *topics: str, fields: dict[str, str] | None = None, **wanted: object) -> EventSource:
    return await EventSource.open(service, "events.live", {"topics": topics, **wanted}, fields or {})


async def told(source: EventSource, count: int) -> list[Any]:
    return [await source.frame() for _ in range(count)]


async def test_it_begins_with_how_to_stay_connected_and_the_position(service: Service) -> None:
    await service.emit("mail", "mail")
    source = await live(service, "mail")
    assert source.status == 200
    assert "content-type: text/event-stream" in source.head
    assert "cache-control: no-cache, no-transform" in source.head
    assert "x-accel-buffering: no" in source.head
    connected = await source.event()
    assert connected is not None
    assert (connected.name, connected.json) == ("connected", {"reconnectAfterInactivityMs": INACTIVE_S * 1_000})
    assert RETRY_S * 1_000 <= int(connected.retry or 0) < 2 * RETRY_S * 1_000
    ready = await source.event()
    assert ready is not None
    assert (ready.name, ready.id, ready.json) == ("message", "2", {"type": "ready", "seq": 2})


async def test_an_update_comes_as_on_the_socket_with_its_position_as_id(service: Service) -> None:
    source, socket = await live(service, "mail"), await service.live("mail")
    await source.frame()
    await all_quiet()
    await service.emit("accounts", "mail", payload={"a": [1]})
    event = await source.event()
    assert event is not None
    assert event.id == "2"
    assert event.json == await socket.hear()


async def test_who_comes_back_with_the_last_id_misses_nothing_and_hears_nothing_twice(service: Service) -> None:
    source = await live(service, "mail")
    await source.frame()
    await service.emit("mail")
    assert (await source.frame())["seq"] == 1
    await source.aclose()
    await service.emit("accounts", "mail", "mail")
    again = await live(service, "mail", fields={"last-event-id": "1"})
    assert [frame["seq"] for frame in await told(again, 3)] == [4, 3, 4]
    await service.emit("mail")
    assert (await again.frame())["seq"] == 5


async def test_a_link_lost_right_after_the_first_frame_loses_nothing(service: Service) -> None:
    """The first frame says how far others were told; its id is how far this client was."""
    await service.emit("mail", "mail", "mail")
    source = await live(service, "mail", after=1)
    await source.event()
    ready = await source.event()
    assert ready is not None
    assert (ready.json["seq"], ready.id) == (3, "1")
    await source.aclose()
    again = await live(service, "mail", after=1, lastEventId="1")
    assert [frame["seq"] for frame in await told(again, 3)] == [3, 2, 3]


async def test_what_is_no_longer_kept_is_a_reset_that_can_be_resumed_from(service: Service) -> None:
    await service.emit(*["mail"] * 6)
    await service.workspace.store.write(prune, keep_ms=10**9, keep_rows=2)
    source = await live(service, "mail", after=1)
    assert await told(source, 2) == [{"type": "ready", "seq": 6}, {"type": "reset", "seq": 6}]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"topics": ["weather"]}, "There is no topic 'weather' - at `$.topics`"),
        ({"topics": "mail"}, "Expected `array`, got `str` - at `$.topics`"),
        ({}, "Object missing required field `topics`"),
        ({"topics": ["mail"] * (MAX_TOPICS + 1)}, "Expected `array` of length <= 32 - at `$.topics`"),
        ({"topics": ["mail"], "after": -1}, "Expected `int` >= 0 - at `$.after`"),
        ({"topics": ["mail"], "lastEventId": "x"}, "Expected the id of an event - at `$.lastEventId`"),
        ({"topics": ["mail"], "lastEventId": "9" * 40}, "Expected the id of an event - at `$.lastEventId`"),
    ],
)
async def test_wrong_input_is_told_in_the_stream_and_names_the_field(
    service: Service, wanted: dict[str, object], message: str
) -> None:
    source = await EventSource.open(service, "events.live", wanted)
    await source.event()
    error = await source.event()
    assert error is not None
    assert error.name == "serialized-error"
    assert error.json["message"] == message
    assert error.json["data"] == {"code": "BAD_REQUEST", "httpStatus": 400, "path": "events.live"}
    assert await source.event() is None


@pytest.mark.parametrize("name", SUBSCRIPTIONS)
async def test_a_subscription_is_refused_to_whom_it_is_not_for(service: Service, name: str) -> None:
    await sign_in(service, MIA)  # claimed: who brings no cookie is nobody
    source = await EventSource.open(service, name, {"topics": ["mail"]})
    await source.event()
    error = await source.event()
    assert error is not None
    assert (error.name, error.json["data"]["code"]) == ("serialized-error", "UNAUTHORIZED")
    assert await source.event() is None


async def test_a_person_hears_of_her_own_until_her_session_is_revoked(service: Service) -> None:
    mia = await sign_in(service, MIA)
    other = await sign_in(service, MIA)
    source = await live(service, "mail", fields=other.fields)
    await source.frame()
    await service.emit("mail", audience="usr_noa")
    await service.emit("mail", audience="*")
    assert (await source.frame())["type"] == "event"
    (session,) = [row for row in await mia.query("auth.sessions") if not row["current"]]
    await mia.mutate("auth.revokeSession", id=session["id"])
    ended = await source.event()
    assert ended is not None
    assert (ended.name, ended.json["data"]["code"]) == ("serialized-error", "UNAUTHORIZED")
    assert await source.event() is None


@pytest.mark.thorough
async def test_a_silent_stream_is_kept_alive_for_hours(service: Service) -> None:
    source = await live(service, "mail")
    await source.frame()
    began = trio.current_time()
    for _ in range(500):
        ping = await source.event()
        assert ping is not None
        assert ping.name == "ping"
    assert trio.current_time() - began == pytest.approx(500 * PING_S)
    await service.emit("mail")
    assert (await source.frame())["seq"] == 1


async def test_a_drain_ends_it_between_two_events_without_a_return_so_that_its_client_comes_back(
    service: Service,
) -> None:
    source = await live(service, "mail")
    await source.frame()
    service.workspace.root.drain("test")
    assert await source.event() is None
    assert not service.log.events("error")


async def test_who_falls_too_far_behind_is_told_to_come_again(service: Service) -> None:
    wanted = {"topics": ["mail"]}
    source = await EventSource.open(service, "events.live", wanted, pair=trio.testing.lockstep_stream_pair)
    await source.frame()
    await service.emit("mail")  # its sending waits for the client to read
    await all_quiet()
    await service.emit(*["mail"] * MAX_FRAMES_BEHIND)
    await service.emit("mail")
    assert (await source.frame())["seq"] == 1
    error = await source.event()
    assert error is not None
    assert (error.name, error.json["data"]["code"]) == ("serialized-error", "SERVICE_UNAVAILABLE")
    again = await live(service, "mail", fields={"last-event-id": "1"})
    assert len(await told(again, MAX_FRAMES_BEHIND + 2)) == MAX_FRAMES_BEHIND + 2


async def test_who_leaves_is_let_go(service: Service) -> None:
    before = len(service.workspace.store.outbox._subscriptions)
    source = await live(service, "mail")
    await source.frame()
    assert len(service.workspace.store.outbox._subscriptions) == before + 1
    await source.aclose()
    await all_quiet()
    assert len(service.workspace.store.outbox._subscriptions) == before
    assert not service.log.events("error")
