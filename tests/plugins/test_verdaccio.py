"""A registry that we did not write: the example is published as an author would, and installed. With SVC_SOAK=1."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc.nursery import ThreadPool
from svc.plugins.reading import read_plugin
from svc.plugins.specs import listed
from tests.peers.needs import NPM, VERDACCIO, need
from tests.peers.verdaccio import verdaccio
from tests.plugins.plugin_service import installer
from tests.plugins.registry import EXAMPLE
from tests.sizes import SOAK

pytestmark = [pytest.mark.wall_clock, pytest.mark.peer]


@pytest.mark.skipif(not SOAK, reason="a whole registry is tried with SVC_SOAK=1")
async def test_the_example_is_published_and_installed(tmp_path: Path, threads: ThreadPool) -> None:
    need(NPM, VERDACCIO)
    (tmp_path / "registry").mkdir()
    with verdaccio(tmp_path / "registry") as registry:
        registry.publish(EXAMPLE)
        ours = installer(tmp_path, registry.url, threads)
        held = await ours.install(listed("svc-plugin-tern-and-tide@^1"), lock=None)
        plugin = read_plugin(held.path, "svc-plugin-tern-and-tide")
        assert plugin.problem is None
        assert len(plugin.bodies) == 2
        assert not (held.path / "node_modules" / plugin.name / ".npmrc").exists()
