"""Replaces the contents that a stored message refers to: its body, its raw bytes and its attachments."""

from __future__ import annotations

import msgspec

from svc.mail.model import Incoming, MessageHeaders
from svc.store import Tx


def replace(
    tx: Tx, *, message_id: str, made: Incoming, headers: MessageHeaders, body_before: str, raw_before: str
) -> bool:
    """Let the message refer to the newly parsed contents. Returns ``False`` if it was changed meanwhile, or is
    deleted."""
    changed = tx.run(
        """
        update mail_messages set body_sha256 = :body, raw_sha256 = :raw, raw_size = :size, headers = :headers,
            attachments = :attachments
        where id = :id and body_sha256 = :body_before and raw_sha256 = :raw_before
        """,
        id=message_id,
        body=made.body_sha256,
        raw=made.raw_sha256,
        size=made.raw_size,
        headers=msgspec.json.encode(headers).decode(),
        attachments=sum(not one.inline for one in headers.attachments),
        body_before=body_before,
        raw_before=raw_before,
    )
    return bool(changed)
