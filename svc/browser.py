"""Opens the app in the browser of who started the service by hand, on the machine at which they sit.

Only for a person at a terminal of a desktop: a service manager has no terminal, a server no display, and over ssh the
display is elsewhere. Where no browser can be opened nothing is lost, since the address is printed as well.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

_OPENERS: Final = {"darwin": "open", "linux": "xdg-open"}


def opener_of(environ: Mapping[str, str], *, platform: str = sys.platform, at_terminal: bool) -> str | None:
    """The program that opens an address for who sits here; ``None`` where nobody does."""
    if not at_terminal or "SSH_CONNECTION" in environ:
        return None
    if platform == "linux" and not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        return None
    return shutil.which(_OPENERS.get(platform, ""), path=environ.get("PATH"))


def open_in_browser(opener: str, address: str) -> None:
    """Start it and go on: it may live as long as the browser does, so neither ctrl-C nor the drain ends it."""
    with suppress(OSError):
        subprocess.Popen(  # noqa: S603  our own address, handed to the desktop's own program, without a shell
            [opener, address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
