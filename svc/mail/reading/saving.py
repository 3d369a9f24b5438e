"""All attachments of a message as one zip: ``GET /mail/messages/:id/attachments``, written as it is sent.

They are stored without compression, because most attachments are compressed already. Only one piece at a time is in
memory. An attachment that is known to be lost or damaged is left out, and a note in the zip names it. If damage is
found only while the zip is being sent, the response breaks off.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import AsyncGenerator, Sequence
from typing import Final

from svc.errors import NotFound
from svc.files import content_disposition, numbered_name, safe_name
from svc.mail.model import AttachmentRef
from svc.mail.reading import queries
from svc.protocol import Request, Response
from svc.store import Blobs
from svc.workspace import RequestContext

NOTE: Final = "Missing.txt"
_NONE: Final = "There is no such message, or it has no attachments."
_WORDS: Final = (
    "These attachments are damaged on this server. Where that is possible they are mended by themselves:\n\n"
)


async def attachments(context: RequestContext, request: Request) -> Response:
    workspace = context.workspace
    found = await workspace.store.read(queries.attached_to, context.principal, message_id=request.params["id"])
    if found is None or not found.attachments:
        raise NotFound(_NONE)
    here: list[AttachmentRef] = []
    lost: list[AttachmentRef] = []
    for one in found.attachments:
        is_here = one.sha256 not in found.damaged and await workspace.blobs.size(one.sha256) == one.size
        (here if is_here else lost).append(one)
    return Response(
        headers=[
            ("content-type", "application/zip"),
            ("content-disposition", content_disposition(f"{safe_name(found.subject)}.zip", inline=False)),
            ("cache-control", "private, no-store"),
        ],
        body=_zipped(workspace.blobs, here, lost),
    )


def unique_names(names: Sequence[str]) -> list[str]:
    """The names made unique, also for systems that ignore case: ``a.txt``, ``A (2).txt``."""
    taken: set[str] = set()
    unique: list[str] = []
    for name in map(safe_name, names):
        candidate, number = name, 1
        while candidate.casefold() in taken:
            number += 1
            candidate = numbered_name(name, number)
        taken.add(candidate.casefold())
        unique.append(candidate)
    return unique


class _Sink(io.RawIOBase):
    """Buffers what the zip writes, until it is sent. It can't seek back, so the zip writes sizes and checksums after
    each file."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, piece: object) -> int:
        taken = bytes(piece)  # type: ignore[call-overload]  # a buffer of any kind
        self._pieces.append(taken)
        return len(taken)

    def take(self) -> bytes:
        taken, self._pieces = b"".join(self._pieces), []
        return taken


async def _zipped(
    blobs: Blobs, found: Sequence[AttachmentRef], lost: Sequence[AttachmentRef]
) -> AsyncGenerator[bytes, None]:
    sink = _Sink()
    *names, note = unique_names([*(one.filename for one in found), NOTE])
    with zipfile.ZipFile(sink, "w") as archive:
        for one, name in zip(found, names, strict=True):
            with archive.open(zipfile.ZipInfo(name), "w") as entry:
                async for piece in blobs.stream(one.sha256):
                    entry.write(piece)
                    yield sink.take()
        if lost:
            archive.writestr(zipfile.ZipInfo(note), _WORDS + "".join(f"{safe_name(one.filename)}\n" for one in lost))
    yield sink.take()
