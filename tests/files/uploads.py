"""Uploads as people make them, raw requests that no library would send, and what is left of either."""

from __future__ import annotations

from typing import Any, Final

import trio
import trio.testing

from tests.identity.people import Person
from tests.quiet import all_quiet
from tests.support.http import Reply, read_to_end, replies
from tests.support.service import ANSWER_DEADLINE_S, HOST, Service

Kept = tuple[int, list[str], list[str]]
NOTHING: Final[Kept] = (0, [], [])


async def upload(by: Person | Service, content: bytes, **fields: str) -> Reply:
    """One whole upload. ``x_svc_filename="a.txt"`` becomes the header of that name."""
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    if isinstance(by, Person):
        return await by.service.ask("POST", "/files", content, fields={**named, **by.fields})
    return await by.ask("POST", "/files", content, fields=named)


async def uploaded(by: Person | Service, content: bytes, **fields: str) -> dict[str, Any]:
    """The record of an upload that succeeds."""
    reply = await upload(by, content, **fields)
    assert reply.status == 201, reply.body
    record: dict[str, Any] = reply.json
    return record


async def say(service: Service, *pieces: bytes, fields: tuple[str, ...] = (), end: bool = False) -> bytes:
    """Send a head and then these pieces one by one, end the stream if wanted, and read all that comes back."""
    head = "\r\n".join(["POST /files HTTP/1.1", f"host: {HOST}", "connection: close", *fields, "", ""])
    stream = await service.listener.connect()
    try:
        with trio.fail_after(ANSWER_DEADLINE_S):
            for piece in (head.encode("latin-1"), *pieces):
                await stream.send_all(piece)
                await settled()
            if end:
                await stream.send_eof()
            return await read_to_end(stream)
    finally:
        await trio.aclose_forcefully(stream)


async def settled() -> None:
    """Wait until the service waits: for the client, or for a thread."""
    await all_quiet()


def final(raw: bytes) -> Reply:
    """The final answer in what came back."""
    (found,) = replies(raw, ["POST"])
    return found


async def kept(service: Service) -> Kept:
    """What uploads left: how many temporary files, which blobs, and the hashes in the records."""
    incoming = service.workspace.home.blobs / ".incoming"
    recorded = await service.rows("select sha256 from files order by sha256")
    return len(list(incoming.iterdir())), list(service.workspace.blobs.each_sha()), [sha256 for (sha256,) in recorded]
