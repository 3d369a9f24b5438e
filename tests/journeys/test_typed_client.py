"""The public tRPC client, typed by ``svc types``, against a running service, by each of its links.

``tests/client/suite.ts`` is the suite. That it compiles under ``tsc --strict`` is half of what is tried.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.peers.needs import NODE, TRPC_CLIENT, needs
from tests.sizes import HANGS_S
from tests.support.process import ROOT, ServiceProcess

pytestmark = pytest.mark.journey

SUITE = ROOT / "tests" / "client"
MODULES = ROOT / "static" / "node_modules"


@needs(NODE, TRPC_CLIENT)
def test_a_typed_program_asks_changes_and_listens_by_every_link(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path) as service:
        service.start(PROVIDERS="fake")
        folder = compiled(tmp_path / "client", service)
        passed = run(["node", str(folder / "out" / "suite.js"), service.base], folder)
        assert service.stop() == 0
    assert len(json.loads(passed)) == 12
    assert service.events("subscription failed") == []


def compiled(folder: Path, service: ServiceProcess) -> Path:
    shutil.copytree(SUITE, folder)
    (folder / "svc.ts").write_text(service.command("types").stdout)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "node_modules").symlink_to(MODULES)
    run([str(MODULES / ".bin" / "tsc"), "--project", "."], folder)
    return folder


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
