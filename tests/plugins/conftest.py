"""npm, which says its version at once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from svc.plugins.npm import OLDEST


@pytest.fixture
def npm_says_its_version_at_once(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each install asks for it first, which takes npm longer than the rest of a small test. All else is npm's own."""
    npm, version = shutil.which("npm"), ".".join(map(str, OLDEST))
    folder = tmp_path_factory.mktemp("programs")
    wrapper: Path = folder / "npm"
    wrapper.write_text(f'#!/bin/sh\n[ "$*" = --version ] && exec echo {version}\nexec {npm} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
