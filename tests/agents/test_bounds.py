"""Agents that begin by themselves: once for each cause, not for what they do themselves, and a few at once."""

from __future__ import annotations

import pytest
import trio

from svc.agents import beginning
from tests.agents.test_agents import calls, script
from tests.identity.people import sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, Service

READER = '---\ntriggers: ["page: notes/*"]\n---\nRead it.'


async def begun(service: Service) -> int:
    ((count,),) = await service.rows("select count(*) from agent_runs")
    return int(count)


async def test_a_page_that_its_owner_may_not_see_triggers_nothing_and_a_change_told_twice_triggers_once(
    service: Service,
) -> None:
    mia = await sign_in(service, MIA)
    ben = await sign_in(service, "ben@x.example", invite=(await mia.mutate("auth.createInvite"))["code"])
    await mia.mutate("pages.save", path="agents/reader", body=READER)
    await ben.mutate("pages.save", path="notes/bens", body="Secret.")
    await mia.mutate("pages.save", path="notes/mine", body="One.")
    await trio.sleep(60)
    assert await service.rows("select prompt from agent_runs") == [('A page changed.\n\nInput: {"path":"notes/mine"}',)]
    await service.workspace.store.write(lambda tx: tx.run("update consumers set seq = 0 where name = 'agents'"))
    await mia.mutate("pages.save", path="notes/mine", body="Two.")
    await trio.sleep(60)
    assert await begun(service) == 2, "the change before was told again, as after a crash"


async def test_an_agent_that_writes_the_page_it_waits_for_and_mails_its_owner_begins_once(service: Service) -> None:
    await service.synced("Known before")
    body = '---\ntriggers: [mail, "page: *"]\napprovals: auto\n---\nRead it.'
    await service.mutate("pages.save", path="agents/both", body=body)
    save = ("pages.save", {"path": "notes/mine", "body": "Written by the agent."})
    await script(service, *((calls(save, ("mail.send", {"to": [MIA], "subject": "Me", "text": "Hi"})),) * 5))
    await service.mutate("pages.save", path="notes/mine", body="Written by me.")
    await trio.sleep(60)
    (waiting,) = await service.query("approvals.list")
    assert (await service.query("pages.get", path="notes/mine"))["body"] == "Written by the agent."
    await service.mutate("approvals.decide", id=waiting["id"], approve=True)
    await service.mutate("fake.mail.syncNow", address=MIA)
    await trio.sleep(600)
    assert len(await service.query("fake.mail.sent", address=MIA)) == 1
    assert await begun(service) == 1


async def test_an_agent_has_a_few_runs_at_once_and_its_settings_and_the_log_say_so(
    service: Service, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginning, "OPEN_AT_ONCE", 2)
    await service.mutate("pages.save", path="agents/reader", body=READER)
    fetch = calls(("http.fetch", {"url": "https://x.example/"}))
    await script(service, *((fetch,) * 2), *(({"text": "Done."},) * 6))

    async def held_up() -> str:
        ((told,),) = [[one["heldUp"] for one in await service.query("agents.list")]]
        return str(told)

    async def change(*paths: str) -> None:
        for path in paths:
            await service.mutate("pages.save", path=path, body="Mine.")
        await trio.sleep(60)

    await change("notes/a", "notes/b", "notes/c")
    assert await begun(service) == 2
    assert (await held_up()).startswith("2 of its runs have not ended.")
    assert [one["path"] for one in log.records if one["event"] == "agents.not_begun"] == ["agents/reader"]
    for one in await service.query("approvals.list"):
        await service.mutate("approvals.decide", id=one["id"], approve=False)
    await trio.sleep(60)
    assert await held_up() == ""
    await change("notes/d")
    assert await begun(service) == 3
    monkeypatch.setattr(beginning, "TRIGGERED_AN_HOUR", 3)
    assert (await held_up()).startswith("It has begun 3 times within an hour.")
    await change("notes/e")
    assert await begun(service) == 3


async def test_a_schedule_waits_for_its_earlier_run_and_then_begins_at_once(service: Service) -> None:
    await service.mutate("pages.save", path="agents/clock", body="---\nschedule: every 5 minutes\n---\nTick.")
    await script(service, {"text": "Done.", "delayMs": 9 * 60_000}, {"text": "Done."})
    with trio.fail_after(600):
        while await begun(service) == 0:  # noqa: ASYNC110 - nothing tells of it
            await trio.sleep(10)
    await trio.sleep(8 * 60)
    assert await begun(service) == 1
    await trio.sleep(2 * 60)
    assert await begun(service) in {2, 3}, "its next time may have come, too"
