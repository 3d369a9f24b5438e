"""MCP servers of others, from the page to the tool's answer in an agent's run: programs, addresses, and bad manners."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import hypercorn
import pytest
import trio
from hypercorn.trio import serve as hypercorn_serve
from mcp.server.mcpserver import MCPServer
from pydantic import Field

from svc import landlock
from svc.clock import VirtualClock
from svc.configuring import parse
from svc.mcp.declared import KIND, Declaration
from svc.mcp.feature import JOB
from svc.mcp.from_plugins import id_of
from svc.mcp.servers import McpServer
from svc.plugins import Plugins, pin
from svc.store import Tx
from svc.worker.mcp import using
from tests.identity.people import sign_in
from tests.mcp.odd import ECHO, Odd
from tests.mcp.using import AGENT, allow, asked, begun, connect, ended, looked, server, used
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, RpcError, Service, open_service
from tests.support.waiting import until

pytestmark = pytest.mark.wall_clock


@pytest.fixture
def odd(tmp_path_factory: pytest.TempPathFactory) -> Odd:
    return Odd(tmp_path_factory.mktemp("odd") / "odd.json")


@pytest.fixture
async def there(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        yield service


@pytest.mark.thorough
async def test_a_program_is_connected_agreed_to_and_used_by_an_agent(there: Service, odd: Odd) -> None:
    await there.mutate("pages.save", path="mcp/odd", body=odd.page(NOTES="/srv"))
    await there.mutate("pages.save", path="agents/user", body=AGENT)
    assert (await server(there))["state"] == "new"
    assert odd.heard == [], "nothing is started that nobody said yes to"
    found = await connect(there)
    assert (found["state"], found["version"], [one["state"] for one in found["tools"]]) == ("ready", "1.0", ["new"])
    names = [one["name"] for one in await there.query("tools.list")]
    assert "mcp.odd.echo" not in names
    await allow(there)
    assert "mcp.odd.echo" in [one["name"] for one in await there.query("tools.list")]

    run_id = await begun(there, {"text": "a\u202eb", "times": 2}, {"text": "again"}, {"times": 3})
    question = await asked(there, run_id)
    assert question["input"] == {"text": "again"}, "the first went by itself, for the run had read nothing from outside"
    assert "the MCP server odd" in question["summary"]
    await there.mutate("approvals.decide", id=question["id"], approve=True, input={"text": "again, as I say"})
    run = await ended(there, run_id)
    assert run["state"] == "done", run["error"]
    assert odd.calls() == [{"text": "a\u202eb", "times": 2}, {"text": "again, as I say"}]
    assert "abab" in str(run["steps"]), "without what hides"
    assert "missing required field `text`" in str(run["steps"])
    assert (await there.query("agents.trust", runId=run_id)) == {"outside": "the MCP server odd"}
    start = next(one for one in odd.heard if "start" in one)
    assert set(start["environ"]) - {"LC_CTYPE"} == {"NOTES"}, "the declared environment, and nothing else"
    assert start["directory"] == "/"


@pytest.mark.skipif(landlock.version() < landlock.FILES_FROM, reason="this system has no Landlock")
async def test_a_program_reads_and_writes_what_its_page_names_and_never_what_is_ours(
    there: Service, odd: Odd, tmp_path_factory: pytest.TempPathFactory
) -> None:
    notes, drafts, other = (tmp_path_factory.mktemp(name) / "a" for name in ("notes", "drafts", "other"))
    for file in (notes, drafts, other):
        file.write_text("words")
    ours = there.workspace.home.path / "snooped"
    ours.write_text("words")
    folders = f"folders:\n  read: {notes.parent}\n  write: {drafts.parent}\n---\n"
    await there.mutate("pages.save", path="agents/user", body=AGENT)
    await there.mutate("pages.save", path="mcp/odd", body=odd.page().replace("env: {}\n---\n", folders))
    odd.is_(odd="snoops", snoops=[str(file) for file in (notes, drafts, other, ours, Path(f"/proc/{os.getpid()}/mem"))])
    found = await connect(there)
    assert (found["folders"], found["confined"]) == ([f"read {notes.parent}", f"write {drafts.parent}"], True)
    await allow(there)
    await used(there, {"text": "x"})
    (seen,) = [one["snooped"] for one in odd.heard if "snooped" in one]
    assert seen == ["r", "rw", "", "", ""]
    home = f"folders:\n  read: {there.workspace.home.path.parent}\n---\n"
    await there.mutate("pages.save", path="mcp/odd", body=odd.page().replace("env: {}\n---\n", home), revision=1)
    found = await server(there)
    assert (found["state"], found["problem"]) == (
        "off",
        "Its folders hold the home of svc itself, or lie in it. No program is let in there.",
    )


@pytest.mark.thorough
async def test_a_server_that_dies_hangs_lies_floods_or_asks_harms_nobody(
    there: Service, odd: Odd, monkeypatch: pytest.MonkeyPatch
) -> None:
    await there.mutate("pages.save", path="mcp/odd", body=odd.page())
    await there.mutate("pages.save", path="agents/user", body=AGENT)
    odd.is_(odd="starts not")
    found = await connect(there)
    assert (found["state"], found["problem"]) == ("failed", "It has ended. The last it said: no such table: notes")
    hostile = {**ECHO, "name": "no/name", "description": "x"}
    huge = {**ECHO, "name": "huge", "description": "x" * 20_000}
    odd.is_(odd=None, tools=[ECHO, hostile, huge, {"name": "none"}, 7, ECHO])
    found = await connect(there)
    assert ([one["tool"] for one in found["tools"]], len(found["leftOut"])) == (["echo"], 5)
    await allow(there)

    odd.is_(odd="dies")
    assert "The last it said: Error: out of memory\u241b[31m Whether it was done is not known" in await used(
        there, {"text": "1"}
    )
    odd.is_(odd="floods")
    assert "more than 4 MiB, and was cut off" in await used(there, {"text": "2"})
    odd.is_(odd="lies")
    said = await used(there, {"text": "right"})
    assert "right" in said
    assert "of another question" not in said
    odd.is_(odd="asks")
    assert "4 4" in await used(there, {"text": "4 4"})
    (answers,) = [one["answers"] for one in odd.heard if "answers" in one]
    assert [("error" in one, one.get("result")) for one in answers] == [(True, None), (False, {})]
    odd.is_(odd="answers shapelessly")
    assert "is no answer. Whether it was done is not known" in await used(there, {"text": "6"})
    odd.is_(odd="fails")
    assert "no luck" in await used(there, {"text": "no luck"})
    odd.is_(odd=None)
    assert "[Cut: it has 200000 bytes.]" in await used(there, {"text": "xy", "times": 100_000})
    odd.is_(odd="hangs")
    monkeypatch.setattr(using, "CONNECT_S", 1.5)
    monkeypatch.setattr(using, "CALL_S", 0.5)
    assert "it took too long. Whether it was done is not known" in await used(there, {"text": "5"})
    assert len(odd.calls()) == 8, "nothing was called twice"
    for one in odd.heard:
        if "start" in one:
            with pytest.raises(ProcessLookupError):  # no program is left behind
                os.kill(one["start"], 0)


@pytest.mark.thorough
async def test_what_changed_is_not_called_and_shown_and_needs_a_new_yes_of_who_saw_it(there: Service, odd: Odd) -> None:
    await there.mutate("pages.save", path="mcp/odd", body=odd.page())
    await there.mutate("pages.save", path="agents/user", body=AGENT)
    await connect(there)
    (seen,) = (await server(there))["tools"]
    await allow(there)
    for change in (
        {"tools": [{**ECHO, "description": "Says it to everybody.\u200b"}]},
        {"tools": [ECHO], "version": "1.1"},
        {"tools": [{**ECHO, "annotations": {"readOnlyHint": True}}], "version": "1.0"},
    ):
        odd.is_(**change)
        assert "has changed it. It was not called" in await used(there, {"text": "x"})
        (tool,) = (await server(there))["tools"]
        assert tool["state"] == "changed"
        assert tool["changes"]
        assert not [one for one in await there.query("tools.list") if one["name"].startswith("mcp.")]
        with pytest.raises(RpcError, match="changed since you looked"):
            await there.mutate("mcp.allow", name="odd", tools=[{"name": "echo", "digest": seen["digest"]}])
        odd.is_(tools=[ECHO], version="1.0")
        await connect(there)  # as it was: what was agreed to holds again
        assert [one["state"] for one in (await server(there))["tools"]] == ["allowed"]
    assert odd.calls() == []
    odd.is_(tools=[{**ECHO, "name": "echo2"}])
    await connect(there)
    states = {one["tool"]: one["state"] for one in (await server(there))["tools"]}
    assert states == {"echo": "gone", "echo2": "new"}
    await there.mutate("mcp.forbid", name="odd", tools=["echo"])
    assert [one["tool"] for one in (await server(there))["tools"]] == ["echo2"]
    # Another program is another server, however it calls itself.
    await there.mutate("pages.save", path="mcp/odd", body=odd.page(SPY="1"))
    assert (await server(there))["state"] == "changed"
    assert not [one for one in await there.query("tools.list") if one["name"].startswith("mcp.")]
    with pytest.raises(RpcError, match="changed since you looked"):
        await there.mutate("mcp.connect", name="odd", launch="")


@pytest.mark.thorough
async def test_a_server_at_an_address_is_reached_through_the_broker_with_its_key(there: Service) -> None:
    async with remote() as (url, heard):
        body = f"---\nurl: {url}\nheaders:\n  Authorization: {{ capability: mcp.notes }}\n---\n"
        await there.mutate("pages.save", path="mcp/odd", body=body)
        await there.mutate("pages.save", path="agents/user", body=AGENT)
        assert (await server(there))["credentials"] == [{"name": "mcp.notes", "isSet": False}]
        found = await connect(there)
        assert (found["state"], found["problem"]) == ("failed", "There is no credential mcp.notes.")
        await there.mutate("capabilities.set", name="mcp.notes", value="Bearer canary-of-notes")
        assert (await connect(there))["state"] == "ready"
        await allow(there)
        assert "2000005" in await used(there, {"a": 2_000_000, "b": 5}, tool="mcp.odd.add")
        assert set(heard) == {"Bearer canary-of-notes"}
        audit = await there.query("capabilities.audit", name="mcp.notes")
        assert {one["outcome"] for one in audit["rows"]} == {"missing", "granted"}
        said = await used(there, {}, tool="mcp.odd.tells")
        assert "The key is ***" in said
        assert "canary" not in said, "a key that a server repeats is masked"
        await there.mutate("capabilities.set", name="mcp.notes", value="Bearer other")
        assert "It wants a sign-in" in (await connect(there))["problem"]


@pytest.mark.thorough
async def test_a_server_of_the_newest_edition_alone_is_spoken_to_as_it_wants(there: Service) -> None:
    async with remote(knows_handshake=False) as (url, _):
        body = f"---\nurl: {url}\nheaders:\n  Authorization: {{ capability: mcp.notes }}\n---\n"
        await there.mutate("pages.save", path="mcp/odd", body=body)
        await there.mutate("pages.save", path="agents/user", body=AGENT)
        await there.mutate("capabilities.set", name="mcp.notes", value="Bearer canary-of-notes")
        found = await connect(there)
        assert (found["state"], found["problem"], found["version"]) == ("ready", "", "7")
        await allow(there)
        # The official server holds the headers against what is asked, those of marked properties too.
        assert "2000005" in await used(there, {"a": 2_000_000, "b": 5}, tool="mcp.odd.add")
        assert "nördlich: 3" in await used(there, {"region": "nördlich", "deep": True}, tool="mcp.odd.routed")


@pytest.mark.thorough
async def test_a_program_of_the_newest_edition_or_of_one_to_come_is_understood(there: Service, odd: Odd) -> None:
    await there.mutate("pages.save", path="mcp/odd", body=odd.page())
    await there.mutate("pages.save", path="agents/user", body=AGENT)
    odd.is_(odd="new edition", speaks=["2026-07-28", "2031-01-01"])
    found = await connect(there)
    assert (found["state"], found["version"]) == ("ready", "1.0")
    await allow(there)
    assert "again" in await used(there, {"text": "again"})
    odd.is_(odd="new edition, asks")
    assert "It wants to be told something before it goes on" in await used(there, {"text": "x"})
    odd.is_(odd="new edition", speaks=["2031-01-01"])
    assert (await connect(there))["problem"] == "It speaks 2031-01-01 of the protocol, which is not spoken here."
    odd.is_(odd="no edition")
    assert "no such method" in (await connect(there))["problem"]
    odd.is_(odd=None, edition="2024-11-05")
    assert (await connect(there))["state"] == "ready"
    odd.is_(edition="1999-01-01")
    assert "1999-01-01" in (await connect(there))["problem"]


@asynccontextmanager
async def remote(*, knows_handshake: bool = True) -> AsyncIterator[tuple[str, list[str]]]:
    """A server of the official SDK, which wants a key, and what it was shown."""
    server = MCPServer("notes", version="7")
    heard: list[str] = []

    @server.tool()
    def add(a: int, b: int) -> int:
        "Adds."
        return a + b

    @server.tool()
    def tells() -> str:
        "Tells what it was given."
        return f"The key is {heard[-1]}."

    @server.tool()
    def routed(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
        deep: Annotated[bool, Field(json_schema_extra={"x-mcp-header": "Deep"})] = False,
    ) -> str:
        """Is routed by its headers."""
        return f"{region}: {3 if deep else 1}"

    inner = server.streamable_http_app()

    async def refuse(send: Any) -> None:
        data = {"supported": ["2026-07-28"], "requested": "2025-11-25"}
        refusal = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "Too old.", "data": data}}
        await send({"type": "http.response.start", "status": 400, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": json.dumps(refusal).encode()})

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            shown = dict(scope["headers"]).get(b"authorization", b"").decode()
            if shown != "Bearer canary-of-notes":
                await send({"type": "http.response.start", "status": 401, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
            heard.append(shown)
            if not knows_handshake and b"mcp-method" not in dict(scope["headers"]):
                await refuse(send)
                return
        await inner(scope, receive, send)

    config = hypercorn.Config()
    config.bind = ["127.0.0.1:0"]
    config.accesslog = None
    over = trio.Event()
    async with trio.open_nursery() as nursery:
        (bound,) = await nursery.start(partial(hypercorn_serve, app, config, shutdown_trigger=over.wait))
        yield f"{bound}/mcp", heard
        over.set()


async def test_the_environment_names_programs_for_admins_and_a_page_wins_by_its_name(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, odd: Odd
) -> None:
    program, *args = odd.command
    servers = json.dumps([{"name": name, "command": program, "args": args} for name in ("odd", "other")])
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_MCP_SERVERS=servers) as service:
        assert [one["state"] for one in (await looked(service))["tools"]] == ["allowed"], "by who set the environment"
        await looked(service, "other")
        await service.mutate("pages.save", path="mcp/odd", body=odd.page())
        assert [(await server(service, name))["path"] for name in ("odd", "other")] == ["mcp/odd", None]
        admin = await sign_in(service, MIA)
        noa = await sign_in(service, "noa@example.org", invite=(await admin.mutate("auth.createInvite"))["code"])
        assert {one["name"] for one in await admin.query("mcp.servers")} == {"odd", "other"}
        assert await noa.query("mcp.servers") == []
        with pytest.raises(RpcError, match="no such MCP server"):
            await noa.mutate("mcp.connect", name="other", launch="x")
        # What somebody else declares starts no program, takes no other's key, and displaces nobody's server.
        await noa.mutate("pages.save", path="mcp/other", body=odd.page())
        keyed = "---\nurl: https://mcp.example/\nheaders: { X-Key: { capability: llm.a } }\n---\n"
        await noa.mutate("pages.save", path="mcp/mine", body=keyed)
        problems = {one["name"]: one["problem"] for one in await noa.query("mcp.servers")}
        assert problems == {
            "mine": "Only an admin's page may name another credential than mcp.mine.",
            "other": "Only an admin's page may name a program.",
        }
        for one in await noa.query("mcp.servers"):
            with pytest.raises(RpcError, match="Only an admin's page"):
                await noa.mutate("mcp.connect", name=one["name"], launch=one["launch"])
        assert next(one for one in await admin.query("mcp.servers") if one["name"] == "other")["path"] is None


WITH_TIDES: Final = {"PROVIDERS": "fake", "SVC_PLUGINS": "tides", "SVC_PLUGINS_REGISTRY": "https://npm.example/"}


def installed(tmp_path: Path, brings: dict[str, Any]) -> Path:
    """The plugin tides, as npm would leave it. Returns its package.json."""
    held = tmp_path / "home" / "plugins" / "set-1"
    package = held / "node_modules" / "tides"
    package.mkdir(parents=True)
    manifest = {"title": "Tides", "mcp": [brings]}
    (package / "package.json").write_text(json.dumps({"name": "tides", "version": "1.0.0", "svc": manifest}))
    (held / "set.json").write_text(json.dumps({"wanted": ["tides"], "registry": "https://npm.example/"}))
    (held.parent / "current").write_text("set-1")
    return package / "package.json"


@pytest.mark.thorough
async def test_a_sign_in_at_a_plugins_server_stays_until_it_is_certain_that_the_server_is_gone(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    package = installed(tmp_path, {"name": "tides", "url": "https://tides.example/mcp"})
    whole = package.read_text()
    async with open_service(tmp_path, clock=wall, log=log, environ=WITH_TIDES) as service:
        plugins = service.workspace.service(Plugins)

        async def settled(*names: str) -> None:
            def standing() -> tuple[str, ...]:
                return tuple(one.name for one in plugins.standings())

            await until(
                lambda: not plugins.is_busy and names == standing(), what=f"the plugins to be {names}", tell=standing
            )

        def sign_in_there(tx: Tx) -> None:
            for server_id in (id_of(None, "tides", "tides"), id_of(None, "tides", "renamed"), "pag_gone"):
                tx.run("insert into mcp_sign_ins (server_id, url, challenge) values (:id, 'x', '{}')", id=server_id)

        async def left(*, after: str) -> int:
            package.write_text(after)
            await plugins.load()
            await JOB.run(service.workspace)
            return len(await service.rows("select 1 from mcp_sign_ins"))

        await settled("tides")
        await service.workspace.store.write(sign_in_there)
        assert await left(after=whole[:-1]) == 2, "only that of a page: nobody can read what the plugin brings now"
        assert await left(after=whole) == 1, "it brings one of the servers no more"
        await service.workspace.store.write(pin, '{"plugins": []}')
        await settled()
        await JOB.run(service.workspace)
        assert await service.rows("select 1 from mcp_sign_ins") == []


@pytest.mark.thorough
async def test_a_plugins_program_waits_for_the_yes_to_it_and_then_for_one_to_each_tool(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, odd: Odd
) -> None:
    program, *args = odd.command
    installed(tmp_path, {"name": "odd", "command": program, "args": args})
    async with open_service(tmp_path, clock=wall, log=log, environ=WITH_TIDES) as service:
        assert await service.query("mcp.servers") == []
        (plugin,) = await service.query("plugins.list")
        await service.mutate("plugins.agree", name="tides", rights=[one["id"] for one in plugin["rights"]])
        assert [(one["state"], one["plugin"]) for one in await service.query("mcp.servers")] == [("new", "tides")]
        assert [one["state"] for one in (await connect(service))["tools"]] == ["new"], "no tool is allowed by itself"
        await allow(service)
        await service.mutate("pages.save", path="agents/user", body=AGENT)
        await used(service, {"text": "over the sea"})
        await service.mutate("plugins.set", name="tides", on=False)
        assert await service.query("mcp.servers") == []
        assert "There is no tool" in await used(service, {"text": "again"})
        await service.mutate("plugins.set", name="tides", on=True)
        admin = await sign_in(service, MIA)
        assert [(one["state"], one["tools"]) for one in await admin.query("mcp.servers")] == [("new", [])]
        noa = await sign_in(service, "noa@example.org", invite=(await admin.mutate("auth.createInvite"))["code"])
        assert await noa.query("mcp.servers") == []
        await admin.mutate("pages.save", path="mcp/odd", body=odd.page())
        assert [one["path"] for one in await admin.query("mcp.servers")] == ["mcp/odd"]
    assert odd.calls() == [{"text": "over the sea"}]


@pytest.mark.parametrize(
    ("host", "says_where"),
    [
        ("tides.example:8443", False),
        ("localhost", True),
        ("127.0.0.1:8443", True),
        ("[::1]", True),
        ("10.0.0.7", True),
        ("2130706433", False),
        ("127.1", False),
        ("0x7f.0.0.1", False),
        ("localhost.tides.example", False),
        ("10.0.0.7.tides.example", False),
    ],
)
def test_a_plugins_name_leads_out_whatever_it_is_resolved_to(host: str, *, says_where: bool) -> None:
    """An admin agreed to a name; only an address in numbers, or this machine's own name, says where it leads."""
    of_page = McpServer(
        id="x", name="x", title="x", path=None, declaration=Declaration(url=f"https://{host}/mcp"), by_admin=True
    )
    assert of_page.may_be_inside
    assert replace(of_page, plugin="tides").may_be_inside is says_where
    assert not replace(of_page, by_admin=False).may_be_inside


