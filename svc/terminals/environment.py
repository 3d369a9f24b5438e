"""The environment of a shell: the variables that every shell of this user has, and none of the service's own.

It is built from a list of allowed variables: any other may be a secret, of the service or of something it uses. A login
shell reads the rest from the user's own files. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

TERM: Final = "xterm-256color"
_NAMES: Final = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LD_LIBRARY_PATH"),
        *("EDITOR", "VISUAL", "PAGER", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK"),
        *("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"),
        "__CF_USER_TEXT_ENCODING",  # macOS gives it to every process
    }
)
_BEGINNINGS: Final = ("LC_", "XDG_")


def environment_of(environ: Mapping[str, str], *, shell: Path) -> dict[str, str]:
    """The environment for a shell of this user, in UTF-8 unless the user says otherwise."""
    passed = {name: value for name, value in environ.items() if name in _NAMES or name.startswith(_BEGINNINGS)}
    if not any(passed.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")):
        passed["LANG"] = "C.UTF-8"
    return {**passed, "SHELL": str(shell), "TERM": TERM, "COLORTERM": "truecolor", "TERM_PROGRAM": "svc"}
