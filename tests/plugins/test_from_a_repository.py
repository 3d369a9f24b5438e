"""The plugins that a followed repository pins: there with the first sync, changed by a push, and told where bad."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc.clock import VirtualClock
from svc.gitops.service import Gitops
from tests.gitops.upstream import Upstream
from tests.peers.needs import NPM, needs
from tests.plugins.plugin_service import listed_as, serving_plugins, settled
from tests.plugins.registry import Registry, example, serving, studio
from tests.recorded_log import RecordedLog
from tests.support.service import Service

pytestmark = [
    pytest.mark.wall_clock,
    needs(NPM),
    pytest.mark.thorough,
    pytest.mark.usefixtures("npm_says_its_version_at_once"),
]

STUDIO, TERN = "svc-plugin-studio", "svc-plugin-tern-and-tide"


@pytest.fixture
def registry() -> Iterator[Registry]:
    with serving() as one:
        one.publish(studio(), example())
        yield one


def wanting(*specs: str) -> dict[str, str | bytes | None]:
    return {"plugins.json": json.dumps({"plugins": specs})}


async def look(service: Service) -> None:
    follower = service.workspace.service(Gitops).follower
    assert follower is not None
    await follower.look()


async def test_the_list_in_the_repository_holds_and_is_followed(
    tmp_path: Path, registry: Registry, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream = Upstream(tmp_path / "upstream.git")
    upstream.push(wanting(f"{TERN}@^1"))
    settings = {"SVC_GITOPS_REPO": upstream.url, "SVC_GITOPS_POLL": "300"}
    async with serving_plugins(tmp_path, registry, wall=wall, log=log, plugins=f"{STUDIO}@1", **settings) as service:
        assert list(await settled(service)) == [TERN], "the environment's list was never installed"
        await listed_as(service, TERN, state="on")
        assert not any(STUDIO in path for path in registry.asked)
        upstream.push(wanting(f"{TERN}@^1", f"{STUDIO}@1"))
        await look(service)
        await listed_as(service, STUDIO, state="on")
        upstream.push(wanting(f"{TERN}@^1", "github:evil/evil"))
        await look(service)
        (problem,) = (await service.query("gitops.status"))["problems"]
        assert problem["file"] == "plugins.json"
        assert "names no package of a registry" in problem["reason"]
        assert list(await settled(service)) == [TERN, STUDIO][::-1], "the last good list holds"
        upstream.push({"plugins.json": None})
        await look(service)
        await listed_as(service, STUDIO, state="on", problem=None)
        assert list(await settled(service)) == [STUDIO]
