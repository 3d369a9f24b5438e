"""An mbox taken in: `svc mail import` as a command, and notmuch beside it.

notmuch reads no mbox: git cuts it into files first, as its users do, and `notmuch new` takes those in. Both begin as a
command with nothing there yet, and end when the command ends; svc then has each mail durable, parsed and in its thread,
notmuch has its words in the index and leaves the mails where they were. svc takes their words later, by itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.mailroom import some_mails, sync_disks
from benchmarks.report import Table, count, ratio
from svc.formats.mailbox import entry

QUICK_MAILS: Final = 500
MAILS: Final = 5_000
AT: Final = 1_795_415_745_000


def run(quick: bool) -> Iterable[Table]:
    raws, what = some_mails(QUICK_MAILS if quick else MAILS)
    table = Table(title="An mbox taken in", columns=("", "svc", "notmuch", "svc x notmuch"))
    table.notes.append(f"{len(raws):,} mails: {what}; one run each, from nothing")
    table.notes.append("notmuch: cut into files by git mailsplit, and notmuch new; nothing synced to the disk")
    with TemporaryDirectory() as directory:
        box = Path(directory) / "all.mbox"
        with box.open("wb") as file:
            for raw in raws:
                file.write(entry(raw if raw.endswith(b"\n") else raw + b"\n", sender="bench@example.org", at=AT))
        sync_disks()
        ours = len(raws) / _svc(Path(directory), box)
        if shutil.which("notmuch") is None:
            table.add("mails a second", count(ours), "-", "-")
            table.notes.append("notmuch is not installed here: nothing to compare with")
        else:
            sync_disks()
            theirs = len(raws) / _notmuch(Path(directory), box)
            table.add("mails a second", count(ours), count(theirs), ratio(ours, theirs))
    yield table


def _svc(directory: Path, box: Path) -> float:
    """Seconds."""
    settings = {"SVC_HOME": str(directory / "home"), "SVC_MASTER_KEY_FILE": str(directory / "key")}
    return _timed([sys.executable, "-m", "svc", "mail", "import", str(box)], settings)


def _notmuch(directory: Path, box: Path) -> float:
    """Seconds."""
    maildir = directory / "mail"
    for name in ("cur", "new", "tmp"):
        (maildir / name).mkdir(parents=True)
    config = directory / "config"
    config.write_text(
        f"[database]\npath={maildir}\n[user]\nname=bench\nprimary_email=bench@example.org\n[new]\ntags=inbox\n"
    )
    split = ["git", "mailsplit", "-d8", f"-o{maildir / 'cur'}", "--keep-cr", str(box)]
    return _timed(split, {}) + _timed(["notmuch", "new", "--quiet"], {"NOTMUCH_CONFIG": str(config)})


def _timed(command: list[str], settings: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env={**os.environ, **settings}, check=True, capture_output=True)
    return time.perf_counter() - began
