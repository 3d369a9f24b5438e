"""A service killed while npm installs: what was there before serves, and the next start installs what is wanted."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.peers.needs import NPM, needs
from tests.plugins.registry import serving, studio
from tests.sizes import HANGS_S
from tests.support.process import ServiceProcess, until

pytestmark = [pytest.mark.journey, pytest.mark.wall_clock, needs(NPM)]


def test_a_death_in_the_middle_of_an_install_keeps_the_old_set(tmp_path: Path) -> None:
    with serving() as registry, ServiceProcess(tmp_path) as service:
        settings = {"PROVIDERS": "fake", "SVC_PLUGINS_REGISTRY": registry.url}

        def found() -> dict[str, Any]:
            (one,) = service.query("plugins.list")
            return dict(one)

        def comes(version: str) -> None:
            until(
                lambda: (found()["version"], found()["state"], found()["problem"]) == (version, "on", None),
                what=f"version {version}",
                deadline_s=HANGS_S,
                tell=lambda: f"{found()}\n{service.log()}",
            )

        registry.publish(studio("1.0.0"))
        service.start(SVC_PLUGINS="svc-plugin-studio@^1", **settings)
        comes("1.0.0")
        service.kill()

        registry.publish(studio("2.0.0"))
        registry.hangs = threading.Event()
        registry.asked.clear()
        service.start(SVC_PLUGINS="svc-plugin-studio@^2", **settings)
        until(lambda: bool(registry.asked), what="npm to ask", deadline_s=HANGS_S, tell=service.log)
        assert (found()["version"], found()["state"], found()["wanted"]) == ("1.0.0", "on", "^2")
        service.kill()
        registry.hangs.set()

        service.start(SVC_PLUGINS="svc-plugin-studio@^2", **settings)
        comes("2.0.0")
        assert service.query("plugins.page", plugin="svc-plugin-studio", name="welcome")["body"] == "Version 2.0.0\n"
        service.stop()
        (service.home / "plugins" / "current").write_text("damaged")
        service.start(SVC_PLUGINS="svc-plugin-studio@^2", **settings)
        comes("2.0.0")
        assert service.stop() == 0
