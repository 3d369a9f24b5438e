"""Collects all entries of an export, one after the other, from a home that may be in use meanwhile."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from svc.clock import rfc3339
from svc.errors import Invalid
from svc.export import choices, rows
from svc.export.bag import MEETINGS, Entry, Names, safe
from svc.ids import derived_id
from svc.log import Log
from svc.mail import MailExport
from svc.okf import FilePage, file_of, page_ids, page_of, written
from svc.store import BlobCorrupt, BlobMissing, Blobs, Store
from svc.tools import page_mark

MBOX_BYTES: Final = 64 * 1024 * 1024
"""An mbox of this size is closed, and a new one begun: the size must be known before the bytes are sent."""
FILES_A_PAGE: Final = 200
PIECE_BYTES: Final = 512 * 1024


@dataclass(kw_only=True)
class Collecting:
    """``spool``: the folder for an mbox whose size is not known yet. ``lost``: what is damaged here and so missing in
    the export."""

    store: Store
    blobs: Blobs
    log: Log
    spool: Path
    lost: list[str] = field(default_factory=list)
    mails: int = 0
    pages: int = 0
    files: int = 0
    _names: Names = field(default_factory=Names)

    async def entries(self) -> AsyncIterator[Entry]:
        yield _json("data/users.json", [asdict(one) for one in await self.store.read(rows.users)])
        async for entry in self._files():
            yield entry
        async for entry in self._mail():
            yield entry
        async for entry in self._pages():
            yield entry
        async for entry in self._deleted_pages():
            yield entry
        people = [
            {"owner": owner, "address": address, "name": name, "page": page, "filing": filing}
            for owner, address, name, page, filing in await self.store.read(rows.people)
        ]
        yield _json("data/people.json", people)
        chosen = [
            {"owner": owner, "wanted": msgspec.json.decode(wanted)}
            for owner, wanted in await self.store.read(rows.preferences)
        ]
        yield _json("data/preferences.json", chosen)
        for name, read in choices.LISTS:
            yield _json(f"data/{name}.json", await self.store.read(read))
        async for entry in self._meetings():
            yield entry
        if self.lost:
            yield _json("data/lost.json", self.lost)

    async def _files(self) -> AsyncIterator[Entry]:
        told: list[dict[str, object]] = []
        after = ""
        while found := await self.store.read(rows.files, after=after, limit=FILES_A_PAGE):
            for file in found:
                if await self.blobs.size(file.sha256) != file.size or not await self._is_sound(file):
                    self.lost.append(f"the file {file.name} ({file.id})")
                    continue
                name = self._names.free(f"data/files/{file.id}/{safe(file.name)}")
                about = asdict(file) | {"path": name, "createdAt": rfc3339(file.created_at)}
                del about["created_at"]
                told.append(about)
                yield Entry(name=name, size=file.size, pieces=self.blobs.stream(file.sha256))
                self.files += 1
            after = found[-1].id
        yield _json("data/files.json", told)
        async for entry in self._deleted_files():
            yield entry

    async def _deleted_files(self) -> AsyncIterator[Entry]:
        told: list[dict[str, object]] = []
        for file, deleted_at in await self.store.read(rows.deleted_files):
            if await self.blobs.size(file.sha256) != file.size or not await self._is_sound(file):
                self.lost.append(f"the deleted file {file.name} ({file.id})")
                continue
            name = self._names.free(f"data/deleted-files/{file.id}/{safe(file.name)}")
            about = asdict(file) | {"path": name, "createdAt": rfc3339(file.created_at)}
            del about["created_at"]
            told.append(about | {"deletedAt": rfc3339(deleted_at)})
            yield Entry(name=name, size=file.size, pieces=self.blobs.stream(file.sha256))
        yield _json("data/deleted-files.json", told)

    async def _is_sound(self, file: rows.File) -> bool:
        """Whether the file is sound. Checked before its first byte is written: a tar archive can't take one back."""
        try:
            async for _ in self.blobs.stream(file.sha256):
                pass
        except (BlobMissing, BlobCorrupt):
            return False
        return True

    async def _mail(self) -> AsyncIterator[Entry]:
        told: list[dict[str, object]] = []
        for account in await self.store.read(rows.accounts):
            going = MailExport(account_id=account.id, store=self.store, blobs=self.blobs, log=self.log)
            own: list[str] = []
            async for entry in self._mboxes(going, stem=f"data/mail/{safe(account.address)}"):
                own.append(entry.name)
                yield entry
            self.mails += going.done
            if going.lost:
                self.lost.append(f"{going.lost} mails of {account.address}")
            told.append(asdict(account) | {"files": own, "mails": going.done})
        yield _json("data/mail.json", told)
        yield _json("data/drafts.json", list(map(_draft, await self.store.read(rows.drafts))))
        blocked = [
            {"owner": owner, "account": account, "address": address, "to": to}
            for owner, account, address, to in await self.store.read(rows.blocked)
        ]
        yield _json("data/blocked-senders.json", blocked)
        aside = [
            {"account": account, "mail": mail, "snoozedUntil": None if until is None else rfc3339(until)}
            for account, mail, until in await self.store.read(rows.set_aside)
        ]
        yield _json("data/muted-and-snoozed.json", aside)

    async def _mboxes(self, going: MailExport, *, stem: str) -> AsyncIterator[Entry]:
        file: BinaryIO | None = None
        try:
            async for piece in going.mbox():
                if file is not None and file.tell() + len(piece) > MBOX_BYTES:
                    yield self._closed(file, stem)
                    file.close()
                    file = None
                if file is None:
                    file = self._spooled()
                file.write(piece)
            if file is not None:
                yield self._closed(file, stem)
        finally:
            if file is not None:
                file.close()

    def _spooled(self) -> BinaryIO:
        """A file without a name: it disappears when its descriptor is closed, whatever happens."""
        self.spool.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, path = tempfile.mkstemp(dir=self.spool, prefix="export-")
        os.unlink(path)
        return os.fdopen(descriptor, "w+b")

    def _closed(self, file: BinaryIO, stem: str) -> Entry:
        size = file.tell()
        file.seek(0)
        return Entry(name=self._names.free(f"{stem}.mbox"), size=size, pieces=_read(file))

    async def _pages(self) -> AsyncIterator[Entry]:
        told: list[dict[str, object]] = []
        earlier: list[dict[str, object]] = []
        for page_id in await self.store.read(page_ids):
            page = await self.store.read(page_of, page_id)
            if page is None:
                continue  # deleted since
            try:
                name = "/".join(safe(part) for part in file_of(page.path).split("/"))
            except Invalid:
                name = f"{page.id}.md"
            data = written(page).encode()
            entry = Entry(name=self._names.free(f"data/pages/{name}"), size=len(data), pieces=_once(data))
            yield entry
            self.pages += 1
            about: dict[str, object] = {"path": page.path, "title": page.title, "file": entry.name, "owner": page.owner}
            mark = await self.store.read(page_mark, page.id)
            about |= {"access": page.access, "grants": [{"to": to, "level": of} for to, of in page.grants]}
            if (current := await self.store.read(rows.current, page.id)) is not None:  # else deleted since
                author, created_at, updated_at = current
                about |= {"author": author, "createdAt": rfc3339(created_at), "updatedAt": rfc3339(updated_at)}
            told.append(about if mark is None else about | {"fromOutside": mark})
            async for one in self._earlier(page, entry.name.removeprefix("data/pages/"), earlier):
                yield one
        yield _json("data/pages.json", told)
        yield _json("data/revisions.json", earlier)

    async def _earlier(self, page: FilePage, name: str, told: list[dict[str, object]]) -> AsyncIterator[Entry]:
        """The text of each earlier revision, without front matter."""
        for number in range(1, page.revision):
            found = await self.store.read(rows.revision, page_id=page.id, number=number)
            if found is None:
                continue  # the page was deleted since
            file = self._names.free(f"data/revisions/{name}/{number}.md")
            data = found.body.encode()
            yield Entry(name=file, size=len(data), pieces=_once(data))
            about = {"path": page.path, "title": found.title, "author": found.author, "at": rfc3339(found.at)}
            told.append({**about, "file": file})

    async def _meetings(self) -> AsyncIterator[Entry]:
        for meeting_id in await self.store.read(choices.meeting_ids):
            if (meeting := await self.store.read(choices.meeting, meeting_id)) is not None:
                yield _json(f"{MEETINGS}{meeting_id}.json", meeting)

    async def _deleted_pages(self) -> AsyncIterator[Entry]:
        """Each deleted page with all its texts, the newest last, without front matter."""
        told: list[dict[str, object]] = []
        for page_id in await self.store.read(rows.deleted_page_ids):
            page = await self.store.read(rows.deleted_page, page_id)
            if page is None:
                continue  # restored, or deleted for good, since
            texts: list[dict[str, object]] = []
            for number in range(1, page.revision + 1):
                found = await self.store.read(rows.deleted_revision, page_id=page_id, number=number)
                if found is None:
                    break
                data = found.body.encode()
                file = self._names.free(
                    f"data/deleted-pages/{page_id}/{safe(page.path.rpartition('/')[2])}.{number}.md"
                )
                yield Entry(name=file, size=len(data), pieces=_once(data))
                texts.append({"title": found.title, "author": found.author, "at": rfc3339(found.at), "file": file})
            if len(texts) == page.revision:
                mark = await self.store.read(page_mark, page_id)
                told.append(_deleted(page) | {"revisions": texts, "fromOutside": mark})
        yield _json("data/deleted-pages.json", told)


