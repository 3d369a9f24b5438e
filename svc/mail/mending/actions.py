"""The writes of mending: new references where the parts came out differently, and news that a message is mended."""

from __future__ import annotations

import msgspec

from svc.files import add_file, delete_files, restate_file
from svc.mail.accounts import queries as account_queries
from svc.mail.images.actions import forget_images
from svc.mail.mending.queries import Owner, owners
from svc.mail.model import DEVICE_ID, Account, Incoming, MessageHeaders
from svc.mail.reading.actions import forget_clean
from svc.mail.search import actions as search_actions
from svc.mail.threads import contents, thread_rows
from svc.store import Tx


def replace_content(tx: Tx, *, owner: Owner, made: Incoming) -> bool:
    """Let the message name the parts that were made of it now. Labels, dates and everything else stay as they are.

    Returns whether it was written: not where the message was deleted, or names other blobs by now.
    """
    account = account_queries.account(tx, owner.account_id)
    headers = msgspec.structs.replace(owner.headers, attachments=made.headers.attachments)
    if account is None or not contents.replace(
        tx,
        message_id=owner.id,
        made=made,
        headers=headers,
        body_before=owner.body_sha256,
        raw_before=owner.raw_sha256,
    ):
        return False
    _restate_files(tx, account, owner, headers)
    _forget_clean(tx, owner.body_sha256)
    thread_rows.refresh_thread(tx, account, owner.thread_id, device_id=DEVICE_ID)
    return True


def _restate_files(tx: Tx, account: Account, owner: Owner, headers: MessageHeaders) -> None:
    origin = f"mail:{owner.id}"
    delete_files(tx, origin=origin, but=[one.file_id for one in headers.attachments])
    for one in headers.attachments:
        restate_file(tx, id=one.file_id, sha256=one.sha256, size=one.size)
        add_file(
            tx,
            id=one.file_id,
            owner_id=account.owner_id,
            sha256=one.sha256,
            name=one.filename,
            mime=one.mime,
            size=one.size,
            origin=origin,
        )


def _forget_clean(tx: Tx, body_sha256: str) -> None:
    """Delete what was made of a body, where no message has it any more."""
    if tx.value("select exists (select 1 from mail_messages where body_sha256 = :sha256)", sha256=body_sha256):
        return
    forget_clean(tx, body_sha256=body_sha256)
    forget_images(tx, body_sha256=body_sha256)


def tell(tx: Tx, sha256: str) -> None:
    """Tell clients that show such a thread to load it again. Queue the message for search where its body is mended, in
    case the body was lost while it was indexed."""
    for owner in owners(tx, sha256):
        account = account_queries.account(tx, owner.account_id)
        if account is None:
            continue
        if owner.body_sha256 == sha256:
            search_actions.queue(tx, message_ids=[owner.id])
        thread_rows.emit_thread(tx, account, owner.thread_id, device_id=DEVICE_ID)
