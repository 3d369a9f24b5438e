"""The same mailbox in the programs of others: mbsync keeps it as Maildirs, both ways, and notmuch indexes those."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.peers.dovecot import ADDRESS, PASSWORD, Dovecot
from tests.sizes import HANGS_S, SOAK

FLAGS: Final = {"S": "\\Seen", "F": "\\Flagged"}
"""Of those that both keep."""
DEADLINE_S: Final = HANGS_S * (10 if SOAK else 1)
_TUID: Final = re.compile(rb"^X-TUID: .*\n", re.MULTILINE)
"""By which mbsync knows a mail again that it has just put somewhere."""
_UID: Final = re.compile(r",U=\d+")

Shown = Counter[tuple[str, bytes, frozenset[str]]]
"""Folder, mail and flags; without carriage returns, for a Maildir has other ends of lines, and without mbsync's
mark."""


def programs_are_there() -> bool:
    return bool(shutil.which("mbsync") and shutil.which("notmuch"))


@dataclass(frozen=True, kw_only=True)
class Maildirs:
    directory: Path
    server: Dovecot

    def __post_init__(self) -> None:
        self.mail.mkdir(parents=True)
        (self.directory / "password").write_text(PASSWORD)
        (self.directory / "mbsyncrc").write_text(_MBSYNC.format(one=self, server=self.server, address=ADDRESS))
        (self.directory / "notmuchrc").write_text(
            f"[database]\npath={self.mail}\n[user]\nname=Peer\nprimary_email={ADDRESS}\n"
            "[new]\nignore=.mbsyncstate;.uidvalidity\n"
        )

    @property
    def mail(self) -> Path:
        return self.directory / "mail"

    def sync(self) -> None:
        """Both sides have the same then, in the eyes of mbsync."""
        _run("mbsync", "--quiet", "--config", str(self.directory / "mbsyncrc"), "all")

    def files(self, folder: str) -> list[Path]:
        return [path for part in ("cur", "new") for path in sorted((self.mail / folder / part).iterdir())]

    def shown(self, folders: list[str]) -> Shown:
        found: Shown = Counter()
        for folder in folders:
            for path in self.files(folder):
                letters = path.name.partition(":2,")[2]
                flags = frozenset(name for letter, name in FLAGS.items() if letter in letters)
                found[folder, _bare(path.read_bytes()), flags] += 1
        return found

    def flag(self, path: Path, letters: str) -> None:
        """As any program that shows a Maildir does."""
        path.rename(path.parent.parent / "cur" / f"{path.name.partition(':2,')[0]}:2,{letters}")

    def move(self, path: Path, folder: str) -> None:
        path.rename(self.mail / folder / "cur" / _UID.sub("", path.name))

    def indexed(self) -> int:
        """Files that notmuch has in its index, once it has looked."""
        settings = {"NOTMUCH_CONFIG": str(self.directory / "notmuchrc")}
        _run("notmuch", "new", "--quiet", **settings)
        return int(_run("notmuch", "count", "--output=files", "*", **settings))


def at_server(server: Dovecot, folders: list[str]) -> Shown:
    kept = frozenset(FLAGS.values())
    return Counter((folder, _bare(raw), flags & kept) for folder in folders for raw, flags in server.mails(folder))


def _bare(raw: bytes) -> bytes:
    return _TUID.sub(b"", raw.replace(b"\r", b""), count=1)


def _run(*command: str, **settings: str) -> str:
    done = subprocess.run(
        command, env=os.environ | settings, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


_MBSYNC: Final = """
IMAPAccount there
Host localhost
Port {server.tls_port}
User {address}
PassCmd "cat {one.directory}/password"
SSLType IMAPS
CertificateFile {server.certificate}

IMAPStore there
Account there

MaildirStore here
Path {one.mail}/
Inbox {one.mail}/INBOX
SubFolders Verbatim

Channel all
Far :there:
Near :here:
Patterns *
Create Near
Expunge Both
Sync All
SyncState *
"""
