"""The settings of terminals."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from svc.config import Setting, file_path, whole_number

SHELL: Final[Setting[Path]] = Setting(
    name="SVC_SHELL",
    parse=file_path,
    default=lambda environ: Path(environ.get("SHELL") or "/bin/sh"),
    shown_default="$SHELL, else /bin/sh",
    type="file",
    help="Shell binary that terminals start on this machine, as a login shell.",
)
IDLE_S: Final[Setting[int]] = Setting(
    name="SVC_PTY_IDLE_SECONDS",
    parse=whole_number(1, 7 * 24 * 3_600),
    default=600,
    type="whole number",
    unit="seconds",
    help="How long a terminal runs after its last browser window is closed. Then it ends, with every program in it.",
)
SETTINGS: Final = (SHELL, IDLE_S)
