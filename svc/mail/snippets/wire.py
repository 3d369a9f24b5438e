"""The inputs and outputs of the procedures of snippets."""

from __future__ import annotations

from typing import Annotated

import msgspec

from svc.clock import rfc3339
from svc.mail.sending.wire import MAX_MAILBOX_CHARS, Subject
from svc.mail.snippets.model import MAX_HTML_CHARS, MAX_NAME_CHARS, MAX_RECIPIENTS, Snippet, SnippetInput
from svc.mail.wire import Id
from svc.protocol.rows import Wire

Mailboxes = Annotated[
    tuple[Annotated[str, msgspec.Meta(max_length=MAX_MAILBOX_CHARS)], ...], msgspec.Meta(max_length=MAX_RECIPIENTS)
]


class SaveSnippetInput(Wire, frozen=True):
    """Without ``id`` a new snippet is made. ``name`` is one word."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS)]
    html: Annotated[str, msgspec.Meta(max_length=MAX_HTML_CHARS)]
    id: Id | None = None
    subject: Subject = ""
    to: Mailboxes = ()
    cc: Mailboxes = ()
    bcc: Mailboxes = ()


class SnippetIdInput(Wire, frozen=True):
    id: Id


class SnippetSavedOut(Wire, frozen=True):
    id: str


class SnippetOut(Wire, frozen=True):
    """``html`` and ``subject`` may hold fields such as ``{first name}``, which the app fills."""

    id: str
    name: str
    html: str
    subject: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    updated_at: str


def snippet_input(wanted: SaveSnippetInput, *, html: str) -> SnippetInput:
    return SnippetInput(name=wanted.name, html=html, subject=wanted.subject, to=wanted.to, cc=wanted.cc, bcc=wanted.bcc)


def snippet_out(one: Snippet) -> SnippetOut:
    return SnippetOut(
        id=one.id,
        name=one.name,
        html=one.html,
        subject=one.subject,
        to=one.to,
        cc=one.cc,
        bcc=one.bcc,
        updated_at=rfc3339(one.updated_at),
    )
