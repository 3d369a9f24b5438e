"""Pictures for people, in ``tests/shots/``. Nothing judges them, so they are taken only where ``SVC_SHOTS=1``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

SHOTS: Final = Path(__file__).parents[1] / "shots"
TAKES_PICTURES: Final = os.environ.get("SVC_SHOTS") == "1"


def keep_picture(page: Page, name: str) -> None:
    if not TAKES_PICTURES:
        return
    SHOTS.mkdir(exist_ok=True)
    (SHOTS / f"{name}.png").write_bytes(page.screenshot())  # with path= Playwright leaves a thread behind
