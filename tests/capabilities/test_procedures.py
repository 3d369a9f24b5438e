"""Credentials as an admin sets them: what may be set, what is refused, and that no answer contains one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from svc.capabilities import Broker, NotGranted
from svc.clock import VirtualClock
from tests.capabilities.scripted_service import Answer, ScriptedService
from tests.recorded_log import RecordedLog
from tests.support.service import RpcError, Service, open_service

CANARY = "canary-77ab-key"


async def row(service: Service, name: str) -> dict[str, Any]:
    (found,) = [one for one in await service.query("capabilities.list") if one["name"] == name]
    return dict(found)


@pytest.mark.thorough
async def test_every_row_of_the_specification_can_be_set(service: Service) -> None:
    names = {one["name"] for one in await service.query("capabilities.list")}
    assert names == {
        *(
            "im-a.send",
            "im-a.socket",
            "im-b",
            "idp.oauth",
            "stt",
            "stt.server",
            "llm.a",
            "llm.b",
            "mlops-a.api",
            "mlops-b.api",
        ),
        *("coding-agent.api", "provider.drive-b", "provider.drive-c", "gitops.git.token", "gitops.webhook.secret"),
        "microsoft.oauth",
    }
    assert not any(one["configured"] for one in await service.query("capabilities.list"))


async def test_a_credential_is_set_rotated_and_removed_and_never_shown(service: Service, log: RecordedLog) -> None:
    answers = [await service.mutate("capabilities.set", name="llm.a", value=f" {CANARY}\n")]
    assert await service.workspace.store.read(service.secrets.read, "llm.a") == CANARY.encode()
    first = await row(service, "llm.a")
    assert (first["configured"], first["source"], first["version"]) == (True, "user", 1)
    answers.append(await service.mutate("capabilities.set", name="llm.a", value=CANARY + "-2"))
    assert (await row(service, "llm.a"))["version"] == 2
    answers += [await service.query("capabilities.list"), await service.query("capabilities.audit")]
    await service.mutate("capabilities.remove", name="llm.a")
    assert not (await row(service, "llm.a"))["configured"]
    assert CANARY not in str(answers) + log.text


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("llm.a", "", "value"),
        ("llm.a", "two\nlines", "one line"),
        ("llm.a", "x" * 20_000, "16384"),
        ("llm.a", {"value": "x"}, "one text"),
        ("idp.oauth", "x", "id, secret"),
        ("idp.oauth", {"id": "x"}, "secret"),
        ("idp.oauth", {"id": "x", "secret": "y", "more": "z"}, "more"),
        ("im-b", {"apiId": "1", "apiHash": "2"}, "session"),
        ("microsoft.oauth", {"secret": "y"}, "id"),
    ],
)
async def test_what_can_not_be_a_credential_is_refused_by_field(
    service: Service, name: str, value: object, word: str
) -> None:
    with pytest.raises(RpcError, match=word) as caught:
        await service.mutate("capabilities.set", name=name, value=value)
    assert caught.value.code == "BAD_REQUEST"
    assert not (await row(service, name))["configured"]


async def test_either_way_into_telegram_is_enough(service: Service) -> None:
    await service.mutate("capabilities.set", name="im-b", value={"botToken": "1:a", "apiId": ""})
    await service.mutate("capabilities.set", name="im-b", value={"apiId": "1", "apiHash": "2", "session": "3"})
    assert (await row(service, "im-b"))["version"] == 2


async def test_what_a_person_connected_is_listed_and_can_not_be_set_or_removed(service: Service) -> None:
    name = "idp.oauth.mia@example.org"
    await service.workspace.store.write(service.secrets.write, name, b"tokens")
    found = await row(service, name)
    assert (found["source"], found["fields"], found["probed"]) == ("oauth", [], False)
    for procedure, more in (("set", {"value": "x"}), ("remove", {}), ("test", {})):
        with pytest.raises(RpcError) as caught:
            await service.mutate(f"capabilities.{procedure}", name=name, **more)
        assert caught.value.code == "NOT_FOUND"
    assert await service.workspace.store.read(service.secrets.read, name) == b"tokens"


async def test_to_remove_what_is_not_set_says_so(service: Service) -> None:
    with pytest.raises(RpcError, match="not set") as caught:
        await service.mutate("capabilities.remove", name="llm.a")
    assert caught.value.code == "NOT_FOUND"


async def test_the_audit_is_told_a_page_at_a_time(service: Service) -> None:
    await service.mutate("capabilities.set", name="llm.a", value=CANARY)
    for _ in range(150):
        await _use(service, "llm.a")
    await _use(service, "llm.b")
    first = await service.query("capabilities.audit")
    assert [one["name"] for one in first["rows"]] == ["llm.b", *["llm.a"] * 99]
    second = await service.query("capabilities.audit", cursor=first["nextCursor"])
    assert len(second["rows"]) == 51
    assert second["nextCursor"] is None
    (only,) = (await service.query("capabilities.audit", name="llm.b"))["rows"]
    assert only == {
        "at": only["at"],
        "name": "llm.b",
        "actor": "settings",
        "purpose": "test",
        "runId": None,
        "outcome": "missing",
    }
    used = await row(service, "llm.a")
    assert used["lastUsedBy"] == "settings"
    assert used["lastUsedAt"] is not None
    assert (await row(service, "llm.b"))["lastUsedAt"] is None
    with pytest.raises(RpcError, match="cursor"):
        await service.query("capabilities.audit", cursor="x")


async def _use(service: Service, name: str) -> None:
    await service.workspace.service(Broker).door_for_tests().acquire(name, purpose="test")


@pytest.mark.parametrize(
    ("answer", "ok", "words"),
    [
        (Answer(200, b'{"data": []}'), True, "accepts"),
        (Answer(401, b'{"error": {"type": "authentication_error", "message": "invalid x-api-key"}}'), False, "invalid"),
        (Answer(403, f"no: {CANARY}".encode()), False, "********"),
        (Answer(500, b""), False, "nothing more"),
        (None, False, "could not be asked"),
    ],
)
@pytest.mark.parametrize("name", ["llm.a", "llm.b"])
async def test_a_test_asks_the_real_service_and_shows_its_words(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, name: str, answer: Answer | None, ok: bool, words: str
) -> None:
    scripted = ScriptedService(answer)
    async with open_service(tmp_path, clock=wall, log=log, egress=scripted, PROVIDERS="fake") as service:
        await service.mutate("capabilities.set", name=name, value=CANARY)
        told = await service.mutate("capabilities.test", name=name)
        assert told["ok"] is ok
        assert words in told["message"]
        assert CANARY not in told["message"] + log.text
        ((method, url, headers),) = scripted.asked
        assert method == "GET"
        assert url == {"llm.a": "https://api.anthropic.com", "llm.b": "https://api.openai.com"}[name] + "/v1/models"
        assert CANARY in "".join(headers.values())
        assert (await row(service, name))["lastUsedBy"] == "settings"


@pytest.mark.thorough
async def test_what_nothing_uses_yet_can_not_be_tested(service: Service) -> None:
    await service.mutate("capabilities.set", name="mlops-a.api", value="x")
    with pytest.raises(RpcError, match="no service to ask"):
        await service.mutate("capabilities.test", name="mlops-a.api")
    with pytest.raises(RpcError, match="not set"):
        await service.mutate("capabilities.test", name="llm.a")


async def test_a_test_reaches_nothing_that_a_person_connected(service: Service) -> None:
    name = "idp.oauth.mia@example.org"
    await service.workspace.store.write(service.secrets.write, name, b"tokens")
    broker = service.workspace.service(Broker)
    for door, wanted in ((broker.door_for_tests(), name), (broker.door("capabilities"), "llm.a")):
        with pytest.raises(NotGranted):
            await door.acquire(wanted, purpose="test")
