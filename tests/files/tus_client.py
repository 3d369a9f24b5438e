"""A tus client by hand: begins uploads, asks how far they are, and looks at what is kept of them."""

from __future__ import annotations

import hashlib
import os
from base64 import b64encode

from svc.files import tus
from svc.store import run_fsck
from tests.identity.people import Person
from tests.support.http import Reply
from tests.support.service import Service

CONTENT = os.urandom(1_000)


async def ask(by: Service | Person, method: str, target: str, body: bytes = b"", **fields: str) -> Reply:
    """As a client of tus does. ``upload_offset="0"`` becomes the header of that name; ``"-"`` leaves one out."""
    wanted = {"tus-resumable": tus.VERSION}
    if method == "PATCH":
        wanted["content-type"] = tus.BYTES
    wanted |= {name.replace("_", "-"): value for name, value in fields.items()}
    wanted = {name: value for name, value in wanted.items() if value != "-"}
    if isinstance(by, Person):
        return await by.service.ask(method, target, body, fields={**wanted, **by.fields})
    return await by.ask(method, target, body, fields=wanted)


def metadata(**pairs: str) -> str:
    return ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in pairs.items())


async def begun(by: Service | Person, length: int = len(CONTENT), **fields: str) -> str:
    reply = await ask(by, "POST", "/files/tus", b"", upload_length=str(length), **fields)
    assert reply.status == 201, reply.body
    location = reply.header("location")
    assert location is not None
    assert location.startswith("/files/tus/upl_")
    return location


async def offset(by: Service | Person, upload: str) -> int:
    reply = await ask(by, "HEAD", upload)
    assert (reply.status, reply.header("cache-control")) == (200, "no-store")
    return int(reply.header("upload-offset") or "none")


async def kept(service: Service) -> tuple[list[str], list[str], int]:
    """Parts, blobs, and how many uploads are on record."""
    parts = sorted(path.name for path in (service.workspace.home.blobs / ".parts").iterdir())
    return (
        parts,
        list(service.workspace.blobs.each_sha()),
        (await service.rows("select count(*) from partial_uploads"))[0][0],
    )


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


async def problems(service: Service) -> list[str]:
    """What ``svc fsck --deep`` says."""
    workspace = service.workspace
    invariants = [row for feature in workspace.features for row in feature.invariants]
    return await workspace.store.read(
        run_fsck, invariants=invariants, blobs=workspace.blobs, secrets=service.secrets, deep=True
    )
