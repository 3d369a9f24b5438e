"""``files.read``: the text of a file that the owner may read."""

from __future__ import annotations

from typing import Final

from svc.errors import Invalid, NotFound, TooLarge
from svc.feature import file_readers_of
from svc.files import File, readable_file
from svc.formats.text import text_from_html
from svc.inert import inert
from svc.principal import Principal
from svc.store import BlobCorrupt, BlobMissing, ReadTx
from svc.tools.model import MAX_READ_BYTES, Outcome, Tool, ToolInput
from svc.workspace import Workspace

OUTSIDE: Final = "a file"
_BINARY: Final = "\0"


class ReadInput(ToolInput, frozen=True):
    id: str


async def _read(workspace: Workspace, principal: Principal, wanted: ReadInput) -> Outcome:
    found = await workspace.store.read(_found, principal, workspace=workspace, file_id=wanted.id)
    if found is None:
        raise NotFound("There is no such file.")
    if found.size > MAX_READ_BYTES:
        raise TooLarge(f"The file has {found.size} bytes; a tool reads {MAX_READ_BYTES} at most.")
    try:
        data = await workspace.blobs.read(found.sha256, limit=MAX_READ_BYTES)
    except (BlobMissing, BlobCorrupt):
        raise NotFound("The file is missing or damaged on this server.") from None
    text = data.decode("utf-8", "replace")
    if _BINARY in text:
        raise Invalid(f"The file is no text ({found.mime}).")
    if found.mime == "text/html":
        text = await workspace.threads.run(text_from_html, text)
    return Outcome(output={"name": found.name, "mime": found.mime, "text": inert(text)}, outside=OUTSIDE)


def _found(tx: ReadTx, principal: Principal, *, workspace: Workspace, file_id: str) -> File | None:
    return readable_file(tx, principal, file_id=file_id, readers=file_readers_of(workspace.features))


TOOLS: Final = (
    Tool(
        name="files.read",
        summary="Read a file as text.",
        input=ReadInput,
        level="mail",
        perform=_read,
        reads_outside=OUTSIDE,
    ),
)
