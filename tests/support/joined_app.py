"""The app with its modules joined, as an installed svc serves it: a browser loads it in two thirds of the time.

The modules that tests import by their addresses stay modules (``joined/live.js``), so that a test speaks to the very
one that the app runs with.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).parents[2] / "static"
IMPORTED_BY_TESTS: Final = (
    "identity/next.js",
    "keys.js",
    "live.js",
    "mail/actions.js",
    "mail/colours.js",
    "mail/lists.js",
    "mail/selection.js",
    "meetings/held.js",
    "offline/kept.js",
    "offline/owner.js",
    "offline/prepared.js",
    "offline/queue.js",
    "offline/store.js",
    "pages/markdown.js",
    "recently_used.js",
    "router.js",
    "rpc.js",
    "session.js",
    "settings/preferences.js",
    "stand_in.js",
    "ui/dates.js",
    "vendor/uqr.mjs",
)


def join_app(target: Path, *, also: Sequence[str] = IMPORTED_BY_TESTS) -> Path:
    """Make it in ``target``, which must not be there. Wants Node, and the packages that ``make`` lays into static/."""
    node = shutil.which("node")
    assert node is not None
    kept = [word for name in also for word in ("--also", name)]
    subprocess.run([node, str(STATIC / "join.mjs"), str(target), *kept], check=True)
    return target
