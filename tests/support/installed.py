"""The package as it lies in an environment after it was installed: with the app's files joined, in ``svc/_static``."""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from tests.support.joined_app import IMPORTED_BY_TESTS, join_app
from tests.support.process import ROOT, ServiceProcess


@cache
def installed() -> Path:
    """Made once a process, and gone with it."""
    folder = Path(mkdtemp(prefix="svc-installed-"))
    atexit.register(shutil.rmtree, folder)
    return lay_package(folder, also=IMPORTED_BY_TESTS)


def lay_package(root: Path, *, also: Sequence[str] = ()) -> Path:
    """Below ``root``, which then is where ``python -m svc`` finds it. With its bytecode, where there is any."""
    shutil.copytree(ROOT / "svc", root / "svc")
    join_app(root / "svc/_static", also=also)
    return root


@dataclass
class InstalledService(ServiceProcess):
    """As it is installed: a browser loads the joined app in a third of the time that the modules of a checkout take."""

    root: Path = field(default_factory=installed)
