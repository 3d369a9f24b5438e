"""Where the ssh server lies: not in everybody's PATH."""

from __future__ import annotations

import shutil
from pathlib import Path


def sshd_path() -> Path | None:
    """sshd wants to be called by its whole path."""
    found = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin:/usr/bin")
    return None if found is None or shutil.which("ssh-keygen") is None else Path(found)
