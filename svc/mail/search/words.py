"""A message's words, taken from what is stored of it: whom it is from and to, what it is about, its body and files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from svc.formats.person import Person
from svc.formats.snippet import plain, snippet
from svc.formats.text import text_from_html
from svc.mail.model import Body
from svc.mail.search.actions import Words
from svc.mail.search.queries import Waiting
from svc.mail.search.text import indexable

MAX_BODY_CHARS: Final = 100_000
"""Of a longer body the beginning can be found."""

MAX_HTML_CHARS: Final = 512 * 1024
TEXT_SAYS_ENOUGH_CHARS: Final = 1_000
"""A plain version as long as this says what the HTML says; a shorter one may only say that there is HTML."""


def words_of(message: Waiting, body: Body | None, *, retold: bool = True) -> Words:
    """``body`` is ``None`` where it is lost: the rest can still be found. ``retold``: with the line of its row."""
    headers = message.headers
    line = None
    if body is not None and retold:
        line = snippet(body.text, body.html, subject=message.subject, sender=message.sender.name)
    return Words(
        message_id=message.message_id,
        snippet=line,
        columns={
            "subject": indexable(message.subject),
            "sender": _people([message.sender]),
            "recipient": _people(headers.to),
            "cc": _people(headers.cc),
            "bcc": _people(headers.bcc),
            "files": indexable("\n".join(one.filename for one in headers.attachments)),
            "body": indexable(body_text(body)) if body else "",
        },
    )


def body_text(body: Body) -> str:
    """What a person can read in it, in either version."""
    text = plain(body.text[:MAX_BODY_CHARS])
    if body.html and len(text) < TEXT_SAYS_ENOUGH_CHARS:
        shown = text_from_html(body.html[:MAX_HTML_CHARS])[:MAX_BODY_CHARS]
        return shown if _flat(text) in _flat(shown) else f"{text}\n{shown}"
    return text


def _people(people: Iterable[Person]) -> str:
    return indexable(", ".join(f"{one.name} {one.address}".strip() for one in people))


def _flat(text: str) -> str:
    return " ".join(text.split())
