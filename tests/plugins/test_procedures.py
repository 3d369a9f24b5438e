"""Plugins of a service: installed at boot, shown, switched, agreed to; what fails keeps the old set. On real time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from svc import plugins
from svc.clock import VirtualClock
from svc.plugins import Plugins
from svc.plugins.queries import UNDECIDED
from tests.peers.needs import NPM, needs
from tests.plugins.plugin_service import installed, listed_as, serving_plugins, settled
from tests.plugins.registry import Registry, example, serving, studio
from tests.recorded_log import RecordedLog
from tests.support.service import RpcError, Service

pytestmark = [
    pytest.mark.wall_clock,
    needs(NPM),
    pytest.mark.thorough,
    pytest.mark.usefixtures("npm_says_its_version_at_once"),
]

TIDES = {"name": "tides", "url": "https://mcp.tides.example/mcp"}
STUDIO, TERN = "svc-plugin-studio", "svc-plugin-tern-and-tide"
Open = Callable[..., AbstractAsyncContextManager[Service]]


@pytest.fixture
def registry() -> Iterator[Registry]:
    with serving() as one:
        yield one


@pytest.fixture
def opening(tmp_path: Path, registry: Registry, wall: VirtualClock, log: RecordedLog) -> Open:
    """``opening(plugins="a@1")``, on the same home each time."""
    return partial(serving_plugins, tmp_path, registry, wall=wall, log=log)


async def test_what_is_wanted_is_installed_and_shown(opening: Open, registry: Registry) -> None:
    registry.publish(example())
    async with opening(plugins=f"{TERN}@^1") as service:
        found = await listed_as(service, TERN, state="on")
        assert found["version"] == "1.0.0"
        assert found["wanted"] == "^1"
        assert found["problem"] is None
        assert {kind: len(rows) for kind, rows in found["brings"].items()} == {
            "pages": 2,
            "mcp": 1,
            "palette": 2,
            "themes": 1,
        }
        offers = await service.query("plugins.offers")
        assert [one["title"] for one in offers["palette"]] == ["Open the studio handbook", "Open our clients"]
        assert offers["themes"][0]["tokens"]["accent"] == "light-dark(#0b5a8a, #7cc4ee)"
        page = await service.query("plugins.page", plugin=TERN, name="handbook")
        assert page["body"].startswith("We answer mail within a day")
        assert (await service.query("plugins.status"))["source"] == "environment"
        checks = {one["name"]: one for one in (await service.mutate("health.check"))["checks"]}
        assert checks["plugins"]["state"] == "ok"
        assert "plugins" not in (await service.get("/readyz")).json["checks"]


async def test_the_next_boot_asks_the_registry_nothing(opening: Open, registry: Registry) -> None:
    registry.publish(studio())
    async with opening(plugins=f"{STUDIO}@^1") as service:
        await listed_as(service, STUDIO, state="on")
    registry.asked.clear()
    registry.publish(studio("1.1.0"))
    async with opening(plugins=f"{STUDIO}@^1") as service:
        (found,) = await service.query("plugins.list")
        assert (found["state"], found["version"]) == ("on", "1.0.0"), "it serves from the first request on"
        await settled(service)
        assert registry.asked == []
        await service.mutate("plugins.update")
        await listed_as(service, STUDIO, version="1.1.0")
    async with opening() as service:
        assert await settled(service) == {}
        assert not any((service.workspace.home.path / "plugins").iterdir())


async def test_a_failed_install_keeps_the_old_set_and_is_shown(
    tmp_path: Path, opening: Open, registry: Registry
) -> None:
    registry.publish(studio())
    installed(tmp_path, registry, f"{STUDIO}@^1")
    async with opening(plugins=f"{STUDIO}@^2 none-such@1") as service:
        found = await settled(service)
        assert (found[STUDIO]["state"], found[STUDIO]["version"], found[STUDIO]["wanted"]) == ("on", "1.0.0", "^2")
        assert found["none-such"]["state"] == "failed"
        assert found["none-such"]["version"] is None
        for one in found.values():
            assert "none-such" in one["problem"] or "No matching version" in one["problem"]
        assert (await service.query("plugins.page", plugin=STUDIO, name="welcome"))["body"] == "Version 1.0.0\n"
        checks = {one["name"]: one for one in (await service.mutate("health.check"))["checks"]}
        assert checks["plugins"]["state"] == "warning"
        assert (await service.get("/readyz")).json["checks"]["plugins"] == "incomplete"
        registry.publish(studio("2.0.0"), studio_named("none-such"))
        await service.mutate("plugins.update")
        assert (await listed_as(service, STUDIO, version="2.0.0"))["problem"] is None
        await listed_as(service, "none-such", state="on")


async def test_a_plugin_is_switched_off_and_on_and_stays_so(tmp_path: Path, opening: Open, registry: Registry) -> None:
    registry.publish(studio())
    installed(tmp_path, registry, STUDIO)
    async with opening(plugins=STUDIO) as service:
        await listed_as(service, STUDIO, state="on")
        await service.mutate("plugins.set", name=STUDIO, on=False)
        assert (await settled(service))[STUDIO]["state"] == "off"
        assert (await service.query("plugins.offers"))["pages"] == []
        with pytest.raises(RpcError, match="No plugin brings such a page"):
            await service.query("plugins.page", plugin=STUDIO, name="welcome")
    async with opening(plugins=STUDIO) as service:
        assert (await settled(service))[STUDIO]["state"] == "off"
        await service.mutate("plugins.set", name=STUDIO, on=True)
        assert (await service.query("plugins.offers"))["pages"] != []


async def test_everybody_hears_that_something_changed(tmp_path: Path, opening: Open, registry: Registry) -> None:
    registry.publish(studio())
    installed(tmp_path, registry, STUDIO)
    async with opening(plugins=STUDIO) as service:
        await listed_as(service, STUDIO, state="on")
        socket = await service.live("plugins")
        await service.mutate("plugins.set", name=STUDIO, on=False)
        heard = await socket.hear()
        while heard["kind"] != "plugins.changed":
            heard = await socket.hear()
        await socket.leave()


async def test_new_rights_of_a_new_version_wait_for_a_yes(tmp_path: Path, opening: Open, registry: Registry) -> None:
    registry.publish(studio("1.0.0", mcp=[TIDES]))
    installed(tmp_path, registry, f"{STUDIO}@^1")
    async with opening(plugins=f"{STUDIO}@^1") as service:
        found = await listed_as(service, STUDIO, state="on")
        assert [(one["words"], one["agreed"]) for one in found["rights"]] == [
            ("Reach https://mcp.tides.example/mcp, as the MCP server tides", False)
        ]
        assert found["brings"]["mcp"][0]["whyNot"] == "It waits for a yes"
        assert await usable(service) == []
        await service.mutate("plugins.agree", name=STUDIO, rights=[one["id"] for one in found["rights"]])
        assert await usable(service) == ["tides"]
        registry.publish(studio("1.1.0", mcp=[TIDES, {"name": "charts", "command": "node", "args": ["charts.js"]}]))
        await service.mutate("plugins.update")
        newer = await listed_as(service, STUDIO, version="1.1.0")
        assert [one["agreed"] for one in newer["rights"]] == [True, False]
        assert await usable(service) == ["tides"], "it stays at its old rights"
        await service.mutate("plugins.agree", name=STUDIO, rights=[newer["rights"][1]["id"]])
        assert await usable(service) == ["tides", "charts"]
        with pytest.raises(RpcError, match="asks for something else by now"):
            await service.mutate("plugins.agree", name=STUDIO, rights=["0" * 64])
        await service.mutate("plugins.set", name=STUDIO, on=False)
        assert await usable(service) == []


async def test_a_public_cell_starts_no_program_of_a_plugin(tmp_path: Path, opening: Open, registry: Registry) -> None:
    registry.publish(studio(mcp=[TIDES, {"name": "charts", "command": "node"}]))
    cell = {"SVC_PROFILE": "cloud", "SVC_PUBLIC_ORIGIN": "https://127.0.0.1:4780"}
    installed(tmp_path, registry, STUDIO)
    async with opening(plugins=STUDIO, **cell) as service:
        held = service.workspace.service(Plugins)
        (plugin,) = held.in_force({})
        assert plugin.manifest is not None
        tides, charts = plugin.manifest.mcp
        assert held.why_not(plugin, tides, UNDECIDED) == "It waits for a yes"
        assert held.why_not(plugin, charts, UNDECIDED) == "A public cell starts no programs of others"


async def test_a_repositorys_list_wins_and_a_bad_one_keeps_the_last_good(
    tmp_path: Path, opening: Open, registry: Registry
) -> None:
    registry.publish(studio(), example())
    installed(tmp_path, registry, STUDIO)
    async with opening(plugins=STUDIO) as service:
        await listed_as(service, STUDIO, state="on")
        write = service.workspace.store.write
        assert await write(plugins.pin, '{"plugins": ["%s@1.0.0"]}' % TERN) is None  # noqa: UP031
        await listed_as(service, TERN, state="on")
        assert [one["name"] for one in await service.query("plugins.list")] == [TERN]
        assert (await service.query("plugins.status"))["source"] == "repository"
        problem = await write(plugins.pin, '{"plugins": ["../evil"]}')
        assert problem == "plugins.json: '../evil' names no package of a registry"
        await settled(service)
        status = await service.query("plugins.status")
        assert (status["source"], status["problem"]) == ("repository", problem)
        assert (await listed_as(service, TERN, state="on"))["problem"] is None
    async with opening(plugins=STUDIO) as service:
        assert list(await settled(service)) == [TERN], "also before the repository was asked again"
        await service.workspace.store.write(plugins.pin, None)
        await listed_as(service, STUDIO, state="on")


async def test_a_bad_plugin_is_shown_and_the_others_go_on(opening: Open, registry: Registry) -> None:
    bad = studio()
    bad.svc = {"title": "Studio", "surprise": 1}
    registry.publish(bad, example())
    async with opening(plugins=f"{STUDIO} {TERN}") as service:
        await listed_as(service, TERN, state="on")
        found = await listed_as(service, STUDIO, state="failed")
        assert found["version"] == "1.0.0"
        assert "unknown field `surprise`" in found["problem"]


async def test_a_registry_that_is_down_is_told_and_asked_again(opening: Open, registry: Registry) -> None:
    registry.publish(studio())
    registry.is_down = True
    async with opening(plugins=STUDIO) as service:
        found = await settled(service)
        assert found[STUDIO]["state"] == "failed"
        assert "503" in found[STUDIO]["problem"]
        registry.is_down = False
        await service.mutate("plugins.update")
        assert (await listed_as(service, STUDIO, state="on"))["problem"] is None


def studio_named(name: str) -> Any:
    package = studio()
    package.name = name
    return package


async def usable(service: Service) -> list[str]:
    """The MCP servers that a reader would get."""
    held = service.workspace.service(Plugins)
    decided = await service.workspace.store.read(plugins.decided)
    return [row.name for _, row in held.servers(decided)]
