"""Restores the mail data of an export other than the mails into a new home: drafts, blocked senders, muted and snoozed
threads, snippets, signatures, shares. Each function is a part of a transaction, and idempotent.

A thread is identified by the hash of one of its mails' bytes, because thread ids differ in another home.
"""

from __future__ import annotations

from dataclasses import replace

from svc.clock import Millis
from svc.formats.html import plan, text_to_html
from svc.formats.text import text_from_html
from svc.formats.writing import outgoing_html
from svc.mail.accounts import shares
from svc.mail.images import actions as images
from svc.mail.sending import drafts
from svc.mail.sending import queries as sending_queries
from svc.mail.sending.model import Answers, Quote, QuoteKind, SendRequest, draft_origin
from svc.mail.sharing.actions import SharedAccess
from svc.mail.snippets import actions as snippets
from svc.mail.snippets.model import SnippetInput
from svc.mail.threads import blocks, mutes, snoozes
from svc.mail.threads.blocks import BlockedTo
from svc.store import ReadTx, Tx

__all__ = [
    "Answers",
    "BlockedTo",
    "Quote",
    "SendRequest",
    "SnippetInput",
    "block",
    "draft",
    "draft_origin",
    "mute",
    "share",
    "signature",
    "snippet",
    "snooze",
    "trust",
]


def thread_of_mail(tx: ReadTx, *, account_id: str, raw_sha256: str | None) -> str | None:
    found = tx.value(
        "select thread_id from mail_messages where account_id = :account_id and raw_sha256 = :raw order by id limit 1",
        account_id=account_id,
        raw=raw_sha256,
    )
    return None if found is None else str(found)


def _message(tx: ReadTx, *, account_id: str, raw_sha256: str) -> str | None:
    found = tx.value(
        "select id from mail_messages where account_id = :account_id and raw_sha256 = :raw order by id limit 1",
        account_id=account_id,
        raw=raw_sha256,
    )
    return None if found is None else str(found)


def _is_away(tx: ReadTx, thread_id: str) -> bool:
    """Whether the thread is out of the inbox and has a message that is not spam, trash or a draft."""
    return bool(tx.value("select in_inbox = 0 and visible > 0 from mail_threads where id = :id", id=thread_id))


def draft(
    tx: Tx,
    request: SendRequest,
    *,
    draft_id: str,
    owner_id: str | None,
    answers: Answers | None,
    mail: str | None,
    quoted: tuple[str, QuoteKind] | None,
) -> None:
    """Restore a draft, whose files must be stored already. ``mail``: the hash of a mail of the thread that it answers;
    ``quoted``: the hash of the mail quoted below its text, and the kind of the quote."""
    if sending_queries.draft(tx, draft_id) is not None:
        return
    thread_id = thread_of_mail(tx, account_id=request.account_id, raw_sha256=mail)
    quote = None
    if quoted is not None and (found := _message(tx, account_id=request.account_id, raw_sha256=quoted[0])) is not None:
        quote = Quote(message_id=found, kind=quoted[1])
    drafts.write(
        tx,
        replace(request, thread_id=thread_id, quote=quote),
        draft_id=draft_id,
        owner_id=owner_id,
        attachments=request.attachments,
        version=1,
        answers=answers,
    )


def block(tx: Tx, *, owner_id: str | None, account_id: str | None, address: str, to: BlockedTo) -> None:
    blocks.put(tx, owner_id=owner_id, account_id=account_id, address=address, to=to)


def mute(tx: Tx, *, account_id: str, mail: str) -> None:
    thread_id = thread_of_mail(tx, account_id=account_id, raw_sha256=mail)
    if thread_id is not None:
        mutes.begin(tx, thread_id=thread_id, account_id=account_id)


def snooze(tx: Tx, *, account_id: str, mail: str, until: Millis) -> None:
    """Restore a snooze, if the thread is out of the inbox as it was at the export. If its time has passed, the thread
    comes back at once."""
    thread_id = thread_of_mail(tx, account_id=account_id, raw_sha256=mail)
    if thread_id is None or not _is_away(tx, thread_id):
        return
    snoozes.begin(tx, thread_id=thread_id, account_id=account_id, until=until)


def snippet(tx: Tx, *, owner_id: str | None, wanted: SnippetInput) -> None:
    snippets.bring_back(tx, owner_id=owner_id, wanted=replace(wanted, html=_clean(wanted.html)))


def signature(tx: Tx, *, account_id: str, html: str) -> None:
    drafts.put_signature(tx, account_id=account_id, html=_clean(html))


def trust(tx: Tx, *, owner_id: str | None, address: str) -> None:
    """Show the pictures in mail of that sender at once."""
    images.bring_back(tx, owner_id=owner_id, address=address)


def share(tx: Tx, *, account_id: str, user_id: str, access: SharedAccess) -> None:
    shares.put(tx, account_id=account_id, user_id=user_id, access=access)


def _clean(html: str) -> str:
    """HTML that may be shown and sent: anybody may have changed the archive. What no parser handles quickly becomes
    text."""
    return outgoing_html(html if plan(html) == "inline" else text_to_html(text_from_html(html))).html
