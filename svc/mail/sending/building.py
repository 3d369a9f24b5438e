"""Builds the bytes of a message from an accepted mail or a draft: reads its files, cleans its HTML, adds the quote.

Runs before each attempt, so that ``Date`` is the real time of sending. The content of a message is in blobs that the
mail itself refers to. If one is missing nonetheless (a damaged disk), the mail fails with a sentence for the person,
and nothing is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

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
from svc.mail.accounts import own_addresses
from svc.mail.accounts import queries as account_queries
from svc.mail.sending import queries
from svc.mail.sending.model import MAX_ATTACHED_BYTES, Outgoing, Quoted, outgoing_origin
from svc.mail.sending.rebuilding import Rebuilder
from svc.nursery import ThreadPool
from svc.store import BlobCorrupt, BlobMissing, Blobs, ReadTx, Store

_METHODS: Final = frozenset({"REPLY", "REQUEST", "DECLINECOUNTER"})
"""The iTIP methods of attached calendar files that are replies; the file's ``mime`` says which: ``; method=…``."""


@dataclass(frozen=True, kw_only=True)
class Letter:
    """The data that a message is built from: an outgoing mail, or a draft's copy. ``origin``: the origin of its
    files."""

    id: str
    account_id: str
    owner_id: str | None
    from_address: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    subject: str
    html: str
    origin: str
    attachments: tuple[str, ...]
    quoted: Quoted | None
    in_reply_to: str | None
    references: tuple[str, ...]
    message_id_header: str


def letter_of(row: Outgoing) -> Letter:
    return Letter(
        id=row.id,
        account_id=row.account_id,
        owner_id=row.owner_id,
        from_address=row.from_address,
        to=row.to,
        cc=row.cc,
        bcc=row.bcc,
        subject=row.subject,
        html=row.html,
        origin=outgoing_origin(row.id),
        attachments=row.attachments,
        quoted=row.quoted,
        in_reply_to=row.in_reply_to,
        references=row.references,
        message_id_header=row.message_id_header,
    )


class CannotBuild(Exception):
    """The mail can't be built. Its text is one sentence for the mail's owner."""


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

    async def build(self, letter: Letter, *, max_bytes: int) -> bytes:
        """The message's bytes, dated now. ``max_bytes`` is the provider's limit. Raises :class:`CannotBuild`."""
        try:
            raw = await self._build(letter)
        except CannotBuild:
            raise
        except (BlobMissing, BlobCorrupt) as fault:
            raise CannotBuild("A file of this mail is missing or damaged on this server.") from fault
        except NotAsMeant as fault:
            raise CannotBuild("This mail can't be written so that it would be read as it was meant.") from fault
        except Exception as error:  # an edge: one mail that can't be built must not hold up the others
            raise CannotBuild("This mail could not be put together. The server's log says why.") from error
        if len(raw) > max_bytes:
            raise CannotBuild(f"This mail is larger than the {max_bytes >> 20} MiB that can be sent.")
        return raw

    async def _build(self, letter: Letter) -> bytes:
        parts = await self.store.read(_parts, letter)
        pictures = _own_content_ids(letter)
        html = await self.rebuilder.own(letter.html, images=pictures)
        images = {} if letter.quoted is None else _content_ids(letter.id, letter.quoted)
        if letter.quoted is not None:
            quoted = await self.rebuilder.quoted(letter.quoted, images=images)
            shown = (*html.content_ids, *quoted.content_ids)
            html = OutgoingHtml(html=f"{html.html}<br>{quoted.html}", content_ids=shown)
        return await self.threads.run(self._compose, letter, parts, html, {**images, **pictures}, self.clock.now())

    def _compose(
        self, letter: Letter, parts: _Parts, html: OutgoingHtml, images: Mapping[str, str], now: Millis
    ) -> bytes:
        """Runs in a thread."""
        people = recipients(to=letter.to, cc=letter.cc, bcc=letter.bcc)
        return compose(
            Composed(
                outgoing_id=letter.id,
                message_id=letter.message_id_header,
                date=now,
                sender=Person(name=parts.sender_name, address=letter.from_address),
                to=people.to,
                cc=people.cc,
                bcc=people.bcc,
                subject=letter.subject,
                html=html.html,
                text=text_alternative(html.html),
                attachments=tuple(self._attached(letter, parts, shown=set(html.content_ids), images=images)),
                in_reply_to=letter.in_reply_to,
                references=letter.references,
            )
        )

    def _attached(
        self, letter: Letter, parts: _Parts, *, shown: set[str], images: Mapping[str, str]
    ) -> Iterator[Attached]:
        """The quote's pictures that are really shown, and the files that the person attached or placed in the text."""
        left = set(shown)
        for picture in letter.quoted.inline if letter.quoted else ():
            content_id = images.get(picture.content_id or "")
            if content_id in left:
                left.remove(content_id)  # a content id identifies only one part
                yield self._file(parts, picture.file_id, content_id=content_id)
        for file_id in letter.attachments:
            content_id = images.get(file_id)
            yield self._file(parts, file_id, content_id=content_id if content_id in left else None)

    def _file(self, parts: _Parts, file_id: str, *, content_id: str | None) -> Attached:
        file = parts.files.get(file_id)
        if file is None:
            raise BlobMissing("An attachment has no file.")
        mime, _, method = file.mime.partition("; method=")
        return Attached(
            filename=file.name,
            mime=mime,
            content=self._content(file),
            content_id=content_id,
            method=method if method in _METHODS else None,
        )

    def _content(self, file: File) -> Iterator[bytes]:
        """Reads the file only when its part is written, so that one file at a time is in memory."""
        yield self.blobs.read_now(file.sha256, MAX_ATTACHED_BYTES)


def _content_ids(outgoing_id: str, quoted: Quoted) -> dict[str, str]:
    """Maps each content id of the original to its content id in the mail. Of two equal content ids the first counts."""
    found: dict[str, str] = {}
    for index, picture in enumerate(quoted.inline):
        if picture.content_id is not None:
            found.setdefault(picture.content_id, content_id_of(outgoing_id, index))
    return found


def _own_content_ids(letter: Letter) -> dict[str, str]:
    """Maps each attached file (``cid:fil_…`` in the person's text) to its content id. The numbers follow those of the
    quote."""
    first = 0 if letter.quoted is None else len(letter.quoted.inline)
    return {file_id: content_id_of(letter.id, first + at) for at, file_id in enumerate(letter.attachments)}


def _parts(tx: ReadTx, letter: Letter) -> _Parts:
    account = account_queries.account(tx, letter.account_id)
    if account is not None and letter.from_address not in own_addresses.sendable(account):
        raise CannotBuild(
            f"{letter.from_address} is no address of {account.address} any more. Send it from another one."
        )
    return _Parts(
        sender_name=queries.sender_name_of(
            tx, account_id=letter.account_id, owner_id=letter.owner_id, address=letter.from_address
        ),
        files={file.id: file for file in files_of(tx, origin=letter.origin)},
    )
