"""A home that somebody has lived in, and ``svc doctor`` on it, in this process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from svc.cli import main
from svc.clock import VirtualClock
from svc.store import INTERNAL_PORT_FILE, Home
from tests.recorded_log import RecordedLog
from tests.support.process import free_port
from tests.support.service import Service, open_service

CLIENT: Final = {"IDP_CLIENT_ID": "id.example", "IDP_CLIENT_SECRET": "canary-client-secret"}


def live(directory: Path) -> None:
    """A home under ``directory`` with a secret and a mail that has an attachment."""

    async def days() -> None:
        clock = VirtualClock()
        opened = open_service(directory, clock=clock, log=RecordedLog(clock), PROVIDERS="fake", environ=CLIENT)
        async with opened as service:
            await _with_a_file(service)

    trio.run(days, clock=MockClock(autojump_threshold=0))


async def _with_a_file(service: Service) -> None:
    await service.synced("A file", attachments=[{"filename": "a.txt", "mime": "text/plain", "text": "attached"}])


@dataclass(kw_only=True)
class HomeCopy:
    """A copy of that home, what is set, and what ``svc doctor`` says of it."""

    directory: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    settings: dict[str, str] = field(default_factory=dict)
    exit_code: int = -1

    @property
    def home(self) -> Path:
        return self.directory / "home"

    @property
    def database(self) -> Path:
        return self.home / "db" / "svc.sqlite3"

    @property
    def key(self) -> Path:
        (path,) = (self.directory / "config" / "svc" / "keys").iterdir()
        return path

    @property
    def blobs(self) -> list[Path]:
        return list((self.home / "blobs").glob("??/*"))

    @classmethod
    def copied(cls, lived_in: Path, to: Path, **more: Any) -> HomeCopy:
        shutil.copytree(lived_in, to, dirs_exist_ok=True)
        home_copy = cls(directory=to, **more)
        Home.tell(home_copy.home, INTERNAL_PORT_FILE, str(free_port()))  # on 4780 a service of somebody else may answer
        return home_copy

    def examined(self) -> list[dict[str, str]]:
        """What ``svc doctor --json`` prints; its exit code is kept."""
        said = self.said("--json")
        verdict = json.loads(said)
        assert verdict["ok"] == (self.exit_code == 0)
        rows: list[dict[str, str]] = verdict["checks"]
        return rows

    def said(self, *arguments: str) -> str:
        environ: Mapping[str, str] = {
            "HOME": str(self.directory),
            "PATH": "/usr/bin:/bin",
            "XDG_CONFIG_HOME": str(self.directory / "config"),
            "SVC_HOME": str(self.home),
            "SVC_PORT": str(free_port()),
            "SVC_INTERNAL_PORT": str(free_port()),
            "PROVIDERS": "fake",
            **self.settings,
        }
        with self.monkeypatch.context() as patch:
            patch.setattr("os.environ", {name: value for name, value in environ.items() if value})
            self.exit_code = main(["doctor", *arguments])
        return self.capsys.readouterr().out
