"""The package as it lies in an environment after it was installed: with the app's files joined, in ``svc/_static``."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support.joined_app import join_app
from tests.support.process import ROOT


def lay_package(root: Path) -> Path:
    """Below ``root``, which then is where ``python -m svc`` finds it."""
    shutil.copytree(ROOT / "svc", root / "svc", ignore=shutil.ignore_patterns("__pycache__"))
    join_app(root / "svc/_static", also=())
    return root
