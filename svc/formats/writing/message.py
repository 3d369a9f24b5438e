"""Writes one message: what a person composed becomes the RFC 5322 bytes to send, with MIME (RFC 2045 to 2047, 2183).

Pure and deterministic: the same composition gives the same bytes, so a message that was stored before its sending can
be recognized. The caller has sanitized the HTML, derived the text, checked the addresses and decided the recipients.
Every header block is read back before the bytes are returned; if it holds other fields than meant, nothing is sent.

The shape, without the parts that do not exist::

    multipart/mixed
      multipart/alternative
        text/plain
        multipart/related
          text/html
          the images it shows
      the other files
"""

from __future__ import annotations

import binascii
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from svc.clock import Millis
from svc.formats.person import Person
from svc.formats.text import clean_text
from svc.formats.writing import headers
from svc.formats.writing.addresses import is_sendable

Fields = Sequence[tuple[str, Iterable[str]]]
"""The names of fields, with their words."""

LINE_BYTES: Final = 57
"""Bytes of content in one line of base64: 76 characters, RFC 2045 section 6.8."""
GROUP_BYTES: Final = LINE_BYTES * 4_096
"""Bytes of content that are encoded at a time."""
PART_HEADER_BYTES: Final = 2_048
"""Room for the header of one file's part: a name of 255 bytes, percent-encoded, takes most of it."""
OPAQUE: Final = "application/octet-stream"

