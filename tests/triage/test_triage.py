"""Triage in the whole service: off until it is asked for, sorted by rules or a model, and a person's word counts."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.clock import VirtualClock
from svc.store import Tx
from svc.triage import actions, queries
from svc.triage.deciding import MANY, decide
from svc.triage.model import KINDS, SENDERS_KINDS, Facts, Kind
from svc.worker.triage import kind_of
from tests.recorded_log import RecordedLog
from tests.support.service import RpcError, Service, open_service
from tests.support.waiting import until

ME: Final = "mia@example.com"
LONGEST_S: Final = 3_600.0


@pytest.fixture
async def service(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as found:
        await comes(found, "Lunch?", text="Are you free?")
        yield found


async def comes(service: Service, subject: str, **more: Any) -> str:
    sender = more.pop("sender", "Ann <ann@example.org>")
    mail = {"address": ME, "from": sender, "subject": subject, "text": "Hello.", **more}
    await service.mutate("fake.mail.inject", **mail)
    await service.mutate("fake.mail.syncNow", address=ME)
    pages = [(await service.query("mail.threads", section=one))["threads"] for one in ("inbox", "skipped")]
    return str(next(one["id"] for page in pages for one in page if one["subject"] == subject))


async def news(service: Service, subject: str) -> str:
    text = f"From: News <news@list.example>\nTo: {ME}\nSubject: {subject}\nList-Id: <n.example>\n\nRead me.\n"
    return await comes(service, subject, raw=base64.b64encode(text.encode()).decode())


async def kind(service: Service, thread_id: str) -> dict[str, Any]:
    async def known() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await service.query("triage.of", threadIds=[thread_id])
        return found

    return dict((await until(known, what="the kind of the thread", within_s=LONGEST_S, longest_pause_s=0.2))[0])


async def listed(service: Service, kind: str, **more: Any) -> list[str]:
    return [one["subject"] for one in (await service.query("triage.threads", kind=kind, **more))["threads"]]


async def test_it_is_off_then_sorts_what_is_there_and_what_comes_and_a_correction_is_remembered(
    service: Service,
) -> None:
    first = (await service.query("mail.threads", section="inbox"))["threads"][0]["id"]
    assert (await service.query("triage.of", threadIds=[first])) == []
    with pytest.raises(RpcError, match="off"):
        await service.mutate("triage.correct", threadId=first, kind="other")
    assert (await service.mutate("triage.set", enabled=True))["enabled"]
    assert (await kind(service, first))["kind"] == "reply"
    may = await news(service, "News of May")
    receipt = await comes(service, "Your order 12", sender="Shop <no-reply@shop.example>")
    assert [(await kind(service, one))["kind"] for one in (may, receipt)] == ["reading", "receipt"]
    assert await listed(service, "reading") == ["News of May"]
    assert (await service.mutate("triage.correct", threadId=may, kind="other"))["learned"] == "news@list.example"
    assert (await kind(service, may)) == {"threadId": may, "kind": "other", "by": "person", "because": "you said so"}
    later = await news(service, "News of June")
    assert (await kind(service, later))["kind"] == "other"
    assert await listed(service, "other", limit=1) == ["News of June"]
    page = await service.query("triage.threads", kind="other", limit=1)
    rest = await service.query("triage.threads", kind="other", limit=1, cursor=page["nextCursor"])
    assert ([one["subject"] for one in rest["threads"]], rest["nextCursor"]) == (["News of May"], None)
    assert (await service.mutate("triage.correct", threadId=first, kind="waiting"))["learned"] is None
    await service.mutate("mail.archive", threadIds=[first, later])
    assert (await listed(service, "waiting"), await listed(service, "other")) == (["Lunch?"], ["News of May"])
    await service.mutate("triage.forget", address="news@list.example")
    assert (await service.query("triage.get"))["learned"] == []
    assert not (await service.mutate("triage.set", enabled=False))["enabled"]
    assert await listed(service, "reading") == []
    assert await service.query("fake.llm.calls") == []


@pytest.mark.thorough
async def test_a_model_says_one_word_where_the_rules_are_not_sure_and_never_against_a_person(service: Service) -> None:
    await service.mutate("triage.set", enabled=True, asksModel=True)
    script = service.mutate
    await script("fake.llm.script", match="Plan", replies=[{"text": '{"kind": "calendar"}'}])
    await script("fake.llm.script", match="Evil", replies=[{"text": "kind: delete all mail"}] * 9)
    await script("fake.llm.script", match="Slow", replies=[{"text": '{"kind": "other"}', "delayMs": 60_000}])
    plan = await comes(service, "Plan?")

    async def by_model() -> bool:
        return str((await kind(service, plan))["by"]) == "model"

    await until(by_model, what="the model to have decided", within_s=LONGEST_S, longest_pause_s=0.2)
    assert (await kind(service, plan))["kind"] == "calendar"
    evil, slow = await comes(service, "Evil?"), await comes(service, "Slow?", sender="Bob <bob@example.org>")
    assert (await kind(service, slow))["kind"] == "reply"
    await service.mutate("triage.correct", threadId=slow, kind="reading")

    async def ended() -> bool:
        runs = (await service.query("runs.list", workflow="triage.mail"))["runs"]
        return len(runs) == 3 and all(one["state"] in {"done", "failed"} for one in runs)

    await until(ended, what="the run to end", within_s=LONGEST_S, longest_pause_s=0.2)
    assert (await kind(service, evil))["kind"] == "reply"
    assert (await kind(service, slow))["kind"] == "reading"


async def test_a_mail_that_is_handed_over_again_changes_nothing(service: Service) -> None:
    await service.mutate("triage.set", enabled=True)
    thread = await comes(service, "Who?")
    await kind(service, thread)
    for quicker in (False, True):  # than the consumer: then nothing is known of the event yet
        await service.mutate("triage.correct", threadId=thread, kind="waiting")
        if quicker:
            await service.workspace.store.write(lambda tx: tx.run("update triage_threads set seq = 0"))
        await service.workspace.store.write(lambda tx: tx.run("update consumers set seq = 0 where name = 'triage'"))
        last = await comes(service, f"Again {quicker}?", sender="Bob <bob@example.org>")
        await kind(service, last)
        found = await kind(service, thread)
        assert (found["kind"], found["by"]) == ("waiting", "person")


facts = st.builds(
    Facts,
    sender=st.sampled_from(["ann@example.org", "no-reply@shop.example", "billing@shop.example", ""]),
    to_me=st.booleans(),
    recipients=st.integers(0, 2 * MANY),
    subject=st.sampled_from(["hello", "your order 1", "lunch?"]),
    snippet=st.text(max_size=20),
    is_bulk=st.booleans(),
    has_invitation=st.booleans(),
    written_to=st.booleans(),
)


@given(facts, st.sampled_from(SENDERS_KINDS))
def test_a_persons_word_beats_all_rules_and_no_robot_or_list_ever_needs_a_reply(mail: Facts, said: Any) -> None:
    assert decide(mail, learned=said).kind == said
    found = decide(mail)
    assert found.kind in KINDS
    assert found.because
    if mail.is_bulk or mail.sender.startswith("no-reply") or not mail.sender or not mail.to_me:
        assert found.kind != "reply"
    assert found.sure or not (mail.is_bulk or mail.has_invitation)


@pytest.mark.parametrize("text", ["", "reply", '{"kind": "waiting"}', '{"kind": ["reply"]}', '{"kind": "reply"', "[]"])
def test_an_answer_that_is_no_word_of_the_list_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="did not say"):
        kind_of(text)


async def test_what_an_export_says_of_senders_is_forgotten_by_age_in_the_end(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc.triage.queries.MAX_LEARNED", 2)
    told: list[tuple[str, Kind, int | None]] = [("b@e.example", "other", 2), ("c@e.example", "other", 1)]

    def bring_back(tx: Tx) -> None:
        actions.bring_back(tx, "", asks_model=False, senders=[*told, ("z@e.example", "other", 3)])
        queries.learn(tx, "", [("d@e.example", "other", tx.now)])

    await service.workspace.store.write(bring_back)
    assert [one["address"] for one in (await service.query("triage.get"))["learned"]] == ["d@e.example", "z@e.example"]
