"""The wire types of sending: the inputs and outputs of its procedures, and the functions that make them of records."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

import msgspec

from svc.clock import Millis, rfc3339, rfc3339_or_none
from svc.idempotency import Repeatable
from svc.mail.model import AttachmentRef
from svc.mail.sending.model import (
    MAX_ATTACHMENTS,
    MAX_RECIPIENTS,
    Draft,
    Outgoing,
    Quote,
    QuoteKind,
    SendRequest,
)
from svc.mail.sending.states import OutgoingState
from svc.mail.wire import Id
from svc.protocol.rows import Wire

MAX_HTML_CHARS: Final = 1024 * 1024
"""The HTML of a mail that is written. Beyond: 400 `invalid`, with the name of the field."""
MAX_SUBJECT_CHARS: Final = 2_000
"""The subject of a mail that is written. Beyond: 400 `invalid`, with the name of the field."""
MAX_SIGNATURE_CHARS: Final = 64 * 1024
"""A signature. Beyond: 400 `invalid`, with the name of the field."""
MAX_MAILBOX_CHARS: Final = 1_000
"""One recipient: name and address. Beyond: 400 `invalid`, with the name of the field."""

Mailboxes = Annotated[
    tuple[Annotated[str, msgspec.Meta(max_length=MAX_MAILBOX_CHARS)], ...], msgspec.Meta(max_length=MAX_RECIPIENTS)
]
Html = Annotated[str, msgspec.Meta(max_length=MAX_HTML_CHARS)]
Subject = Annotated[str, msgspec.Meta(max_length=MAX_SUBJECT_CHARS)]
FromAddress = Annotated[str, msgspec.Meta(min_length=3, max_length=320)]
FileIds = Annotated[tuple[Id, ...], msgspec.Meta(max_length=MAX_ATTACHMENTS)]
PrepareKind = Literal["reply", "replyAll", "forward"]
Instant = Annotated[datetime, msgspec.Meta(tz=True)]


# Inputs


class QuoteIn(Wire, frozen=True):
    message_id: Id
    kind: QuoteKind


class SendInput(Repeatable, frozen=True, kw_only=True):
    """``reply_to`` is the thread that the mail answers. The call is idempotent per ``draft_id``. With ``draft_version``
    it fails if the draft has another version, so that no text is lost that the caller has not seen.
    ``from_address``: one of the account's; without it, the one that the answered mail was sent to, else its default.
    ``group``: other undo steps of this group are undone together with it."""

    account_id: Id
    to: Mailboxes
    subject: Subject
    html: Html
    cc: Mailboxes = ()
    bcc: Mailboxes = ()
    attachments: FileIds = ()
    reply_to: Id | None = None
    send_at: Instant | None = None
    draft_id: Id | None = None
    draft_version: int | None = None
    quote: QuoteIn | None = None
    from_address: FromAddress | None = None
    group: Id | None = None


class SaveDraftInput(Repeatable, frozen=True, kw_only=True):
    """Without ``id`` it is a new draft, one per idempotency key. With ``version`` only that version is overwritten."""

    account_id: Id
    to: Mailboxes
    subject: Subject
    html: Html
    id: Id | None = None
    version: int | None = None
    cc: Mailboxes = ()
    bcc: Mailboxes = ()
    attachments: FileIds = ()
    reply_to: Id | None = None
    quote: QuoteIn | None = None
    from_address: FromAddress | None = None


class OutgoingInput(Wire, frozen=True):
    id: Id


class DismissInput(Wire, frozen=True):
    """With ``draft`` what was written becomes a draft again."""

    id: Id
    draft: bool = False


class RescheduleInput(Wire, frozen=True):
    id: Id
    send_at: Instant


class DraftInput(Wire, frozen=True):
    id: Id


class TakeUpDraftInput(Wire, frozen=True):
    message_id: Id


class PrepareInput(Wire, frozen=True):
    """With only ``thread_id`` the thread's last message is answered. With ``message_id`` no thread is needed."""

    kind: PrepareKind
    thread_id: Id | None = None
    message_id: Id | None = None


class SignatureInput(Wire, frozen=True):
    account_id: Id


class SetSignatureInput(Wire, frozen=True):
    account_id: Id
    html: Annotated[str, msgspec.Meta(max_length=MAX_SIGNATURE_CHARS)]


# Outputs


class SendOut(Wire, frozen=True):
    """``message_id`` is set once the mail is sent and our own copy is stored; ``send_at`` while it still waits."""

    outgoing_id: str
    state: OutgoingState
    message_id: str | None
    send_at: str | None


class OutgoingOut(Wire, frozen=True):
    """``next_attempt_at``: when the mail is sent automatically. ``last_error`` is a sentence for the person.
    ``by``: the name of the person who sent it, if that is not the account's owner."""

    id: str
    account_id: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    subject: str
    state: OutgoingState
    send_at: str | None
    next_attempt_at: str | None
    attempts: int
    last_error: str | None
    has_attachments: bool
    thread_id: str | None
    message_id: str | None
    created_at: str
    by: str | None = None


