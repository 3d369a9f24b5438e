"""The one door to a credential: who may acquire what, and what the audit says afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from svc.capabilities import Broker, Door, NotGranted, door_of
from svc.capabilities.actions import KEEP_MS
from svc.capability import Grants
from svc.clock import DAY_MS, VirtualClock
from svc.store import Tx
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service

CANARY = b"canary-5d81-token"


async def keep(service: Service, name: str, value: bytes = CANARY) -> None:
    await service.workspace.store.write(service.secrets.write, name, value)


async def audit(service: Service) -> list[tuple[object, ...]]:
    return await service.rows("select name, actor, purpose, run_id, outcome from capability_audit order by seq")


def door(service: Service, *patterns: str, run_id: str | None = None) -> Door:
    broker = service.workspace.service(Broker)
    return Door(broker=broker, actor="some feature", grants=Grants(frozenset(patterns)), run_id=run_id)


async def test_what_is_granted_is_acquired_and_written_down(service: Service) -> None:
    await keep(service, "llm.a")
    assert await door(service, "llm.a", run_id="run_1").acquire("llm.a", purpose="ask a model") == CANARY
    assert await door(service, "llm.b").acquire("llm.b", purpose="ask a model") is None
    assert await audit(service) == [
        ("llm.a", "some feature", "ask a model", "run_1", "granted"),
        ("llm.b", "some feature", "ask a model", None, "missing"),
    ]


async def test_what_is_not_granted_is_refused_and_written_down(service: Service) -> None:
    await keep(service, "llm.a")
    with pytest.raises(NotGranted) as caught:
        await door(service, "llm.b").acquire("llm.a", purpose="curiosity")
    assert caught.value.code == "forbidden"
    assert caught.value.data == {"reason": "not_granted"}
    assert await audit(service) == [("llm.a", "some feature", "curiosity", None, "refused")]


@pytest.mark.parametrize(
    ("pattern", "name", "allowed"),
    [
        ("idp.oauth.*", "idp.oauth.mia@example.org", True),
        ("idp.oauth.*", "idp.oauth", False),
        ("idp.oauth", "idp.oauth.mia@example.org", False),
        ("idp.oauth", "idp.oauth", True),
        ("llm.*", "LLM.a", False),
        ("", "llm.a", False),
        ("*", "anything", True),
    ],
)
def test_a_grant_is_a_name_or_a_prefix(pattern: str, name: str, allowed: bool) -> None:
    assert Grants(frozenset({pattern})).allow(name) is allowed


async def test_without_a_grant_nothing_is_kept_and_nothing_removed(service: Service) -> None:
    await keep(service, "llm.a")
    stranger, store = door(service), service.workspace.store
    with pytest.raises(NotGranted):
        await store.write(stranger.keep, "llm.a", b"mine")
    with pytest.raises(NotGranted):
        await store.write(stranger.remove, "llm.a")
    assert not await store.read(stranger.available, "llm.a")
    assert await store.read(service.secrets.read, "llm.a") == CANARY


async def test_to_ask_whether_there_is_one_acquires_nothing(service: Service) -> None:
    asking, store = door(service, "llm.*"), service.workspace.store
    assert not await store.read(asking.available, "llm.a")
    await keep(service, "llm.a")
    assert await store.read(asking.available, "llm.a")
    assert await audit(service) == []


async def test_a_feature_may_acquire_what_its_row_declares(service: Service) -> None:
    await keep(service, "idp.oauth.mia@example.org")
    name = "idp.oauth.mia@example.org"
    assert await door_of(service.workspace, "connections").acquire(name, purpose="test") == CANARY
    for feature in ("identity", "mail", "no such feature"):
        with pytest.raises(NotGranted):
            await door_of(service.workspace, feature).acquire(name, purpose="test")


async def test_no_value_is_in_a_repr_or_a_file_of_the_home(service: Service) -> None:
    await keep(service, "llm.a")
    granted = door(service, "llm.a")
    await granted.acquire("llm.a", purpose="test")
    assert CANARY.decode() not in repr(granted) + repr(granted.broker) + repr(service.workspace)
    for path in service.workspace.home.path.rglob("*"):
        if path.is_file():
            assert CANARY not in path.read_bytes(), path


async def test_the_audit_forgets_what_is_older_than_ninety_days(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        for purpose, age in (("long ago", KEEP_MS + 1), ("lately", KEEP_MS - DAY_MS)):
            await door(service, "llm.a").acquire("llm.a", purpose=purpose)
            await service.workspace.store.write(age_newest, by=age)
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        await trio.sleep(1)
        assert [purpose for _, _, purpose, _, _ in await audit(service)] == ["lately"]


def age_newest(tx: Tx, *, by: int) -> None:
    tx.run("update capability_audit set at = at - :by where seq = (select max(seq) from capability_audit)", by=by)