@pytest.mark.parametrize(
    ("head", "line", "reason"),
    [
        ("command: a\nurl: https://b.example/", 2, "either command"),
        ("url: ftp://b.example/", 2, "an https address"),
        ("url: http://b.example/", 2, "https, or http on this machine"),
        ("url: https://me:pw@b.example/", 2, "no user"),
        ("url: https://b.example/\nargs: [x]", 3, "for servers with a command"),
        ("command: a\nenv:\n  A-B: x", 4, "no name"),
        ("command: a\nenv:\n  A: { capabilty: x }", 4, "no field"),
        ("command: a\nfolders: { read: notes }", 3, "no whole path"),
        ("command: a\nfolders:\n  write: /srv/../etc", 4, "no whole path"),
        ("url: https://b.example/\nfolders: { read: /srv }", 3, "for servers with a command"),
        ("command: a\nport: 3", 3, "no field port"),
    ],
)
def test_a_page_that_is_no_server_is_told_with_its_line(head: str, line: int, reason: str) -> None:
    _, _, value, fault = parse(KIND, title="x", body=f"---\n{head}\n---\n")
    assert value is None
    assert fault is not None
    assert (fault.line, reason in fault.reason) == (line, True), fault.reason


@pytest.mark.thorough
async def test_a_call_that_was_under_way_when_svc_died_is_not_made_again_by_itself(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, odd: Odd
) -> None:
    settings = {"PROVIDERS": "fake", "SVC_DRAIN_SECONDS": "0"}
    async with open_service(tmp_path, clock=wall, log=log, environ=settings) as service:
        await service.mutate("pages.save", path="mcp/odd", body=odd.page())
        await service.mutate("pages.save", path="agents/user", body=AGENT)
        await connect(service)
        await allow(service)
        odd.is_(odd="hangs")
        run_id = await begun(service, {"text": "once"})
        await until(odd.calls, what="the server to be called")
    odd.is_(odd=None)
    async with open_service(tmp_path, clock=wall, log=log, environ=settings) as service:
        question = await asked(service, run_id)
        assert "whether it was done is not known" in question["summary"]
        await service.mutate("approvals.decide", id=question["id"], approve=False)
        assert (await ended(service, run_id))["state"] == "done"
        assert "has declined" in str((await service.query("fake.llm.calls"))[-1]["messages"])
    assert odd.calls() == [{"text": "once"}]
