"""The invariants of outgoing mail and drafts, checked by ``svc fsck``."""

from __future__ import annotations

from collections.abc import Iterable

from svc.mail.sending import queries
from svc.store import Invariant, ReadTx

_SHOWN = 20


def _dates(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        "select id from mail_outgoing where (state in ('scheduled', 'held')) <> (next_at is not null) limit :shown",
        shown=_SHOWN,
    )
    return [f"{outgoing_id} has a date that its state does not allow, or lacks one" for (outgoing_id,) in rows]


def _ends(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select id from mail_outgoing where (state = 'sent') <> (provider_message_id is not null)
            or (state in ('transmitting', 'uncertain') and raw_sha256 is null)
            or (doubt and state in ('failed', 'cancelled'))
        limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"{outgoing_id} says of itself what can't be known" for (outgoing_id,) in rows]


def _sent_once(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select account_id, provider_message_id from mail_outgoing where provider_message_id is not null
        group by account_id, provider_message_id having count(*) > 1 limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"message {message_id} of account {account_id} is two mails' copy" for account_id, message_id in rows]


def _owned_files(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select id from files
        where (origin like 'outgoing:%' and substr(origin, 10) not in (select id from mail_outgoing))
            or (origin like 'draft:%' and substr(origin, 7) not in (select id from mail_drafts)) limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"file {file_id} belongs to a mail that is not there" for (file_id,) in rows]


def _attachments(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select o.id from mail_outgoing o, json_each(o.attachments) a
        where o.state in ('scheduled', 'held', 'overdue', 'transmitting')
            and not exists (select 1 from files f where f.id = a.value and f.origin = 'outgoing:' || o.id)
        union all
        select d.id from mail_drafts d, json_each(d.attachments) a
        where not exists (select 1 from files f where f.id = a.value and f.origin = 'draft:' || d.id)
        limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"{mail_id} lacks a file that is attached to it" for (mail_id,) in rows]


INVARIANTS = (
    Invariant(name="an outgoing mail has a date exactly while it goes by itself", check=_dates),
    Invariant(name="an outgoing mail says only what is known", check=_ends),
    Invariant(name="a message is the copy of one outgoing mail", check=_sent_once),
    Invariant(name="a mail's files belong to a mail that is there", check=_owned_files),
    Invariant(name="a mail that is not sent yet has its attachments", check=_attachments),
    Invariant(name="an outgoing mail's bytes and quoted body are stored", check=queries.blobs, yields="blobs"),
)