_MEDIA_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]{1,63}/[a-z0-9!#$&^_.+-]{1,63}")
_UNENCODABLE: Final = ("message/", "multipart/")
"""Types whose content may not be base64, RFC 2045 section 6.4: a file of such a type is sent as opaque data."""
_TOKEN: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_CONTENT_ID: Final = re.compile(r"[A-Za-z0-9_.+-]{1,100}@[A-Za-z0-9.-]{1,100}")


@dataclass(frozen=True, kw_only=True)
class Attached:
    """A file that is sent with the message. With a ``content_id`` it is an image that the HTML shows as ``cid:``.

    ``content`` is iterated once, in pieces of any size, so that a large file need not be in memory twice.
    """

    filename: str
    mime: str
    content: Iterable[bytes]
    content_id: str | None = None
    method: str | None = None
    """The purpose of a calendar file (RFC 6047, 2.4): ``REPLY``. Such a part is no attachment, and is in UTF-8."""


@dataclass(frozen=True, kw_only=True)
class Composed:
    """Everything that determines the bytes. Ids have no angle brackets; ``date`` is the time of sending.

    ``references`` are those of this message, see ``headers.references_of``; a stranger's id that can't be written is
    left out. ``html`` is sanitized for sending, and ``text`` says the same. Bcc is in the header: the provider takes
    its recipients from there, and removes it.
    """

    outgoing_id: str
    message_id: str
    date: Millis
    sender: Person
    to: tuple[Person, ...] = ()
    cc: tuple[Person, ...] = ()
    bcc: tuple[Person, ...] = ()
    subject: str
    html: str
    text: str
    attachments: tuple[Attached, ...] = ()
    in_reply_to: str | None = None
    references: tuple[str, ...] = ()


def compose(composed: Composed) -> bytes:
    """The message. Raises ``NotAsMeant`` if it would be read as something else: this is a bug, and nothing may be
    sent."""
    if not _TOKEN.fullmatch(composed.outgoing_id) or not headers.usable_id(composed.message_id):
        raise headers.NotAsMeant("an id that is none")
    for person in (composed.sender, *composed.to, *composed.cc, *composed.bcc):
        if not is_sendable(person.address):
            raise headers.NotAsMeant("an address that is none")
    return _Writer(composed).message()


def content_id_of(outgoing_id: str, index: int) -> str:
    """The content id of the ``index``-th image shown in the message: globally unique, as RFC 2045 requires."""
    return f"{index}.{outgoing_id}@svc.invalid"


def encoded_size(sizes: Iterable[int]) -> int:
    """An upper bound, in bytes, for what files of these sizes take in a message, including their part headers."""
    return sum((size + LINE_BYTES - 1) // LINE_BYTES * 78 + PART_HEADER_BYTES for size in sizes)


@dataclass
class _Writer:
    """Writes one message, from start to end."""

    composed: Composed
    _output: io.BytesIO = field(default_factory=io.BytesIO)
    _boundaries: int = 0

    def message(self) -> bytes:
        files = [one for one in self.composed.attachments if one.content_id is None]
        if files:
            parts = [self._alternative, *(self._file(one) for one in files)]
            self._multipart("mixed", parts, before=self._head())
        else:
            self._alternative(self._head())
        self._output.write(b"\r\n")
        # Not a copy: it returns the buffer in which the pieces were collected.
        return self._output.getvalue()

    def _head(self) -> Fields:
        it = self.composed
        parent = it.in_reply_to or ""
        references = [one for one in it.references if headers.usable_id(one)]
        lists = (("To", it.to), ("Cc", it.cc), ("Bcc", it.bcc))
        return [
            ("Date", headers.date_words(it.date)),
            ("From", headers.mailbox_words(it.sender)),
            *((name, headers.mailbox_list_words(people)) for name, people in lists if people),
            ("Subject", headers.text_words(it.subject)),
            ("Message-ID", headers.id_words([it.message_id])),
            *([("In-Reply-To", headers.id_words([parent]))] if headers.usable_id(parent) else []),
            *([("References", headers.id_words(references))] if references else []),
            ("X-Svc-Outgoing", [it.outgoing_id]),
            ("MIME-Version", ["1.0"]),
        ]

    def _alternative(self, before: Fields = ()) -> None:
        images = [one for one in self.composed.attachments if one.content_id is not None]

        def text(before: Fields = ()) -> None:
            self._text("plain", self.composed.text, before=before)

        def html(before: Fields = ()) -> None:
            self._text("html", self.composed.html, before=before)

        def related(before: Fields = ()) -> None:
            self._multipart("related", [html, *(self._file(one) for one in images)], before=before, type="text/html")

        self._multipart("alternative", [text, related if images else html], before=before)

    def _multipart(self, kind: str, parts: Sequence[_Part], *, before: Fields, **parameters: str) -> None:
        boundary = self._boundary()
        words = headers.parameter_words(f"multipart/{kind}", **parameters, boundary=boundary)
        self._block([*before, ("Content-Type", words)])
        delimiter = f"--{boundary}".encode("ascii")
        for index, part in enumerate(parts):
            self._output.write((b"\r\n" if index else b"") + delimiter + b"\r\n")
            part()
        self._output.write(b"\r\n" + delimiter + b"--")

    def _boundary(self) -> str:
        """No line of base64 or quoted-printable can hold its first two characters."""
        self._boundaries += 1
        digest = hashlib.sha256(f"{self.composed.outgoing_id}/{self._boundaries}".encode()).hexdigest()
        return f"=_{digest[:32]}"

    def _text(self, kind: str, text: str, *, before: Fields) -> None:
        flowed = {"format": "flowed"} if kind == "plain" else {}
        data = clean_text(text).replace("\n", "\r\n").encode("utf-8")
        encoding, content = "quoted-printable", _quoted_printable(data)
        if len(content) > len(data) // 3 * 4 + 4:
            encoding, content = "base64", b"".join(_base64_lines([data]))
        self._block(
            [
                *before,
                ("Content-Type", headers.parameter_words(f"text/{kind}", charset="utf-8", **flowed)),
                ("Content-Transfer-Encoding", [encoding]),
            ]
        )
        self._output.write(content)

    def _file(self, file: Attached) -> _Part:
        def part() -> None:
            mime = _sendable_type(file.mime)
            filename = headers.settled_filename(file.filename, mime=mime)
            kind = "attachment" if file.content_id is None else "inline"
            type_words = headers.file_type_words(mime, filename=filename)
            if file.method is not None:
                named = {"method": file.method, "charset": "utf-8", "name": filename}
                type_words, kind = headers.parameter_words(mime, **named), "inline"
            fields: list[tuple[str, Iterable[str]]] = [
                ("Content-Type", type_words),
                ("Content-Disposition", headers.disposition_words(kind, filename=filename)),
                ("Content-Transfer-Encoding", ["base64"]),
            ]
            if file.content_id is not None:
                if not _CONTENT_ID.fullmatch(file.content_id):
                    raise headers.NotAsMeant("a content id that is none")
                fields.append(("Content-ID", headers.id_words([file.content_id])))
            self._block(fields)
            self._output.writelines(_base64_lines(file.content))

        return part

    def _block(self, fields: Fields) -> None:
        """A header block and the empty line after it."""
        block = b"".join(headers.field(name, words) for name, words in fields)
        headers.verify_block(block, names=[name for name, _ in fields])
        self._output.write(block + b"\r\n")


_Part = Callable[[], None]


def _sendable_type(mime: str) -> str:
    mime = mime.partition(";")[0].strip().lower()
    return mime if _MEDIA_TYPE.fullmatch(mime) and not mime.startswith(_UNENCODABLE) else OPAQUE


def _quoted_printable(data: bytes) -> bytes:
    """RFC 2045 section 6.7, also for the last line: a final blank must not be lost in transport."""
    return binascii.b2a_qp(data + b"\r\n", istext=True)[:-2]


def _base64_lines(content: Iterable[bytes]) -> Iterator[bytes]:
    """The content in lines of 76 characters, each but the last with its line end; a few thousand lines at a time."""
    waiting = bytearray()
    first = True
    for piece in content:
        waiting += piece
        whole = len(waiting) // GROUP_BYTES * GROUP_BYTES
        for start in range(0, whole, GROUP_BYTES):
            yield _encoded_group(waiting[start : start + GROUP_BYTES], first=first)
            first = False
        del waiting[:whole]
    if waiting:
        yield _encoded_group(waiting, first=first)


def _encoded_group(group: bytearray, *, first: bool) -> bytes:
    encoded = binascii.b2a_base64(group, newline=False)
    lines = [encoded[start : start + 76] for start in range(0, len(encoded), 76)]
    return (b"" if first else b"\r\n") + b"\r\n".join(lines)
