"""A person's preferences are their own, in each of their browsers, and a change leaves all others alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from svc.clock import VirtualClock
from svc.preferences.model import MAX_KEYS
from tests.identity.people import Person, sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import RpcError, Service, open_service

AS_IT_COMES = {
    "language": "",
    "hours": "auto",
    "dateOrder": "auto",
    "weekStart": "auto",
    "startPage": "inbox",
    "startAccount": "",
    "keys": {},
}


@pytest.fixture
async def service(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as opened:
        yield opened


async def test_what_is_not_named_stays(service: Service) -> None:
    assert await service.query("preferences.get") == AS_IT_COMES
    await service.mutate("preferences.set", hours="24", keys={"Mail e": ["y"], "Mail h": []})
    told = await service.mutate("preferences.set", language="de")
    assert told == {**AS_IT_COMES, "hours": "24", "language": "de", "keys": {"Mail e": ["y"], "Mail h": []}}
    assert await service.query("preferences.get") == told
    await service.mutate("preferences.set", hours="auto", language="", keys={})
    assert await service.query("preferences.get") == AS_IT_COMES


async def test_they_go_to_who_claims_and_to_nobody_else(service: Service) -> None:
    await service.mutate("preferences.set", startPage="tasks")
    mia = await sign_in(service, "mia@example.org")
    assert (await mia.query("preferences.get"))["startPage"] == "tasks"
    invite = (await mia.mutate("auth.createInvite"))["code"]
    jonas = await sign_in(service, "jonas@example.org", invite=invite)
    assert await jonas.query("preferences.get") == AS_IT_COMES
    await jonas.mutate("preferences.set", startPage="last")
    assert (await mia.query("preferences.get"))["startPage"] == "tasks"
    again = await sign_in(service, "jonas@example.org")
    assert (await again.query("preferences.get"))["startPage"] == "last"
    with pytest.raises(RpcError):
        await Person(service).query("preferences.get")


@pytest.mark.parametrize(
    "wanted",
    [
        {"hours": "13"},
        {"language": "not a tag"},
        {"startPage": "https://example.org"},
        {"keys": {"Mail e": ["x"] * (MAX_KEYS + 1)}},
        {"keys": {f"Mail {n}": [] for n in range(201)}},
        {"keys": {"Mail e": [""]}},
    ],
    ids=str,
)
async def test_what_is_no_choice_or_too_much_is_refused(service: Service, wanted: dict[str, object]) -> None:
    with pytest.raises(RpcError):
        await service.mutate("preferences.set", **wanted)
    assert await service.query("preferences.get") == AS_IT_COMES
