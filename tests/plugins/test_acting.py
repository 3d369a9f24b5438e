"""Rules and agents that a plugin brings: they act after an admin's yes to exactly this text, for that admin alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from svc.clock import VirtualClock
from svc.configuring import Configuration
from svc.plugins import Plugins, actions
from svc.plugins.reading import read_plugin
from svc.principal import Principal
from svc.rules import calls
from svc.rules.page import KIND
from svc.runs import acting_for
from svc.store import Tx
from svc.workflow import Caller
from tests.identity.people import Person, sign_in
from tests.plugins.plugin_service import lay
from tests.plugins.registry import studio
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, RpcError, Service, open_service
from tests.support.waiting import until

STUDIO: Final = "svc-plugin-studio"
LONGEST_S: Final = 600.0
RULE: Final = "---\nwhen: {from: shop.example}\nthen: [archive]\n---\n"
AGENT: Final = "---\ntools: [tasks.*]\n---\nNote what is to be done."
PAGES: Final = [
    {"kind": "rule", "name": "shops", "title": "Shops", "file": "shops.md"},
    {"kind": "agent", "name": "noter", "title": "Noter", "file": "noter.md"},
]


def hold(service: Service, directory: Path, *, rule: str = RULE, agent: str = AGENT) -> None:
    """As if it were just installed."""
    package = studio(pages=PAGES)
    package.files = {"shops.md": rule, "noter.md": agent}
    lay(directory, package)
    service.workspace.service(Plugins)._hold(None, {STUDIO: read_plugin(directory, STUDIO)})


async def agree(person: Person) -> None:
    (one,) = await person.query("plugins.list")
    await person.mutate("plugins.agree", name=STUDIO, rights=[right["id"] for right in one["rights"]])


async def whats_there(person: Person) -> list[tuple[str, str]]:
    found = [*await person.query("rules.list"), *await person.query("agents.list")]
    return [(one["path"], one["plugin"]) for one in found]


async def comes(service: Service, person: Person, subject: str) -> bool:
    """Whether the mail is in the inbox, once the rules are through with it."""
    wanted = {"address": MIA, "from": "a@shop.example", "subject": subject, "text": "Hi."}
    thread_id = (await person.mutate("fake.mail.inject", **wanted))["threadId"]
    await person.mutate("fake.mail.syncNow", address=MIA)

    async def are_through() -> bool:
        behind = "select 1 from consumers where name = 'mail-rules' and seq < (select max(seq) from events)"
        return not await service.rows(behind)

    await until(are_through, what="the rules to be through", within_s=LONGEST_S, longest_pause_s=0.2)
    return bool((await person.query("mail.thread", id=thread_id))["thread"]["inInbox"])


async def test_what_acts_waits_for_a_yes_acts_for_that_admin_and_stops_with_its_text_or_role(
    service: Service, tmp_path: Path
) -> None:
    await service.synced("Known before")
    mia = await sign_in(service, MIA)
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    hold(service, tmp_path)
    assert await whats_there(mia) == []
    assert await comes(service, mia, "Before the yes")
    (shown,) = await mia.query("plugins.list")
    assert [one["text"] for one in shown["rights"]] == [RULE, AGENT], "exactly what would act is shown"
    assert [one["whyNot"] for one in shown["brings"]["pages"]] == ["It waits for a yes"] * 2
    await agree(mia)
    both = [(f"plugins/{STUDIO}/shops", STUDIO), (f"plugins/{STUDIO}/noter", STUDIO)]
    assert (await whats_there(mia), await whats_there(noa)) == (both, [])
    assert not await comes(service, mia, "After it")
    await acts_like_a_page_that_nobody_edits(mia)
    hold(service, tmp_path, rule=RULE.replace("archive", "star"))
    assert await whats_there(mia) == both[1:], "another text is another right"
    hold(service, tmp_path)
    assert await whats_there(mia) == both
    users = {one["email"]: one["id"] for one in await mia.query("users.list")}
    await mia.mutate("users.setRole", id=users["noa@example.org"], role="admin")
    noa = await sign_in(service, "noa@example.org")
    await noa.mutate("users.setRole", id=users[MIA], role="member")
    assert await whats_there(mia) == []
    (shown,) = await noa.query("plugins.list")
    assert [one["agreed"] for one in shown["rights"]] == [False, False], "another admin may say it"
    await agree(noa)
    assert (await whats_there(mia), await whats_there(noa)) == ([], both)
    assert [await still_acts(service, users[one]) for one in (MIA, "noa@example.org")] == [False, True]


async def still_acts(service: Service, user_id: str) -> bool:
    """Whether the rule that acts now acts on the mail of this person, who was asked about it before."""
    principal = Principal(user_id=user_id, device_id="run:r", is_admin=False, via="run")

    def look(tx: Tx) -> bool:
        workspace = service.workspace
        (rule,) = workspace.service(Configuration).of(tx, KIND, everybody=True)
        caller = Caller(run_id="r", key="decide", principal=principal)
        return calls._hits(workspace, tx, caller, [(rule.page_id, "it matched")], sender="a@elsewhere.example") != [
            None
        ]

    return await service.workspace.store.write(look)


@pytest.mark.thorough
@pytest.mark.parametrize("when", ["triggers: [mail]", "schedule: every 5 minutes"])
async def test_its_trigger_starts_its_own_agent_beside_a_page_of_the_same_name(
    service: Service, tmp_path: Path, when: str
) -> None:
    await service.synced("Known before")
    mia = await sign_in(service, MIA)
    hold(service, tmp_path, agent=AGENT.replace("---", f"---\n{when}", 1))
    await agree(mia)
    await mia.mutate("pages.save", path="agents/noter", body="My own, which nothing triggers.")
    wanted = {"address": MIA, "from": "a@elsewhere.example", "subject": "News", "text": "Hi."}
    await mia.mutate("fake.mail.inject", **wanted)
    await mia.mutate("fake.mail.syncNow", address=MIA)

    async def begun() -> bool:
        return bool(await service.rows("select 1 from agent_runs"))

    await until(begun, what="the run to begin", within_s=LONGEST_S, longest_pause_s=0.2)
    rows = await service.rows("select agent, substr(page_id, 1, 4) from agent_runs")
    assert rows == [(f"plugins/{STUDIO}/noter", "plg_")]


async def test_a_yes_of_nobody_acts_for_nobody_once_there_is_an_owner(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        await sign_in(service, MIA)
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_AUTH="off") as service:
        hold(service, tmp_path)
        with pytest.raises(RpcError, match="sign in"):
            await agree(Person(service))
        (shown,) = await service.query("plugins.list")

        def said_once(tx: Tx) -> Principal:
            rights = [right["id"] for right in shown["rights"]]
            actions.agree(tx, name=STUDIO, rights=rights, user_id=None, acts=False)
            return acting_for(tx, None, device_id="run:r")

        assert not (await service.workspace.store.write(said_once)).sees_everything
        assert await whats_there(Person(service)) == []


async def acts_like_a_page_that_nobody_edits(mia: Person) -> None:
    path = f"plugins/{STUDIO}/shops"
    tried = await mia.mutate("rules.test", path=path)
    assert len(tried["matched"]) == 2
    (act,) = await mia.query("rules.why", threadId=tried["matched"][0])
    assert (act["rule"], act["did"]) == (path, ["archive"])
    with pytest.raises(RpcError, match="can't be changed here"):
        await mia.mutate("rules.teach", path=path, threadId=tried["matched"][0])
    await mia.mutate("fake.llm.script", replies=[{"text": "Noted."}])
    run_id = (await mia.mutate("agents.run", agent="noter"))["runId"]

    async def is_done() -> bool:
        return bool((await mia.query("runs.get", id=run_id))["output"] == {"text": "Noted."})

    await until(is_done, what="it to be done", within_s=LONGEST_S, longest_pause_s=0.2)
    (asked,) = await mia.query("fake.llm.calls")
    assert [one["name"] for one in asked["tools"]] == ["tasks_list", "tasks_add", "tasks_done"]
    await mia.mutate("pages.save", path="agents/noter", body="My own.")
    (own, brought) = await mia.query("agents.list")
    assert (own["path"], brought["plugin"]) == ("agents/noter", STUDIO)
    run_id = (await mia.mutate("agents.run", agent="noter"))["runId"]
    assert (await mia.query("runs.get", id=run_id))["input"]["agent"] == "agents/noter", "a page wins by its name"
    await mia.mutate("pages.delete", path="agents/noter")


def test_what_nobody_can_see_nobody_can_agree_to(tmp_path: Path) -> None:
    package = studio(pages=PAGES[:1])
    package.files = {"shops.md": f"{RULE}\u202e"}
    lay(tmp_path, package)
    assert "not seen" in (read_plugin(tmp_path, STUDIO).problem or "")
