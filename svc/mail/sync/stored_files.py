"""The files of a stored message: each attachment is a file of the account's owner."""

from __future__ import annotations

from svc.files import add_file
from svc.mail.sync.steps import StoredMessage
from svc.store import Tx


def add_attachments(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step: makes the attachments of a new message files."""
    for attachment in stored.message.headers.attachments if stored.is_new else ():
        add_file(
            tx,
            id=attachment.file_id,
            owner_id=stored.account.owner_id,
            sha256=attachment.sha256,
            name=attachment.filename,
            mime=attachment.mime,
            size=attachment.size,
            origin=f"mail:{stored.message_id}",
        )
