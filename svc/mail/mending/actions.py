"""What mending writes: other references where the parts came out differently, and the word that something is whole."""

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
    """The message names what was made of it now. Labels, dates and all else that it says stay as they are.

    Returns whether it did: not where the message is gone, or names something else by now.
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
    """What was made of a body that no message has any more."""
    if tx.value("select exists (select 1 from mail_messages where body_sha256 = :sha256)", sha256=body_sha256):
        return
    forget_clean(tx, body_sha256=body_sha256)
    forget_images(tx, body_sha256=body_sha256)


def tell(tx: Tx, sha256: str) -> None:
    """Who has such a thread open sees it whole, and a body that was lost while its words were taken is found again."""
    for owner in owners(tx, sha256):
        account = account_queries.account(tx, owner.account_id)
        if account is None:
            continue
        if owner.body_sha256 == sha256:
            search_actions.queue(tx, message_ids=[owner.id])
        thread_rows.emit_thread(tx, account, owner.thread_id, device_id=DEVICE_ID)
