"""Where npm installs from: the registry that is set, else its own, whatever a user or the machine has set for npm."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc.nursery import ThreadPool
from tests.peers.needs import NPM, needs
from tests.plugins.plugin_service import installer

pytestmark = [pytest.mark.wall_clock, needs(NPM)]


async def test_it_is_the_one_that_is_set(tmp_path: Path, threads: ThreadPool) -> None:
    npm = installer(tmp_path, "https://registry.example", threads).npm
    await npm.check(tmp_path)
    assert await npm.source(tmp_path) == "https://registry.example"


async def test_it_is_npm_s_own_else_whatever_npm_was_told(tmp_path: Path, threads: ThreadPool) -> None:
    user, scratch = tmp_path / "user", tmp_path / "scratch"
    user.mkdir()
    scratch.mkdir()
    (user / ".npmrc").write_text("registry=http://evil.example\n")
    npm = installer(tmp_path, "", threads, HOME=str(user), npm_config_registry="http://evil.example").npm
    source = await npm.source(scratch)
    assert source.startswith("https://")
    assert "evil" not in source
