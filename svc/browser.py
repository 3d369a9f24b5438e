"""Opens the app in the browser of the person who started the service by hand on their own machine.

Only for a person at a terminal of a desktop: a service manager has no terminal, a server has no display, and over ssh
the display is on another machine. If no browser can be opened, nothing is lost: the address is printed too.
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
    """The program that opens an address for the person at this machine; ``None`` if there is no such person."""
    if not at_terminal or "SSH_CONNECTION" in environ:
        return None
    if platform == "linux" and not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        return None
    return shutil.which(_OPENERS.get(platform, ""), path=environ.get("PATH"))


def open_in_browser(opener: str, address: str) -> None:
    """Start the program and do not wait: it may live as long as the browser, so neither ctrl-C nor the
    drain ends it.
    """
    with suppress(OSError):
        subprocess.Popen(  # noqa: S603  our own address, handed to the desktop's own program, without a shell
            [opener, address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
