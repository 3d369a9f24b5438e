"""``svc export``: also beside a running server, because it only reads. For ``svc import`` see ``svc/commands.py``."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import AsyncIterator
from glob import escape as glob_escaped
from glob import glob
from pathlib import Path
from typing import BinaryIO, Final

import trio

from svc.command import OK, Argument, Command, Invocation, OpenedHome, counted
from svc.errors import Conflict, Refusal
from svc.export.bag import as_folder, as_tar
from svc.export.collecting import Collecting
from svc.log import Log
from svc.settings import LOG
from svc.store import forget, forget_abandoned

FAILED: Final = 1
TAR: Final = ".tar"
PART: Final = ".part"


def export(call: Invocation) -> int:
    out = call.given["out"]
    if out != "-" and os.path.lexists(out):
        raise Conflict(f"{out} is there already. Give another name: an export never writes over anything.")
    with call.home(read_only=True) as opened:
        going = Collecting(
            store=opened.store,
            blobs=opened.blobs,
            log=Log.to_stderr(form=call.config[LOG], clock=call.clock),
            spool=opened.home.spool,
        )
        try:
            trio.run(_write, call, opened, going, out)
        except OSError as error:
            name = "The output" if out == "-" else out
            raise Refusal(f"{name} can’t be written: {error.strerror or error}.", code="internal") from error
    told = ", ".join((counted(going.mails, "mail"), counted(going.pages, "page"), counted(going.files, "file")))
    print(f"Exported {told}", file=sys.stderr, flush=True)
    for lost in going.lost:
        print(f"damaged here, and not in the export: {lost}", file=sys.stderr, flush=True)
    return FAILED if going.lost else OK


async def _write(call: Invocation, opened: OpenedHome, going: Collecting, out: str) -> None:
    """Write under another name until it is complete; a failure leaves nothing. It blocks: nothing else runs
    meanwhile."""
    at = call.clock.now()
    if out == "-":
        await _pour(sys.stdout.buffer, as_tar(going.entries(), at=at))
        return
    forget_abandoned(map(Path, glob(f"{glob_escaped(out)}.*{PART}")))
    part = f"{out}.{os.getpid()}{PART}"
    try:
        if out.endswith(TAR):
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                await _pour(file, as_tar(going.entries(), at=at))
                os.fsync(file.fileno())
                os.rename(part, out)
        else:
            os.mkdir(part, mode=0o700)
            descriptor = os.open(part, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                await as_folder(going.entries(), at=at, root=Path(part))
                os.rename(part, out)
            finally:
                os.close(descriptor)
    except BaseException:
        forget(Path(part))
        raise


async def _pour(file: BinaryIO, pieces: AsyncIterator[bytes]) -> None:
    async for piece in pieces:
        file.write(piece)
    file.flush()


COMMANDS: Final = (
    Command(
        name="export",
        summary="write everything in open formats: mail as mbox, pages as Markdown, files, the rest as JSON, and a "
        "manifest with hashes",
        run=export,
        arguments=(
            Argument(
                name="out",
                metavar="OUT",
                help="a new folder, or a new archive where the name ends in .tar; - prints an archive",
            ),
        ),
    ),
)
