"""Deletes the rows and files of sending when an account is erased."""

from __future__ import annotations

from typing import Final

from svc.erase import Left
from svc.files import delete_files
from svc.mail.sending.model import draft_origin, outgoing_origin
from svc.store import Tx

OUTGOING_A_BATCH: Final = 100


def erase(tx: Tx, *, account_id: str) -> Left:
    """Delete one batch of drafts and outgoing mails. A mail that is being transmitted stays until its outcome is
    known."""
    drafts = tx.all(
        "select id from mail_drafts where account_id = :id limit :limit", id=account_id, limit=OUTGOING_A_BATCH
    )
    for (draft_id,) in drafts:
        delete_files(tx, origin=draft_origin(draft_id))
        tx.run("delete from mail_drafts where id = :id", id=draft_id)
    tx.run("delete from mail_draft_copies where account_id = :id", id=account_id)
    tx.run("delete from mail_draft_originals where account_id = :id", id=account_id)
    tx.run("delete from mail_draft_finds where account_id = :id", id=account_id)
    outgoing = tx.all(
        """
        select id from mail_outgoing where account_id = :id and state <> 'transmitting' limit :limit
        """,
        id=account_id,
        limit=OUTGOING_A_BATCH,
    )
    for (outgoing_id,) in outgoing:
        delete_files(tx, origin=outgoing_origin(outgoing_id))
        tx.run("delete from mail_outgoing where id = :id", id=outgoing_id)
    if len(drafts) == OUTGOING_A_BATCH or len(outgoing) == OUTGOING_A_BATCH:
        return "more"
    is_leaving = tx.value("select exists (select 1 from mail_outgoing where account_id = :id)", id=account_id)
    return "not-yet" if is_leaving else "nothing"
