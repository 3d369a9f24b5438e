"""An ssh server of this machine, for tests: with a key of its own, and one key that opens it.

with sftp(directory) as host:
    host.port, host.user, host.key, host.host_key
"""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.peers.buckets import listens
from tests.support.process import free_port, until

START_DEADLINE_S: Final = 60.0


def sshd_path() -> Path | None:
    """sshd wants to be called by its whole path, and is not in everybody's PATH."""
    found = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin:/usr/bin")
    return None if found is None or shutil.which("ssh-keygen") is None else Path(found)


@dataclass(frozen=True, kw_only=True)
class SftpHost:
    """``host_key``: its public key, as ``ssh-keyscan`` tells it behind the name."""

    port: int
    user: str
    key: Path
    host_key: str


@contextmanager
def sftp(directory: Path) -> Iterator[SftpHost]:
    """Wants ``needs(SSHD)``."""
    directory.mkdir(parents=True)
    for name in ("host", "user"):
        keygen(directory / name)
    port = free_port()
    config = {
        "ListenAddress": f"127.0.0.1:{port}",
        "HostKey": directory / "host",
        "AuthorizedKeysFile": directory / "user.pub",
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
        "Subsystem": "sftp internal-sftp",
    }
    (directory / "sshd_config").write_text("".join(f"{name} {value}\n" for name, value in config.items()))
    if os.getuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # which the system's own start makes
    command = [str(sshd_path()), "-D", "-e", "-f", str(directory / "sshd_config")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: listens(port), what="sshd to listen", deadline_s=START_DEADLINE_S)
            public = " ".join((directory / "host.pub").read_text().split()[:2])
            yield SftpHost(port=port, user=getpass.getuser(), key=directory / "user", host_key=public)
        finally:
            process.terminate()
            process.wait()


def keygen(path: Path) -> None:
    """A new key without a passphrase at ``path``, and its public half beside it."""
    program = shutil.which("ssh-keygen")
    assert program is not None
    subprocess.run([program, "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
