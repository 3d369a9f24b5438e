"""Receives uploads in several calls: writes bytes to their part, and makes a file of it after the last byte.

Theory. Bytes are acknowledged once they are durable: at the end of each call, however it ends, and every
``CHECKPOINT_BYTES`` within one, so that a crash in the middle of a large call loses no more than that. Each upload has
one active call. A client that lost its connection may come back while its last call still waits for bytes here: the new
call ends that one, and continues from its bytes.

The hash is computed while bytes come. It is kept from one call to the next while the service runs; after a restart the
bytes are read again at the end.

Owns the active calls, the hashes between them, and the order at the end: seal, blob, file; only then the part is
removed.
"""

from __future__ import annotations

import functools
import hashlib
from base64 import b64encode
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final, cast

import trio

from svc.clock import HOUR_MS
from svc.errors import Conflict, NotFound, Refusal, TooLarge
from svc.files import partial
from svc.files.partial import PartialUpload
from svc.job import Job
from svc.log import Log
from svc.nursery import ThreadPool
from svc.overlap import feed
from svc.principal import Principal, system
from svc.protocol import BodyReader
from svc.store import BlobMissing, BlobRef, Blobs, Digest, Part, PartLost, Pieces, Store
from svc.workspace import Workspace

CHECKPOINT_BYTES: Final = 16 * 1024 * 1024
SETTLE_S: Final = 10.0
"""How long an interrupted call may take to make its bytes durable."""
HASHES_KEPT: Final = 256
"""Unfinished uploads whose hash is kept from one call to the next."""

NO_UPLOAD: Final = "There is no such upload."
_SELF: Final = system("uploads")


@dataclass(frozen=True, kw_only=True)
class Checksum:
    """The client's checksum of the bytes of its call, in base64."""

    algorithm: str
    expected: str


@dataclass(frozen=True)
class _Call:
    """An active call of an upload. ``ended``: it has stored its bytes."""

    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    ended: trio.Event = field(default_factory=trio.Event)


