"""Search by meaning, from the switch to what is found, with the stand-in of the vendor's model: texts that share words
are near each other there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.broker import Outgoing, Streamed, Vendors
from svc.clock import VirtualClock
from svc.fakes.llm import wire_b
from svc.fakes.llm.said import refusal, whole
from svc.meaning import form, queue
from svc.principal import Principal
from tests.recorded_log import RecordedLog
from tests.support.service import RpcError, Service, open_service
from tests.tools.tool_runs import call, outcome

ENDED = {"done", "failed", "cancelled"}
REST_S = 90


async def ended(service: Service, run_id: str) -> dict[str, Any]:
    with trio.fail_after(36_000):
        while True:
            found: dict[str, Any] = await service.query("runs.get", id=run_id)
            if found["state"] in ENDED:
                return found
            await trio.sleep(1)


async def switched_on(service: Service) -> dict[str, Any]:
    return await ended(service, (await service.mutate("meaning.switch", on=True))["runId"])


def listened(
    service: Service, statuses: list[int] | None = None, *, stuck_after: int | None = None
) -> list[dict[str, Any]]:
    """What the vendor is asked from now on. It answers with these statuses first, and after so many never."""
    asked: list[dict[str, Any]] = []
    left = list(statuses or [])

    async def send(call: Outgoing) -> Streamed:
        await trio.lowlevel.checkpoint()
        body: dict[str, Any] = json.loads(call.body)
        asked.append(body)
        if stuck_after is not None and len(asked) > stuck_after:
            await trio.sleep_forever()
        status = left.pop(0) if left else 200
        return whole(wire_b.embeddings(body)) if status == 200 else refusal(status, "It is busy.")

    service.workspace.service(Vendors).replace_all(send)
    return asked


def subjects(found: dict[str, Any]) -> list[str]:
    return [thread["subject"] for thread in found["threads"]]


async def test_mail_and_pages_are_found_by_what_they_are_about_and_words_come_with_them(service: Service) -> None:
    await service.synced("Boat trip", text="We sail along the coast of Norway in summer with a small boat.")
    await service.synced("Invoice", text="Please pay the invoice for the printer by Friday.")
    await service.mutate("pages.save", path="plans/norway", title="Norway", body="Sail along the coast, a small boat.")
    before = await service.query("meaning.state")
    assert (before["on"], before["read"], before["problem"]) == (False, 0, "")
    assert before["expected"]["tokens"] > 0
    assert before["expected"]["micros"] > 0
    typed = "sail with a boat along some coast"
    assert (await service.query("mail.search", query=typed))["threads"] == []
    nothing = await service.query("meaning.search", query=typed)
    assert (nothing["threads"], "has been read" in nothing["problem"]) == ([], True)

    run = await switched_on(service)
    assert run["state"] == "done"
    assert run["usage"]["inputTokens"] > 0
    state = await service.query("meaning.state")
    assert (state["read"], state["waiting"], state["expected"]["items"]) == (state["items"], 0, 0)
    assert state["micros"] > 0

    found = await service.query("meaning.search", query=typed)
    assert found["problem"] == ""
    assert subjects(found)[0] == "Boat trip"
    assert "Invoice" not in subjects(found)
    assert found["threads"][0]["id"] in found["near"]
    assert [page["path"] for page in found["pages"]] == ["plans/norway"]
    assert "coast" in "".join(piece["text"] for piece in found["threads"][0]["match"]["snippet"])
    filtered = await service.query("meaning.search", query=f"{typed} from:nobody@example.org")
    assert filtered["threads"] == []


async def test_what_comes_and_what_is_changed_later_is_read_by_itself(service: Service) -> None:
    await service.synced("First", text="Hello.")
    await switched_on(service)
    await service.synced("Garden", text="The tomatoes in the greenhouse are ripe now.")
    await service.mutate("pages.save", path="notes/soup", title="Soup", body="Lentils with cumin.")
    await trio.sleep(REST_S)
    found = await service.query("meaning.search", query="are tomatoes ripe in a greenhouse somewhere")
    assert subjects(found) == ["Garden"]
    assert [one["path"] for one in (await service.query("meaning.search", query="cumin maybe lentils"))["pages"]] == [
        "notes/soup"
    ]
    await service.mutate("pages.save", path="notes/soup", title="Soup", body="Carrots with ginger.", baseRevision=1)
    await trio.sleep(REST_S)
    assert [one["path"] for one in (await service.query("meaning.search", query="some ginger carrots"))["pages"]] == [
        "notes/soup"
    ]
    assert (await service.query("meaning.search", query="cumin maybe lentils"))["pages"] == []


async def test_a_ceiling_ends_the_run_in_words_and_the_next_one_reads_only_what_is_left(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "ITEMS_A_CALL", 2)
    await service.synced(*(f"Mail {number} of lentils" for number in range(8)))
    asked = listened(service)
    one = len(await service.rows("select 1 from mail_messages"))
    await service.mutate("models.setCeilings", dayUsd=10, runUsd=10, dayTokens=120)
    run = await switched_on(service)
    assert run["state"] == "failed"
    assert "tokens a day" in run["error"]["message"]
    state = await service.query("meaning.state")
    assert state["lastProblem"] == run["error"]["message"]
    assert 0 < state["read"] < one
    await service.mutate("models.setCeilings", dayUsd=10, runUsd=10, dayTokens=1_000_000)
    again = await ended(service, (await service.mutate("meaning.index"))["runId"])
    assert again["state"] == "done"
    assert (await service.query("meaning.state"))["lastProblem"] == ""
    texts = [text for call in asked for text in call["input"]]
    assert len(texts) == len(set(texts))
    assert (await service.query("meaning.state"))["read"] == (await service.query("meaning.state"))["items"]
    await service.mutate("meaning.index")
    with pytest.raises(RpcError, match="already"):
        await service.mutate("meaning.index")


async def test_a_vendor_that_is_busy_is_asked_again_and_a_stopped_run_asks_for_nothing_more(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "ITEMS_A_CALL", 1)
    await service.synced("One lentils", "Two lentils", "Three lentils")
    answers = [429, 500, 200, 503]
    asked = listened(service, answers)
    run_id = (await service.mutate("meaning.switch", on=True))["runId"]
    while len(asked) < 3:  # noqa: ASYNC110  virtual time
        await trio.sleep(0.1)
    await service.mutate("runs.cancel", id=run_id)
    await trio.sleep(REST_S)
    state = await service.query("meaning.state")
    assert (state["runId"], state["waiting"]) == (None, 0)
    assert 0 < state["read"] < state["items"]
    heard = len(asked)
    await trio.sleep(REST_S)
    assert len(asked) == heard
    assert (await ended(service, (await service.mutate("meaning.index"))["runId"]))["state"] == "done"


async def test_work_goes_on_after_a_crash_where_it_was(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "ITEMS_A_CALL", 1)
    texts: list[str] = []
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        await service.synced(*(f"Mail {number} of lentils" for number in range(4)))
        asked = listened(service, stuck_after=2)
        run_id = (await service.mutate("meaning.switch", on=True))["runId"]
        while len(asked) < 3:  # noqa: ASYNC110  virtual time
            await trio.sleep(0.1)
        texts += [text for call in asked[:2] for text in call["input"]]
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        asked = listened(service)
        assert (await ended(service, run_id))["state"] == "done"
        texts += [text for call in asked for text in call["input"]]
        assert len(texts) == len(set(texts))
        found = await service.query("meaning.search", query="of some lentils")
        assert len(found["threads"]) == 4
        assert {"meaning-query", "run"} == {
            account.partition("_")[0].partition(":")[0]
            for (account,) in await service.rows("select run_id from model_calls")
        }


async def test_others_find_only_what_they_may_see_and_what_is_switched_off_is_forgotten(service: Service) -> None:
    await service.synced("Boat trip", text="We sail along the coast in a small boat.")
    await service.mutate("pages.save", path="open", title="Open", body="A boat along the coast.")
    await service.mutate("pages.save", path="shut", title="Shut", body="Another boat along the coast.")
    await switched_on(service)
    typed = {"query": "boat along some coast"}
    other = Principal(user_id="usr_other", device_id="dev_other", is_admin=True, via="session")
    found = (await service.ask_as(other, "meaning.search", typed)).json["result"]["data"]
    assert (found["threads"], found["pages"]) == ([], [])
    await service.mutate(
        "pages.setAccess", path="open", access="explicit", grants=[{"to": "everyone", "level": "read"}]
    )
    found = (await service.ask_as(other, "meaning.search", typed)).json["result"]["data"]
    assert (found["threads"], [page["path"] for page in found["pages"]]) == ([], ["open"])

    account_id = (await service.query("mail.accounts"))[0]["id"]
    assert await service.rows("select 1 from meaning_vectors where space = :id", id=account_id)
    while await service.workspace.store.write(queue.erase, account_id=account_id) == "more":
        pass
    assert not await service.rows("select 1 from meaning_vectors where space = :id", id=account_id)
    await service.mutate("meaning.switch", on=False)
    await trio.sleep(REST_S)
    assert await service.rows("select 1 from meaning_vectors union all select 1 from meaning_people") == []
    assert (await service.query("meaning.state"))["on"] is False


async def test_it_is_off_and_says_why_without_a_key_and_without_numpy(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_service(tmp_path, clock=wall, log=log) as service:
        assert "llm.b" in (await service.query("meaning.state"))["problem"]
        with pytest.raises(RpcError, match="credential"):
            await service.mutate("meaning.switch", on=True)
        monkeypatch.setattr(form, "has_numpy", lambda: False)
        assert "svc[meaning]" in (await service.query("meaning.state"))["problem"]
        found = await service.query("meaning.search", query="boats")
        assert (found["threads"], "svc[meaning]" in found["problem"]) == ([], True)


async def test_another_model_reads_everything_beside_what_there_is_and_search_finds_all_the_while(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    typed = "sail with a boat along some coast"

    async def found(service: Service) -> tuple[list[str], list[str]]:
        answer = await service.query("meaning.search", query=typed)
        assert answer["problem"] == ""
        return subjects(answer), [page["path"] for page in answer["pages"]]

    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        await service.synced("Boat trip", text="We sail along the coast of Norway in summer with a small boat.")
        await service.mutate("pages.save", path="plans/norway", title="Norway", body="Sail along the coast.")
        await switched_on(service)
    other: dict[str, Any] = {"SVC_EMBEDDING_MODEL": "another:latest", "SVC_LLM_B_URL": "http://127.0.0.1:9"}
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", **other) as service:
        state = await service.query("meaning.state")
        assert (state["model"], state["read"], state["expected"]["items"]) == ("another:latest", 0, state["items"])
        assert state["before"] == {"model": "text-embedding-3-small", "read": state["items"]}
        asked = listened(service, stuck_after=2)
        assert await found(service) == (["Boat trip"], ["plans/norway"])
        assert [one["model"] for one in asked] == ["text-embedding-3-small"], (
            "what there is, is asked for as it was made"
        )
        run_id = (await service.mutate("meaning.index"))["runId"]
        await trio.sleep(REST_S)
        assert [one["model"] for one in asked][1:3] == ["another:latest"] * 2, "the run is in the middle of it"
        assert await found(service) == (["Boat trip"], ["plans/norway"])
        asked = listened(service)
        await service.mutate("runs.cancel", id=run_id)
        assert await found(service) == (["Boat trip"], ["plans/norway"])
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", **other) as service:
        asked = listened(service)
        run = await ended(service, (await service.mutate("meaning.index"))["runId"])
        assert run["state"] == "done", run["error"]
        await trio.sleep(REST_S)
        asked.clear()
        assert await found(service) == (["Boat trip"], ["plans/norway"])
        assert [one["model"] for one in asked] == ["another:latest"]
        assert len(await service.rows("select distinct form from meaning_vectors")) == 1, "what was before is forgotten"
        assert (await service.query("meaning.state"))["before"] is None


async def test_agents_find_by_what_it_is_about_where_their_owner_does(service: Service) -> None:
    await service.synced("Boat trip", text="We sail along the coast of Norway in summer with a small boat.")
    await service.mutate("pages.save", path="plans/norway", title="Norway", body="Sail along the coast, a small boat.")
    typed = "sail with a boat along some coast"

    async def told() -> tuple[list[str], list[str]]:
        mails = await outcome(service, await call(service, "mail.search", query=typed))
        pages = await outcome(service, await call(service, "pages.find", text=typed))
        return [one["subject"] for one in mails["result"]["threads"]], [one["path"] for one in pages["result"]["pages"]]

    assert await told() == ([], [])
    await switched_on(service)
    assert await told() == (["Boat trip"], ["plans/norway"])
