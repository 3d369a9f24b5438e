"""``events.recent``: the events that concern a caller, oldest first, by type, after a given number."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from svc.clock import DAY_MS, VirtualClock
from svc.events.feature import ANALYSE_S, PRUNE_S, RecentInput, recent
from svc.principal import UNCLAIMED, Principal
from svc.store import Tx
from tests.support.service import RpcError, Service


async def record(service: Service, *types: str, audience: str | None = "*") -> None:
    def happen(tx: Tx) -> None:
        for number, type_ in enumerate(types):
            tx.record(type=type_, payload={"number": number}, audience=audience, device_id="dev_test")

    await service.workspace.store.write(happen)


def numbers(events: list[dict[str, Any]]) -> list[int]:
    return [event["seq"] for event in events]


async def test_a_new_mail_is_an_event_with_what_a_rule_needs(service: Service) -> None:
    (thread_id,) = await service.synced("Lunch?")
    (event,) = await service.query("events.recent", type="mail-received")
    assert event["seq"] == 1
    assert event["at"].endswith("Z")
    assert event["deviceId"]
    payload = event["payload"]
    assert (payload["subject"], payload["snippet"], payload["threadId"]) == ("Lunch?", "Hi.", thread_id)
    assert "noa@example.org" in str(payload["sender"])
    assert {"sender", "subject", "snippet", "accountId", "messageId", "threadId"} <= set(payload)


async def test_without_a_number_the_newest_come_oldest_first(service: Service) -> None:
    assert await service.query("events.recent") == []
    await record(service, *["a"] * 150)
    assert numbers(await service.query("events.recent")) == list(range(51, 151))
    assert numbers(await service.query("events.recent", limit=2)) == [149, 150]


async def test_with_a_number_the_next_ones_come_page_by_page(service: Service) -> None:
    await record(service, *["a"] * 5)
    assert numbers(await service.query("events.recent", after=0, limit=2)) == [1, 2]
    assert numbers(await service.query("events.recent", after=2, limit=2)) == [3, 4]
    assert numbers(await service.query("events.recent", after=5)) == []


async def test_a_type_is_taken_exactly(service: Service) -> None:
    await record(service, "a", "b", "a", "ab")
    assert numbers(await service.query("events.recent", type="a")) == [1, 3]
    assert numbers(await service.query("events.recent", type="a", after=1)) == [3]
    assert numbers(await service.query("events.recent", type="a' or 1=1")) == []


NONSENSE: tuple[dict[str, object], ...] = (
    {"limit": 0},
    {"limit": 1_001},
    {"limit": "10"},
    {"after": -1},
    {"after": 1.5},
    {"after": 2**63},
    {"after": 10**400},
    {"type": "x" * 101},
    {"type": 7},
)


async def test_nonsense_is_refused_in_words(service: Service) -> None:
    for wanted in NONSENSE:
        with pytest.raises(RpcError) as refused:
            await service.query("events.recent", **wanted)
        assert refused.value.code == "BAD_REQUEST", wanted


async def test_a_person_is_told_of_her_own_and_of_everyones(service: Service) -> None:
    for audience in ("usr_mia", "usr_noa", "*", None):
        await record(service, "a", audience=audience)
    mia = Principal(user_id="usr_mia", device_id="dev_mia", is_admin=True, via="session")

    async def seen_by(principal: Principal) -> list[int]:
        found = await service.workspace.store.read(recent, principal, wanted=RecentInput())
        return [event["seq"] for event in msgspec.json.decode(msgspec.json.encode(found))]

    assert await seen_by(mia) == [1, 3]
    assert await seen_by(UNCLAIMED) == [1, 2, 3, 4]


@pytest.mark.thorough
async def test_events_outlive_the_news_of_them(service: Service, wall: VirtualClock) -> None:
    """The outbox is pruned after a week; the record of what happened is not."""
    await record(service, "a")
    await service.emit("mail")
    wall.offset_ms += 8 * DAY_MS
    await trio.sleep(PRUNE_S + 1)
    assert numbers(await service.query("events.recent")) == [1]
    assert await service.rows("select seq from outbox") == []


@pytest.mark.thorough
async def test_each_hour_the_query_planner_learns_how_full_the_tables_are(service: Service, clock: MockClock) -> None:
    for rows in (5, 9):
        await record(service, *["page-changed"] * (rows - len(await service.query("events.recent"))))
        clock.jump(ANALYSE_S - 60)
        await trio.sleep(61)
        known = await service.rows("select max(cast(stat as integer)) from sqlite_stat1 where tbl = 'events'")
        assert known == [(rows,)]
