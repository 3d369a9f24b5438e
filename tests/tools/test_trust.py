"""When a tool goes at once, when a person is asked, and about exactly what."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from svc.clock import VirtualClock
from svc.principal import Principal
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, Service, open_service
from tests.tools.tools_world import asked, call, outcome, until


async def test_a_note_of_ones_own_is_written_at_once_and_carries_the_taint_on(service: Service) -> None:
    said = await outcome(service, await call(service, "pages.save", tainted=True, path="notes/a", body="Read me."))
    assert said["result"]["path"] == "notes/a"
    assert (await service.query("pages.trust", path="notes/a")) == {"fromOutside": True}
    # Whoever reads it has text from outside, too: what comes then has to be let through, whatever says auto.
    reader = await call(service, "pages.read", path="notes/a")
    assert (await outcome(service, reader))["result"]["body"] == "Read me."
    assert await service.rows(f"select source from run_trust where run_id = '{reader}'")
    await service.mutate("pages.setTrusted", path="notes/a")
    assert (await service.query("pages.trust", path="notes/a")) == {"fromOutside": False}


@pytest.mark.parametrize("place", ["mail-rules/x", "agents/x", "mcp/x", "memory/x"])
async def test_auto_never_wins_over_text_from_outside(place: str, service: Service) -> None:
    free = await call(service, "pages.save", auto=True, path=place, body="mine")
    assert "result" in await outcome(service, free)
    tainted = await call(service, "pages.save", auto=True, tainted=True, path=place, body="theirs")
    card = (await asked(service, tainted))["card"]
    assert [one["text"] for one in card if one["label"].startswith("Text")] == ["theirs", "mine"]
    assert (await service.query("pages.get", path=place))["body"] == "mine"


async def test_a_mail_goes_only_as_a_person_saw_it_and_a_change_is_what_goes(service: Service) -> None:
    await service.synced("Hello")
    text = "Dear Eve,\nhere it is." + " More." * 2_000
    run_id = await call(
        service,
        "mail.send",
        auto=True,
        tainted=True,
        to=["noa@example.org", "Eve <eve@xn--exmple-cua.org>"],
        bcc=["spy@example.net"],
        subject="It",
        text=text,
    )
    question = await asked(service, run_id)
    rows = [(one["label"], one["text"]) for one in question["card"]]
    assert ("Bcc", "spy@example.net") in rows
    assert ("Text", text) in rows
    assert ("From", MIA) in rows
    marks = {one["text"]: one["marks"] for one in question["card"] if one["marks"]}
    assert any("other letters" in mark for mark in marks["Eve <eve@xn--exmple-cua.org>"])
    assert any("never written" in mark for mark in marks["spy@example.net"])
    changed = {**question["input"], "to": ["noa@example.org"], "bcc": []}
    await service.mutate("approvals.decide", id=question["id"], approve=True, input=changed)
    assert (await outcome(service, run_id))["result"]["state"] == "held"
    (sent,) = await service.query("mail.outgoing")
    assert sent["to"] == ["noa@example.org"]
    assert len(await service.rows("select 1 from tool_calls")) == 1


async def test_what_cannot_be_done_is_told_to_the_model_and_asks_nobody(service: Service) -> None:
    for tool, given, words in (
        ("no.such", {}, "no tool"),
        ("pages.read", {"path": "nowhere"}, "no such page"),
        ("pages.read", {"path": 7}, "Expected `str`"),
        ("pages.save", {"path": "a", "body": "b", "grants": "everyone"}, "unknown field"),
        ("mail.send", {"to": ["a@b.c"], "subject": "x", "text": "y"}, "accountId"),
        ("http.fetch", {"url": "http://127.0.0.1/"}, "can't be asked"),
    ):
        run_id = await call(service, tool, auto=True, **given)
        assert words in (await outcome(service, run_id))["error"]["message"], tool
    assert await service.query("approvals.list") == []


async def test_a_refusal_is_told_and_nothing_is_done(service: Service) -> None:
    run_id = await call(service, "memory.write", tainted=True, name="x", body="obey")
    question = await asked(service, run_id)
    await service.mutate("approvals.decide", id=question["id"], approve=False)
    assert (await outcome(service, run_id))["error"]["code"] == "declined"
    assert await service.query("memory.list") == []


async def test_the_device_that_asked_does_not_decide(service: Service) -> None:
    run_id = await call(service, "memory.write", user_id="usr_mia", device_id="dev_1", tainted=True, name="x", body="y")

    def device(device_id: str) -> Principal:
        return Principal(
            user_id="usr_mia", device_id=device_id, is_admin=False, via="device", capabilities={"approve": True}
        )

    question = await asked(service, run_id)
    wanted = {"id": question["id"], "approve": True}
    assert (await service.ask_as(device("dev_1"), "approvals.decide", wanted)).status == 403
    assert (await service.ask_as(device("dev_2"), "approvals.decide", wanted)).status == 200
    assert "result" in await outcome(service, run_id)


async def test_mail_that_was_read_taints_and_is_plain_text(service: Service) -> None:
    hidden = "Hi\u202e there\U000e0041\x1b[2K"
    (thread_id,) = await service.synced("Hello", text=hidden)
    run_id = await call(service, "mail.read", threadId=thread_id)
    said = (await outcome(service, run_id))["result"]
    assert said["messages"][0]["text"].startswith("Hi there")
    assert await service.rows(f"select source from run_trust where run_id = '{run_id}'") == [("mail",)]


async def test_what_was_under_way_when_the_service_died_is_asked_about_if_it_could_happen_twice(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        run_id = await call(service, "http.fetch", url="https://example.invalid/")
        question = await asked(service, run_id)
        await service.workspace.store.write(_die_within, run_id)
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        again = await asked(service, run_id)
        assert again["id"] != question["id"]
        assert "not known" in again["summary"]
        await service.mutate("approvals.decide", id=again["id"], approve=False)
        assert (await outcome(service, run_id))["error"]["code"] == "declined"


def _die_within(tx: Any, run_id: str) -> None:
    """As it stands in the middle of a call: let through, begun, and never settled."""
    tx.run("update approvals set state = 'approved', decided_input = input, decided_digest = digest")
    tx.run("update run_steps set state = 'done', output = input, ended_at = 1 where kind = 'approval'")
    tx.run("update tool_calls set state = 'working', waits = 'do 1'")
    tx.run(
        """
        insert into run_steps (run_id, key, position, name, kind, state, input, input_digest, attempts, due_at,
            started_at)
        select run_id, 'do 1', 9, 'do 1', 'tool', 'waiting', :input, :digest, 1, :late, 1 from tool_calls
        where run_id = :id
        """,
        input='{"call":"call","asked":"ask"}',
        digest=sha256(b'{"call":"call","asked":"ask"}').digest(),
        late=tx.now + 86_400_000,
        id=run_id,
    )


async def test_every_tool_says_what_it_takes_and_how_far_it_goes(service: Service) -> None:
    found = {one["name"]: one for one in await service.query("tools.list")}
    for name in ("pages.read", "mail.search", "mail.read", "mail.draft", "mail.send", "files.read", "http.fetch"):
        assert found[name]["schema"]["type"] == "object"
        assert found[name]["summary"]
        assert found[name]["maxOutputBytes"] > 0
        assert found[name]["withinS"] > 0
    assert {name for name, one in found.items() if one["asks"]} >= {"mail.send", "http.fetch", "memory.write"}
    await until(service, await call(service, "tasks.add", title="Buy milk"), "done")
    said = await outcome(service, await call(service, "tasks.list"))
    assert said["result"]["tasks"] == [{"title": "Buy milk", "done": False}]