def _deleted(page: rows.DeletedPage) -> dict[str, object]:
    """``deletion``: the same for pages that were deleted together."""
    return {
        "id": page.id,
        "deletion": page.deletion_id,
        "isTop": page.is_top,
        "path": page.path,
        "owner": page.owner,
        "access": page.access,
        "grants": [{"to": to, "level": level} for to, level in page.grants],
        "files": page.files,
        "createdAt": rfc3339(page.created_at),
        "updatedAt": rfc3339(page.updated_at),
        "deletedAt": rfc3339(page.deleted_at),
        "deletedBy": page.deleted_by,
    }


def _draft(row: rows.DraftRow) -> dict[str, object]:
    """``wasToBeSent``: it was waiting to be sent, at ``sendAt`` if a time was set."""
    return {
        "id": derived_id("drf", row.id) if row.is_outgoing else row.id,
        "owner": row.owner,
        "account": row.account,
        "from": row.sender,
        "to": msgspec.json.decode(row.to),
        "cc": msgspec.json.decode(row.cc),
        "bcc": msgspec.json.decode(row.bcc),
        "subject": row.subject,
        "html": row.html,
        "attachments": msgspec.json.decode(row.attachments),
        "inReplyTo": row.in_reply_to,
        "references": msgspec.json.decode(row.references or "[]"),
        "answers": row.mail,
        "quotes": None if row.quoted is None else {"mail": row.quoted, "kind": row.quoted_how},
        "wasToBeSent": row.is_outgoing,
        "sendAt": None if row.send_at is None else rfc3339(row.send_at),
    }


def _json(name: str, rows: object) -> Entry:
    data = msgspec.json.format(msgspec.json.encode(rows), indent=1)
    return Entry(name=name, size=len(data), pieces=_once(data))


async def _once(data: bytes) -> AsyncIterator[bytes]:
    if data:
        yield data


async def _read(file: BinaryIO) -> AsyncIterator[bytes]:
    while piece := file.read(PIECE_BYTES):
        yield piece
