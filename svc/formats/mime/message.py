"""Reads one message from raw bytes: its header, its bodies chosen and joined; everything else becomes an attachment.

Pure: no I/O, no clock, no state. Never raises on any bytes and takes time near-linear in them; what it tolerated is
noted in ``problems``. It never looks into attachments and never sanitizes HTML: the sanitizer does that.
"""

from __future__ import annotations

import codecs
import html as _html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from svc.formats.mime.addresses import is_address, parse_addresses, sender_among
from svc.formats.mime.charsets import decode
from svc.formats.mime.dates import parse_date
from svc.formats.mime.fields import text_of
from svc.formats.mime.model import (
    MAX_ADDRESS_CHARS,
    MAX_BODY_BYTES,
    MAX_DECODED_BYTES,
    MAX_DELIVERED_TO,
    MAX_REFERENCES,
    Attachment,
    Mailbox,
    ParsedMessage,
    Problems,
)
from svc.formats.mime.names import safe_filename
from svc.formats.mime.parts import Part, charset_of, header_only, split_parts, transfer_encoding
from svc.formats.mime.transfer import decode_transfer
from svc.formats.mime.words import header_line, header_text
from svc.formats.snippet import snippet
from svc.formats.text import clean_text, clean_token

_ANGLED_ID: Final = re.compile(r"<([^<>]+)>")
_BODY_TYPES: Final = frozenset({"text/plain", "text/html"})
_OTHER_VERSIONS: Final = frozenset({"text/enriched", "text/richtext", "text/x-amp-html", "text/watch-html"})
"""The same content again, for other kinds of readers: inside an alternative it is not worth an attachment."""
_OPAQUE: Final = "application/octet-stream"
HEAD_ONLY: Final = "only the header was read"
"""Among the problems of a message that took too long."""


def parse_message(raw: bytes) -> ParsedMessage:
    """The message in ``raw``, for any bytes."""
    problems = Problems()
    message = _with_line_feeds(raw)
    root = split_parts(message, problems=problems)
    gatherer = _Gatherer(message, problems)
    text, html = _joined(gatherer.gather(root))
    return _parsed(root, raw, text=text, html=html, attachments=tuple(gatherer.attachments), problems=problems)


def parse_head_only(raw: bytes) -> ParsedMessage:
    """Only its header, for a message that could not be parsed in time."""
    problems = Problems()
    root = header_only(_with_line_feeds(raw), problems=problems)
    problems.add(HEAD_ONLY)
    return _parsed(root, raw, text="", html=None, attachments=(), problems=problems)


def _with_line_feeds(raw: bytes) -> bytes:
    """The bytes without a byte order mark and empty lines in front; a file with bare carriage returns gets line
    feeds."""
    message = raw.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
    return message.replace(b"\r", b"\n") if b"\n" not in message else message


def _parsed(
    root: Part,
    raw: bytes,
    *,
    text: str,
    html: str | None,
    attachments: tuple[Attachment, ...],
    problems: Problems,
) -> ParsedMessage:
    head = _Head(root, problems)
    senders = head.mailboxes("from")
    sender = _sender(senders, head)
    subject = head.line("subject") or ""
    return ParsedMessage(
        message_id=head.message_id(),
        in_reply_to=head.in_reply_to(),
        references=head.references(),
        original_message_id=head.original_message_id(),
        subject=subject,
        sender=sender,
        senders=senders,
        reply_to=head.mailboxes("reply-to"),
        to=head.mailboxes("to"),
        cc=head.mailboxes("cc"),
        bcc=head.mailboxes("bcc"),
        date=parse_date(head.text("date")),
        text=text,
        html=html,
        attachments=attachments,
        snippet=snippet(text, html, subject=subject, sender=sender.name if sender else ""),
        list_id=head.line("list-id"),
        list_unsubscribe=head.line("list-unsubscribe"),
        precedence=head.line("precedence"),
        auto_submitted=head.line("auto-submitted"),
        delivered_to=_delivered_to(_Head(root, Problems())),
        outgoing_mark=clean_token(head.text("x-svc-outgoing")[:MAX_ADDRESS_CHARS]) or None,
        problems=tuple(problems.notes),
        size=len(raw),
    )


def _delivered_to(head: _Head) -> tuple[str, ...]:
    """The first few: each server on the way adds one, and a stranger may have written any number."""
    named = (*head.mailboxes("delivered-to"), *head.mailboxes("x-original-to"))
    found = dict.fromkeys(one.address for one in named if is_address(one.address))
    return tuple(islice(found, MAX_DELIVERED_TO))


def _sender(senders: Sequence[Mailbox], head: _Head) -> Mailbox | None:
    """The mailbox of From; if From has no address, that of Sender, which submitted the mail."""
    named = sender_among(senders)
    if named is not None and is_address(named.address):
        return named
    handed_in = sender_among(head.mailboxes("sender"))
    if named is None or handed_in is None or not is_address(handed_in.address):
        return named or handed_in
    return Mailbox(name=named.name or named.address, address=handed_in.address)


