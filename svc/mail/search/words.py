"""Extracts a message's words for the index: from its sender, recipients, subject, body and file names."""

from __future__ import annotations

from collections.abc import Iterable

from svc.formats.person import Person
from svc.formats.readable import readable_text
from svc.formats.snippet import snippet
from svc.formats.words.text import indexable
from svc.mail.model import Body
from svc.mail.search.actions import Words
from svc.mail.search.model import Column
from svc.mail.search.queries import Waiting


def words_of(message: Waiting, readable: str | None, *, line: str | None = None) -> Words:
    """``readable``: the readable text of the body; ``None`` if the body is lost: the rest can still be found.
    ``line``: the new preview line of the message, if it must be updated."""
    headers = message.headers
    columns: dict[Column, str] = {
        "subject": indexable(message.subject),
        "sender": _people([message.sender]),
        "recipient": _people(headers.to),
        "cc": _people(headers.cc),
        "bcc": _people(headers.bcc),
        "files": indexable("\n".join(one.filename for one in headers.attachments)),
        "body": indexable(readable or ""),
    }
    return Words(number=message.number, message_id=message.message_id, columns=columns, snippet=line)


def words_with(message: Waiting, body: Body) -> Words:
    """The words with those of ``body``, and the preview line as this version makes it."""
    line = snippet(body.text, body.html, subject=message.subject, sender=message.sender.name)
    return words_of(message, readable_text(body.text, body.html), line=line)


def _people(people: Iterable[Person]) -> str:
    return indexable(", ".join(f"{one.name} {one.address}".strip() for one in people))
