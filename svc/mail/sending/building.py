"""From an accepted mail to the bytes that leave: its files read, its HTML made fit, its original quoted.

Runs before each attempt, so that ``Date`` says when it really left. What a message needs lies in blobs that the mail
itself holds; what is missing nonetheless (a damaged disk) is told in a sentence, and nothing leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from svc.clock import Clock, Millis
from svc.files import File, files_of
from svc.formats.person import Person
from svc.formats.writing import (
    Attached,
    Composed,
    NotAsMeant,
    OutgoingHtml,
    compose,
    content_id_of,
    recipients,
    text_alternative,
)
from svc.mail.sending import queries
from svc.mail.sending.model import MAX_ATTACHED_BYTES, Outgoing, Quoted, outgoing_origin
from svc.mail.sending.rebuilding import Rebuilder
from svc.nursery import ThreadPool
from svc.store import BlobCorrupt, BlobMissing, Blobs, ReadTx, Store


class CannotBuild(Exception):
    """The mail can't be put together: one sentence for the person whose it is."""


@dataclass(frozen=True, kw_only=True)
class _Parts:
    sender_name: str
    files: Mapping[str, File]


@dataclass(frozen=True, kw_only=True)
class Builder:
    store: Store
    blobs: Blobs
    threads: ThreadPool
    rebuilder: Rebuilder
    clock: Clock

    async def build(self, row: Outgoing, *, max_bytes: int) -> bytes:
        """The message as it leaves now; ``max_bytes`` is what its provider takes. Raises :class:`CannotBuild`."""
        try:
            raw = await self._build(row)
        except (BlobMissing, BlobCorrupt) as fault:
            raise CannotBuild("A file of this mail is missing or damaged on this server.") from fault
        except NotAsMeant as fault:
            raise CannotBuild("This mail can't be written so that it would be read as it was meant.") from fault
        except Exception as error:  # an edge: one mail that nothing can be made of must not hold up the others
            raise CannotBuild("This mail could not be put together. The server's log says why.") from error
        if len(raw) > max_bytes:
            raise CannotBuild(f"This mail is larger than the {max_bytes >> 20} MiB that can be sent.")
        return raw

    async def _build(self, row: Outgoing) -> bytes:
        parts = await self.store.read(_parts, row)
        html = await self.rebuilder.own(row.html)
        images = {} if row.quoted is None else _content_ids(row.id, row.quoted)
        if row.quoted is not None:
            quoted = await self.rebuilder.quoted(row.quoted, images=images)
            html = OutgoingHtml(html=f"{html.html}<br>{quoted.html}", content_ids=quoted.content_ids)
        return await self.threads.run(self._compose, row, parts, html, images, self.clock.now())

    def _compose(
        self, row: Outgoing, parts: _Parts, html: OutgoingHtml, images: Mapping[str, str], now: Millis
    ) -> bytes:
        """In a thread."""
        people = recipients(to=row.to, cc=row.cc, bcc=row.bcc)
        return compose(
            Composed(
                outgoing_id=row.id,
                message_id=row.message_id_header,
                date=now,
                sender=Person(name=parts.sender_name, address=row.from_address),
                to=people.to,
                cc=people.cc,
                bcc=people.bcc,
                subject=row.subject,
                html=html.html,
                text=text_alternative(html.html),
                attachments=tuple(self._attached(row, parts, shown=set(html.content_ids), images=images)),
                in_reply_to=row.in_reply_to,
                references=row.references,
            )
        )

    def _attached(
        self, row: Outgoing, parts: _Parts, *, shown: set[str], images: Mapping[str, str]
    ) -> Iterator[Attached]:
        """The quote's pictures that are really shown, and what the person attached."""
        for picture in row.quoted.inline if row.quoted else ():
            content_id = images.get(picture.content_id or "")
            if content_id in shown:
                yield self._file(parts, picture.file_id, content_id=content_id)
        for file_id in row.attachments:
            yield self._file(parts, file_id, content_id=None)

    def _file(self, parts: _Parts, file_id: str, *, content_id: str | None) -> Attached:
        file = parts.files.get(file_id)
        if file is None:
            raise BlobMissing("An attachment has no file.")
        return Attached(filename=file.name, mime=file.mime, content=self._content(file), content_id=content_id)

    def _content(self, file: File) -> Iterator[bytes]:
        """Read when it is written: one file at a time is in memory."""
        yield self.blobs.read_now(file.sha256, MAX_ATTACHED_BYTES)


def _content_ids(outgoing_id: str, quoted: Quoted) -> dict[str, str]:
    """By the content id in the original, the one it has in the mail. Of two with the same id the first counts."""
    found: dict[str, str] = {}
    for index, picture in enumerate(quoted.inline):
        if picture.content_id is not None:
            found.setdefault(picture.content_id, content_id_of(outgoing_id, index))
    return found


def _parts(tx: ReadTx, row: Outgoing) -> _Parts:
    return _Parts(
        sender_name=queries.sender_name_of(tx, account_id=row.account_id, owner_id=row.owner_id),
        files={file.id: file for file in files_of(tx, origin=outgoing_origin(row.id))},
    )