class _Head:
    """The root part's header, as its readers want it."""

    def __init__(self, root: Part, problems: Problems) -> None:
        self._fields = root.fields
        self._problems = problems
        self._charset = charset_of(root)

    def text(self, name: str) -> str:
        return self._text(self._fields.first(name))

    def line(self, name: str) -> str | None:
        return header_line(self.text(name), problems=self._problems) or None

    def mailboxes(self, name: str) -> tuple[Mailbox, ...]:
        return parse_addresses(map(self._text, self._fields.all(name)), problems=self._problems)

    def message_id(self) -> str | None:
        ids = _ids(self.text("message-id"))
        return ids[0] if ids else None

    def original_message_id(self) -> str | None:
        """Microsoft's servers keep it in this field, and give the mail a Message-ID of their own."""
        ids = _ids(self.text("x-microsoft-original-message-id"))
        return ids[0] if ids else None

    def in_reply_to(self) -> str | None:
        """The last id: old programs put a phrase with the sender's address before it."""
        ids = _ids(self.text("in-reply-to"))
        return ids[-1] if ids else None

    def references(self) -> tuple[str, ...]:
        """Each once. If there are too many, the thread's first ones and the newest stay: threading needs these most."""
        ids = list(dict.fromkeys(_ids(self.text("references"))))
        if len(ids) > MAX_REFERENCES:
            self._problems.add(f"references cut to {MAX_REFERENCES}")
            ids = ids[:1] + ids[1 - MAX_REFERENCES :]
        return tuple(ids)

    def _text(self, raw: bytes) -> str:
        return header_text(raw, problems=self._problems, charset=self._charset)


def _ids(text: str) -> list[str]:
    """The message ids in ``text``, without brackets and without the white space that folding left in them."""
    found = _ANGLED_ID.findall(text) or text.replace("<", " ").replace(">", " ").split()
    return [one for one in map(clean_token, found) if one and len(one) <= MAX_ADDRESS_CHARS]


@dataclass(frozen=True)
class _Body:
    """The readable text of one part, or of several versions of it."""

    text: str | None
    html: str | None


@dataclass
class _Gatherer:
    """Walks the parts once. Recursion is safe: the splitter limits the depth."""

    raw: bytes
    problems: Problems
    attachments: list[Attachment] = field(default_factory=list)
    _decoded_bytes: int = 0
    _has_body: bool = False

    def gather(self, part: Part, *, is_body: bool = False, in_related: bool = False) -> list[_Body]:
        """``is_body``: it is in the place of a body, so it is one even if it has a name."""
        if not part.children:
            return self._leaf(part, is_body=is_body, in_related=in_related)
        if part.mime == "multipart/alternative":
            return self._alternative(part)
        if part.mime == "multipart/related":
            first, *rest = part.children
            bodies = self.gather(first, is_body=True)
            return bodies + [body for child in rest for body in self.gather(child, in_related=True)]
        return [body for child in part.children for body in self.gather(child)]

    def _alternative(self, part: Part) -> list[_Body]:
        """Versions of the same content; the sender's best version is last, RFC 2046 section 5.1.4."""
        text = html = None
        for child in part.children:
            if child.mime in _OTHER_VERSIONS:
                continue
            version_text, version_html = _joined(self.gather(child, is_body=True))
            text = version_text or text
            html = version_html or html
        return [_Body(text, html)]

    def _leaf(self, part: Part, *, is_body: bool, in_related: bool) -> list[_Body]:
        filename = text_of(part.disposition_parameters, "filename", problems=self.problems)
        filename = filename or text_of(part.parameters, "name", problems=self.problems)
        content_id = (
            clean_token(header_text(part.fields.first("content-id"), problems=self.problems)).strip("<>") or None
        )
        readable = part.mime in _BODY_TYPES or (part.is_multipart and not part.too_deep)
        placed = is_body or not self._has_body or not (filename or (in_related and content_id))
        if readable and placed and part.disposition in ("", "inline"):
            return self._body(part)
        self._attach(part, filename=filename, content_id=content_id, in_related=in_related)
        return []

    def _body(self, part: Part) -> list[_Body]:
        content = self._content(part)
        if content is None:
            return []
        if len(content) > MAX_BODY_BYTES:
            self.problems.add(f"body cut after {MAX_BODY_BYTES} bytes")
            content = content[:MAX_BODY_BYTES]
        self._has_body = True
        is_html = part.mime == "text/html"
        text = clean_text(decode(content, charset_of(part), problems=self.problems, html=is_html))
        return [_Body(None, text) if is_html else _Body(text, None)]

    def _attach(self, part: Part, *, filename: str, content_id: str | None, in_related: bool) -> None:
        content = self._content(part)
        if content is None or not (content or filename):
            return  # empty, and without a name
        mime = _OPAQUE if part.is_multipart else part.mime
        self.attachments.append(
            Attachment(
                filename=safe_filename(filename, mime=mime),
                mime=mime,
                content=content,
                content_id=content_id,
                inline=content_id is not None and (in_related or part.disposition == "inline"),
            )
        )

    def _content(self, part: Part) -> bytes | None:
        """The part's bytes, decoded; ``None`` once the message has exceeded its limit."""
        # A multipart can't be encoded as a whole: if a sender says so, it is wrong.
        encoding = "" if part.is_multipart else transfer_encoding(part)
        content = decode_transfer(self.raw[part.start : part.end], encoding, problems=self.problems)
        if self._decoded_bytes + len(content) > MAX_DECODED_BYTES:
            self.problems.add(f"part left out: more than {MAX_DECODED_BYTES} bytes decoded")
            return None
        self._decoded_bytes += len(content)
        return content


def _joined(bodies: Sequence[_Body]) -> tuple[str, str | None]:
    """Consecutive bodies as one text and one HTML; a text among HTML bodies becomes part of the HTML too."""
    text = "\n".join(body.text for body in bodies if body.text is not None)[:MAX_BODY_BYTES]
    if all(body.html is None for body in bodies):
        return text, None
    pieces = [body.html if body.html is not None else _html_from_text(body.text or "") for body in bodies]
    return text, "\n".join(piece for piece in pieces if piece)[:MAX_BODY_BYTES]


def _html_from_text(text: str) -> str:
    text = text.strip("\n")
    return "<div>" + _html.escape(text).replace("\n", "<br>\n") + "</div>" if text else ""