class OutgoingDraftOut(Wire, frozen=True):
    draft_id: str | None


class TakenUpOut(Wire, frozen=True):
    draft_id: str


class DraftSavedOut(Wire, frozen=True):
    id: str
    version: int


class QuoteOut(Wire, frozen=True):
    message_id: str
    kind: QuoteKind


class DraftRowOut(Wire, frozen=True):
    """``notes``: sentences for the writer about the copy in the mailbox and what another program did with the draft.
    ``thread_id``: the thread that the draft answers, or the thread of the message that it quotes (``quote``)."""

    id: str
    account_id: str
    to: tuple[str, ...]
    subject: str
    snippet: str
    updated_at: str
    reply_to: str | None
    notes: tuple[str, ...]
    thread_id: str | None
    quote: QuoteOut | None


class AttachedOut(Wire, frozen=True):
    file_id: str
    filename: str
    mime: str
    size: int


class DraftOut(Wire, frozen=True):
    id: str
    account_id: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    subject: str
    html: str
    attachments: tuple[AttachedOut, ...]
    reply_to: str | None
    quote: QuoteOut | None
    version: int
    updated_at: str
    from_address: str | None
    notes: tuple[str, ...]
    thread_id: str | None


class PreparedOut(Wire, frozen=True):
    """The first content of a compose window. ``quoted_html`` is shown below the person's own text.
    ``from_address``: the account's address that the message was sent to, else its default."""

    account_id: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    quote: QuoteOut
    quoted_html: str
    attachments: tuple[AttachedOut, ...]
    signature: str
    from_address: str


class SignatureOut(Wire, frozen=True):
    html: str


# Wire types to records, and back


def send_request_of(wanted: SendInput | SaveDraftInput) -> SendRequest:
    return SendRequest(
        account_id=wanted.account_id,
        to=wanted.to,
        cc=wanted.cc,
        bcc=wanted.bcc,
        subject=wanted.subject,
        html=wanted.html,
        attachments=wanted.attachments,
        thread_id=wanted.reply_to,
        quote=None if wanted.quote is None else Quote(message_id=wanted.quote.message_id, kind=wanted.quote.kind),
        from_address=wanted.from_address,
    )


def millis(instant: datetime | None) -> Millis | None:
    return None if instant is None else round(instant.timestamp() * 1_000)


def sent_out(row: Outgoing) -> SendOut:
    return SendOut(
        outgoing_id=row.id, state=row.state, message_id=row.message_id, send_at=rfc3339_or_none(_goes_at(row))
    )


def outgoing_out(row: Outgoing) -> OutgoingOut:
    return OutgoingOut(
        id=row.id,
        account_id=row.account_id,
        to=row.to,
        cc=row.cc,
        bcc=row.bcc,
        subject=row.subject,
        state=row.state,
        send_at=rfc3339_or_none(_goes_at(row)),
        next_attempt_at=rfc3339_or_none(row.next_at),
        attempts=row.attempts,
        last_error=row.last_error,
        has_attachments=bool(row.attachments),
        thread_id=row.thread_id,
        message_id=row.message_id,
        created_at=rfc3339(row.created_at),
        by=None if row.sent_by == row.owner_id else row.sent_by_name,
    )


def _goes_at(row: Outgoing) -> Millis | None:
    """When the mail is meant to be sent: the time that the person chose, or the end of the undo pause."""
    return row.next_at if row.state == "held" else row.send_at


def draft_row_out(draft: Draft) -> DraftRowOut:
    return DraftRowOut(
        id=draft.id,
        account_id=draft.account_id,
        to=draft.to,
        subject=draft.subject,
        snippet=draft.snippet,
        updated_at=rfc3339(draft.updated_at),
        reply_to=draft.thread_id,
        notes=draft.notes,
        thread_id=draft.about_thread_id,
        quote=None if draft.quote is None else quote_out(draft.quote),
    )


def draft_out(draft: Draft, attached: tuple[AttachedOut, ...]) -> DraftOut:
    return DraftOut(
        id=draft.id,
        account_id=draft.account_id,
        to=draft.to,
        cc=draft.cc,
        bcc=draft.bcc,
        subject=draft.subject,
        html=draft.html,
        attachments=attached,
        reply_to=draft.thread_id,
        quote=None if draft.quote is None else quote_out(draft.quote),
        version=draft.version,
        updated_at=rfc3339(draft.updated_at),
        from_address=draft.from_address,
        notes=draft.notes,
        thread_id=draft.about_thread_id,
    )


def quote_out(quote: Quote) -> QuoteOut:
    return QuoteOut(message_id=quote.message_id, kind=quote.kind)


def attachment_out(attachment: AttachmentRef) -> AttachedOut:
    return AttachedOut(
        file_id=attachment.file_id, filename=attachment.filename, mime=attachment.mime, size=attachment.size
    )
