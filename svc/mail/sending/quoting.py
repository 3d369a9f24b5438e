"""Keeps the original below a reply or a forward as it is now."""

from __future__ import annotations

from svc.mail.model import AttachmentRef, MessageRow
from svc.mail.sending.model import Quote, Quoted


def snapshot(message: MessageRow, quote: Quote, *, inline: tuple[AttachmentRef, ...]) -> Quoted:
    """The message as it is now, to be quoted later."""
    return Quoted(
        message_id=message.id,
        kind=quote.kind,
        body_sha256=message.body_sha256,
        sender=message.sender,
        sent_at=message.sent_at,
        subject=message.subject,
        to=message.headers.to,
        cc=message.headers.cc,
        inline=inline,
    )