@dataclass(kw_only=True)
class Receiver:
    store: Store
    blobs: Blobs
    threads: ThreadPool
    log: Log
    _calls: dict[str, _Call] = field(default_factory=dict)
    _hashes: OrderedDict[str, tuple[int, Digest]] = field(default_factory=OrderedDict)

    async def look(self, principal: Principal, upload_id: str) -> PartialUpload:
        """The upload's progress. Ends a call that still waits for bytes: the client that asks wants to continue."""
        async with self._turn(principal, upload_id) as upload:
            return upload

    async def receive(
        self, principal: Principal, upload_id: str, *, offset: int, body: BodyReader, checksum: Checksum | None = None
    ) -> PartialUpload:
        """Receive the bytes from ``offset`` on. Raises 409 if ``offset`` is not the upload's position, 413 for more
        than its length, 460 if they do not match ``checksum``.

        With its last byte it becomes a file. If the connection breaks, the received bytes are kept, unless the call has
        a checksum: then it counts completely or not at all.
        """
        async with self._turn(principal, upload_id) as upload:
            if offset != upload.stored:
                raise Conflict(f"The upload is at byte {upload.stored}, not at {offset}.")
            declared = body.declared_length
            if declared is not None and offset + declared > upload.length:
                raise TooLarge(f"The upload has {upload.length} bytes, and this would be more.")
            if upload.file_id is not None:
                return upload
            return await self._append(principal, upload, body, checksum)

    async def end(self, principal: Principal, upload_id: str) -> None:
        """Remove the upload with its bytes; a file that it became stays."""
        async with self._turn(principal, upload_id):
            await self.store.write(partial.remove, principal, upload_id=upload_id)
            await self._forget([upload_id])

    async def tidy(self) -> None:
        """Finish sealed uploads after a crash, and remove expired uploads and unused parts."""
        for upload in await self.store.read(partial.sealed):
            if upload.id not in self._calls:
                await self._finish(_SELF, upload)
        while removed := await self.store.write(partial.remove_old, but=list(self._calls)):
            self.log.info("files.uploads_expired", count=len(removed))
        names = await self.blobs.parts.names()
        needed = await self.store.read(partial.with_parts, names)
        await self._forget([name for name in names if name not in needed and name not in self._calls])

    @asynccontextmanager
    async def _turn(self, principal: Principal, upload_id: str) -> AsyncIterator[PartialUpload]:
        """The caller's upload, for one call at a time: the newest. An older one is cancelled, and has stored its bytes
        when this begins."""
        await self._own(principal, upload_id)
        while (older := self._calls.get(upload_id)) is not None:
            older.scope.cancel()
            await older.ended.wait()
        call = self._calls[upload_id] = _Call()
        try:
            with call.scope:
                yield await self._settled(principal, await self._own(principal, upload_id))
        finally:
            del self._calls[upload_id]
            call.ended.set()
        if call.scope.cancelled_caught:
            raise Conflict("Another request goes on with this upload.")

    async def _own(self, principal: Principal, upload_id: str) -> PartialUpload:
        upload = await self.store.read(partial.own, principal, upload_id=upload_id)
        if upload is None:
            raise NotFound(NO_UPLOAD)
        return upload

    async def _settled(self, principal: Principal, upload: PartialUpload) -> PartialUpload:
        """Finish the upload first if it is sealed but not a file yet."""
        if upload.sha256 is None or upload.file_id is not None:
            return upload
        return await self._finish(principal, upload)

    async def _append(
        self, principal: Principal, upload: PartialUpload, body: BodyReader, checksum: Checksum | None
    ) -> PartialUpload:
        part = await self._opened(upload)
        try:
            upload = await self._take(upload, part, body, checksum)
            if part.size < upload.length:
                return upload
            # Bounded: reads a file and writes one row. A client that asks meanwhile must not cancel it: it would have
            # to send the end again, and all would be read again, forever.
            with trio.CancelScope(shield=True):
                sha256 = await self.threads.run(_sha256_of_durable, part)
                await self.store.write(partial.seal, upload.id, sha256=sha256)
        finally:
            part.close()
        return await self._finish(principal, replace(upload, sha256=sha256))

    async def _opened(self, upload: PartialUpload) -> Part:
        size, digest = self._hashes.pop(upload.id, (0, None))
        known = digest if size == upload.stored else None
        try:
            return await self.blobs.parts.opened(upload.id, size=upload.stored, digest=known)
        except PartLost:
            raise await self._lost(upload) from None

    async def _take(
        self, upload: PartialUpload, part: Part, body: BodyReader, checksum: Checksum | None
    ) -> PartialUpload:
        """Write the body into the part, and record the received bytes, however it ends."""
        sums = None if checksum is None else hashlib.new(checksum.algorithm)
        offset = upload.stored
        pieces = Pieces(body.chunks(), limit=upload.length - offset)
        works = [functools.partial(self.threads.run, step) for step in (part.write, part.hash)]
        if sums is not None:
            works.append(functools.partial(self.threads.run, _update, sums))
        try:
            while not pieces.ended:
                await feed(pieces.stretch(CHECKPOINT_BYTES), works)
                if sums is None:
                    upload = await self._noted(upload, part)
            if checksum is not None and sums is not None and b64encode(sums.digest()).decode() != checksum.expected:
                raise Refusal("The bytes do not give the checksum.", code="checksum_mismatch")
        except BaseException:
            with trio.move_on_after(SETTLE_S, shield=True):
                if sums is not None:
                    await self.threads.run(part.cut, offset)
                elif part.size == offset + pieces.given and part.size + pieces.size < upload.length:
                    await self.threads.run(part.write, [pieces.rest()])  # these bytes follow the written ones
                await self._noted(upload, part)
            raise
        return await self._noted(upload, part)

    async def _noted(self, upload: PartialUpload, part: Part) -> PartialUpload:
        """Sync the received bytes and record them; except for the whole, which is recorded once it is a file."""
        if part.size == upload.stored or part.size == upload.length:
            return upload
        await self.threads.run(part.sync)
        await self.store.write(partial.keep, upload.id, stored=part.size)
        if part.unhashed <= CHECKPOINT_BYTES:  # more of them are read once, at the end
            self._hashes[upload.id] = part.size, await self.threads.run(part.digest)
            while len(self._hashes) > HASHES_KEPT:
                self._hashes.popitem(last=False)
        return replace(upload, stored=part.size)

    async def _finish(self, principal: Principal, upload: PartialUpload) -> PartialUpload:
        """Make a sealed upload a file."""
        try:
            await self.blobs.adopt(upload.id, BlobRef(cast(str, upload.sha256), upload.length))
        except BlobMissing:
            raise await self._lost(upload) from None
        done = await self.store.write(partial.complete, principal, upload_id=upload.id)
        await self._forget([upload.id])
        return done

    async def _lost(self, upload: PartialUpload) -> NotFound:
        """Remove an upload whose part has lost durable bytes: the client must begin a new one."""
        self.log.error("files.part_lost", upload=upload.id, stored=upload.stored)
        await self.store.write(partial.remove, _SELF, upload_id=upload.id)
        await self._forget([upload.id])
        return NotFound(NO_UPLOAD)

    async def _forget(self, upload_ids: Sequence[str]) -> None:
        for upload_id in upload_ids:
            self._hashes.pop(upload_id, None)
        await self.blobs.parts.remove(upload_ids)


def _update(sums: Digest, pieces: Sequence[bytes]) -> None:
    for piece in pieces:
        sums.update(piece)


def _sha256_of_durable(part: Part) -> str:
    part.sync()
    return part.digest().hexdigest()


async def _tidy(workspace: Workspace) -> None:
    await workspace.service(Receiver).tidy()


JOB: Final = Job(
    name="partial-uploads",
    summary="Finishes uploads that a crash kept from their end, and removes those that nobody goes on with.",
    run=_tidy,
    every_s=HOUR_MS / 1_000,
)
