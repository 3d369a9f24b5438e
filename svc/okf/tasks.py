"""The loop that keeps pages and files in step. One round at a time first takes over people's edits, then writes the
changed pages.

A file is recognized by the digest of the text that was last written or read. If its digest differs, it was edited: if
the page is still at the file's revision, the text becomes the next revision; if not, the page stays unchanged, and the
text is kept in a copy beside it. A deleted file is written again: to delete a page, a person uses the workspace.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Final

import trio

from svc.clock import SECOND_MS, Clock
from svc.errors import Invalid, Refusal
from svc.log import Log
from svc.nursery import Child, ThreadPool, Wake, open_task_group
from svc.okf import rows
from svc.okf.folder import MAX_FILE_BYTES, Folder, Stamp, digest_of, is_copy
from svc.okf.rows import FilePage
from svc.okf.text import CONFLICT, ENDING, Read, file_of, path_of, read, written
from svc.okf.watching import Watch
from svc.pages import PAGES_TOPIC, managed, readable_page, save_page
from svc.principal import Principal, system
from svc.store import Store, Tx
from svc.tools import bring_mark_back

ME: Final = system("okf")
BATCH: Final = 100
"""Pages looked up at once. The people of a mailbox make that many pages: their files are not synced to disk one by one,
and a file that a power loss leaves empty is written again."""
RETRY_S: Final = 60.0
"""The pause after a full disk."""


@dataclass(kw_only=True)
class Keeper:
    store: Store
    clock: Clock
    threads: ThreadPool
    log: Log
    folder: Folder
    wake: Wake = field(default_factory=Wake)
    _turn: trio.Lock = field(default_factory=trio.Lock)
    _seen: dict[str, Stamp] = field(default_factory=dict)
    """The stamps of the files when they were last read."""
    _look: bool = True
    """Whether something may have changed in the folder."""

    async def run(self, child: Child) -> None:
        await self.threads.run(self.folder.remove_half_written)
        child.started()
        watch = Watch()
        try:
            async with open_task_group() as nursery:
                nursery.start_soon(self.store.outbox.wake_on, lambda row: row.topic == PAGES_TOPIC, self.wake.call)
                nursery.start_soon(self._hear_of_files, watch)
                while True:
                    try:
                        await self.threads.run(lambda: watch.add(self.folder.folders()))
                        await self.round()
                    except (OSError, Refusal) as error:  # a full disk above all
                        self._look = True
                        self.log.warning("okf.put_off", why=str(error))
                        await trio.sleep(RETRY_S)
                        continue
                    await self.wake.wait()
        finally:
            watch.close()

    async def _hear_of_files(self, watch: Watch) -> None:
        while True:
            await watch.changed()
            self._look = True
            self.wake.call()

    async def round(self) -> None:
        """Takes over people's edits, then writes all queued pages."""
        async with self._turn:
            if self._look:
                self._look = False
                await self._take_all()
            after = ""
            while page_ids := await self.store.read(rows.queued, after=after, limit=BATCH):
                for page_id in page_ids:
                    await self._write(page_id, durable=len(page_ids) < BATCH)
                after = page_ids[-1]

    # From the folder

    async def _take_all(self) -> None:
        there = await self.threads.run(lambda: dict(self.folder.files()))
        known = await self.store.read(rows.files)
        for file, stamp in there.items():
            if not is_copy(file) and self._seen.get(file) != stamp and stamp[1]:
                await self._take(file, known.get(file))
        self._seen = there
        empty = {file for file, stamp in there.items() if stamp[1] == 0}
        gone = sorted(file for file, digest in known.items() if digest and (file not in there or file in empty))
        if gone:
            await self.store.write(rows.queue_files, gone)
        for kept in await self.store.read(rows.kept_copies):
            if kept not in there:
                await self.store.write(rows.no_trouble, kept)

    async def _take(self, file: str, digest: str | None) -> None:
        data = await self.threads.run(self.folder.read, file)
        if data is None or digest_of(data) == digest or await self.store.read(rows.is_told, file, digest_of(data)):
            return
        try:
            if len(data) > MAX_FILE_BYTES:
                raise Invalid(f"It has more than {MAX_FILE_BYTES} bytes.")
            path, text = path_of(file), read(data)
            taken = await self.store.write(_take, file=file, path=path, text=text, data=data)
        except Refusal as refusal:
            if refusal.code in {"insufficient_storage", "unavailable"}:
                raise
            await self._keep(file, data, refusal.detail)
            return
        if taken:
            self.log.info("okf.taken", file=file)
        else:
            await self._keep(file, data, "The page was changed here meanwhile as well.")

    async def _keep(self, file: str, data: bytes, reason: str) -> None:
        """Keeps a person's text that can't become the page. The file of a known page is written again, and the person's
        text is kept beside it."""
        known = await self.store.read(rows.known_file, file)
        path = file.removesuffix(ENDING)
        kept = None
        if known is not None:
            moment = datetime.fromtimestamp(self.clock.now() / SECOND_MS, tz=UTC)
            kept = f"{path}{CONFLICT}{moment:%Y%m%dT%H%M%S}-{digest_of(data)[:6]}{ENDING}"
            await self.threads.run(self.folder.write, kept, data)
        self.log.warning("okf.not_taken", file=file, why=reason)
        await self.store.write(
            rows.trouble, file=file, path=path, kept=kept, reason=reason, digest=digest_of(data) if kept is None else ""
        )
        if known is not None:
            await self.store.write(rows.queue, known.page_id)
            await self._write(known.page_id, over=digest_of(data))

    # Into the folder

    async def _write(self, page_id: str, *, over: str | None = None, durable: bool = True) -> None:
        """Writes the page's file. ``over``: the digest of a text that is kept elsewhere, so it may be overwritten."""
        page = await self.store.read(rows.page_of, page_id)
        known = await self.store.read(rows.known_page, page_id)
        if known is not None and known.digest:
            found = await self.threads.run(self.folder.read, known.file)
            if found and digest_of(found) not in {known.digest, over}:
                await self._take(known.file, known.digest)  # edited at this very moment
                page = await self.store.read(rows.page_of, page_id)
                known = await self.store.read(rows.known_page, page_id)
        try:
            file = None if page is None else file_of(page.path)
            if known is not None and known.digest and known.file != file:
                await self.threads.run(self.folder.remove, known.file)
            if page is None or file is None:
                await self.store.write(rows.wrote, None, page_id=page_id)
                return
            is_mine = known is not None and known.file == file
            await self._put(page, file, is_mine=is_mine, durable=durable)
        except (Invalid, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None and error.errno in _FULL:
                raise
            assert page is not None, "a page that is gone has no file"
            problem = error.detail if isinstance(error, Invalid) else f"It can't be written: {error.strerror}."
            await self.store.write(rows.wrote, page, page_id=page_id, file=f"\0{page_id}", problem=problem)

    async def _put(self, page: FilePage, file: str, *, is_mine: bool, durable: bool) -> None:
        data = written(page).encode()
        if not is_mine:
            there = await self.threads.run(self.folder.read, file)
            if there is not None and digest_of(there) != digest_of(data) and read_or_none(there) != page.body:
                moment = datetime.fromtimestamp(self.clock.now() / SECOND_MS, tz=UTC)
                kept = f"{page.path}{CONFLICT}{moment:%Y%m%dT%H%M%S}-{digest_of(there)[:6]}{ENDING}"
                await self.threads.run(self.folder.write, kept, there)
                reason = "There is a page of that name, with another text."
                await self.store.write(rows.trouble, file=file, path=page.path, kept=kept, reason=reason, digest="")
        await self.threads.run(partial(self.folder.write, file, data, durable=durable))
        await self.store.write(rows.wrote, page, page_id=page.id, file=file, digest=digest_of(data))


_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


def read_or_none(data: bytes) -> str | None:
    try:
        return read(data).body
    except Invalid:
        return None


def _take(tx: Tx, *, file: str, path: str, text: Read, data: bytes) -> bool:
    """Makes the file's text the page's text. Returns False if both have changed. Raises :class:`Refusal`."""
    known = rows.known_file(tx, file)
    page = readable_page(tx, ME, path)
    if known is None and page is not None:
        return False
    if known is not None and (page is None or page.id != known.page_id or page.revision != known.revision):
        return False
    if page is not None:
        managed.must_be_editable(tx, ME, path)
    author = ME if page is not None else _owner(tx)
    saved = save_page(tx, author, path=path, title=text.title, body=text.body)
    if text.from_outside is not None:
        bring_mark_back(tx, saved.id, text.from_outside)
    fresh = rows.page_of(tx, saved.id)
    assert fresh is not None, "it was just saved"
    rows.wrote(tx, fresh, page_id=saved.id, file=file, digest=digest_of(data))
    rows.queue(tx, saved.id)  # so that its file names the new revision
    rows.no_trouble(tx, file)
    return True


def _owner(tx: Tx) -> Principal:
    """The owner of the files on this machine: the first admin."""
    owner = rows.first_admin(tx)
    if owner is None:
        return ME
    return Principal(user_id=owner, device_id=ME.device_id, is_admin=True, via="session")
