"""The statements that read outgoing mail, drafts and signatures. Reads for a person check ownership in ``where``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from svc.clock import Millis
from svc.formats.writing import references_of
from svc.formats.writing.headers import usable_id
from svc.mail.accounts import own_addresses
from svc.mail.accounts.access import ACTABLE, who
from svc.mail.sending.model import (
    KEEP_ENDED_MS,
    LONGEST_RETRY_MS,
    MAX_LATE_MS,
    MAX_LISTED,
    SHOW_ENDED_MS,
    Answers,
    Draft,
    Outgoing,
    Quote,
    Quoted,
)
from svc.mail.sending.states import OutgoingState
from svc.mail.threads.queries import decode_headers
from svc.principal import Principal
from svc.store import ReadTx, Row, Value, texts_of

_OUTGOING: Final = """
    id, owner_id, device_id, account_id, from_address, to_addresses, cc_addresses, bcc_addresses, subject, html,
    attachments, thread_id, quoted, in_reply_to, reference_ids, provider_thread_id, draft_id, restored_draft_id,
    message_id_header, state, doubt, version, send_at, next_at, attempts, last_error, message_id, created_at,
    dismissed_at is not null, sent_by, (select coalesce(nullif(name, ''), email) from users where users.id = sent_by)
"""
_DRAFT: Final = """
    id, owner_id, account_id, to_addresses, cc_addresses, bcc_addresses, subject, html, snippet, attachments, thread_id,
    quote, version, updated_at, from_address, in_reply_to, reference_ids,
    (
        select refused from mail_draft_copies c
        where c.draft_id = mail_drafts.id and c.account_id = mail_drafts.account_id
    ),
    exists (
        select 1 from mail_draft_originals o where o.draft_id = mail_drafts.id and o.message_id not in (
            select m.id from mail_messages m, json_each(m.labels) l where m.id = o.message_id and l.value = 'DRAFT'
        )
    ),
    coalesce(thread_id, (
        select m.thread_id from mail_messages m where m.id = json_extract(mail_drafts.quote, '$.messageId')
    )),
    (
        select elsewhere from mail_draft_copies c
        where c.draft_id = mail_drafts.id and c.account_id = mail_drafts.account_id
    )
"""
_MAY_SEE: Final = "(:everything or owner_id is :user_id)"
_MAY_SEE_OUTGOING: Final = f"({_MAY_SEE} or (sent_by = :user_id and account_id in {ACTABLE}))"
"""The account's owner sees all mail that leaves from it. A member sees what they have sent, as long as they may act in
the account."""

_MAY_SEE_DRAFT: Final = f"({_MAY_SEE} and account_id in {ACTABLE})"
"""A draft is visible to its writer, as long as the writer may act in its account."""

_UNTOUCHED: Final = """
    select o.draft_id from mail_draft_originals o
    join mail_draft_copies c on c.draft_id = o.draft_id and c.account_id = o.account_id and c.next_at is null
    join mail_messages m on m.id = o.message_id
    where c.refused is null and exists (select 1 from json_each(m.labels) where value = 'DRAFT')
"""
"""Drafts of other mail programs that were opened here and not changed since."""

_decode_quote: Final = msgspec.json.Decoder(Quote).decode
_decode_quoted: Final = msgspec.json.Decoder(Quoted).decode


# Outgoing mail


def outgoing(tx: ReadTx, outgoing_id: str) -> Outgoing | None:
    """For the service's own loops: without a check of permissions."""
    row = tx.one(f"select {_OUTGOING} from mail_outgoing where id = :id", id=outgoing_id)
    return None if row is None else _outgoing(row)


def outgoing_for(tx: ReadTx, principal: Principal, *, outgoing_id: str) -> Outgoing | None:
    row = tx.one(
        f"select {_OUTGOING} from mail_outgoing where id = :id and {_MAY_SEE_OUTGOING}",
        id=outgoing_id,
        **who(principal),
    )
    return None if row is None else _outgoing(row)


def sender_of(tx: ReadTx, row: Outgoing) -> str | None:
    """The person to notify besides the account's owner: the person who sent the mail, while they may act in the
    account. Otherwise the owner."""
    if row.sent_by is None or row.sent_by == row.owner_id:
        return row.owner_id
    may = tx.value(
        "select 1 from mail_shares where account_id = :id and user_id = :user_id and access = 'act'",
        id=row.account_id,
        user_id=row.sent_by,
    )
    return row.sent_by if may else row.owner_id


def outgoing_of_draft(tx: ReadTx, principal: Principal, *, draft_id: str) -> Outgoing | None:
    row = tx.one(
        f"select {_OUTGOING} from mail_outgoing where draft_id = :id and {_MAY_SEE_OUTGOING}",
        id=draft_id,
        **who(principal),
    )
    return None if row is None else _outgoing(row)


def listed(tx: ReadTx, principal: Principal) -> list[Outgoing]:
    """The outgoing mail that is shown to a person, newest first. Sent and cancelled mails are shown for a day."""
    owned = "" if principal.sees_everything else f"and {_MAY_SEE_OUTGOING}"
    params: dict[str, Value] = {} if principal.sees_everything else who(principal)
    rows = tx.all(
        f"""
        select {_OUTGOING} from mail_outgoing
        where dismissed_at is null and (state not in ('sent', 'cancelled') or changed_at > :since) {owned}
        order by created_at desc, id desc limit :limit
        """,
        since=tx.now - SHOW_ENDED_MS,
        limit=MAX_LISTED,
        **params,
    )
    return [_outgoing(row) for row in rows]


def waiting_of_account(tx: ReadTx, account_id: str) -> list[Outgoing]:
    """The account's mails that have not left yet and are meant to."""
    rows = tx.all(
        f"""
        select {_OUTGOING} from mail_outgoing
        where account_id = :id and state in ('scheduled', 'held', 'overdue') order by created_at, id
        """,
        id=account_id,
    )
    return [_outgoing(row) for row in rows]


def due_accounts(tx: ReadTx) -> list[str]:
    """Accounts with something to send now."""
    rows = tx.all("select distinct account_id from mail_outgoing where next_at <= :now", now=tx.now)
    return [cast(str, account_id) for (account_id,) in rows]


def due_of(tx: ReadTx, account_id: str) -> Outgoing | None:
    """The account's next mail to send now: the one that is due for the longest time."""
    row = tx.one(
        f"""
        select {_OUTGOING} from mail_outgoing
        where next_at <= :now and next_at >= :too_late and account_id = :id
            and account_id in (select id from mail_accounts where state <> 'disconnected')
        order by next_at, rowid limit 1
        """,
        now=tx.now,
        too_late=tx.now - MAX_LATE_MS,
        id=account_id,
    )
    return None if row is None else _outgoing(row)


def next_due_at(tx: ReadTx) -> Millis | None:
    """When the next mail becomes due."""
    return cast("Millis | None", tx.value("select min(next_at) from mail_outgoing where next_at > :now", now=tx.now))


def orphans(tx: ReadTx) -> list[str]:
    """Accounts that are gone or disconnected and still have mail that waits to be sent."""
    rows = tx.all(
        """
        select distinct account_id from mail_outgoing
        where next_at is not null and account_id not in (select id from mail_accounts where state <> 'disconnected')
        """
    )
    return [cast(str, account_id) for (account_id,) in rows]


def transmitting(tx: ReadTx) -> list[Outgoing]:
    rows = tx.all(f"select {_OUTGOING} from mail_outgoing where state = 'transmitting' order by changed_at, id")
    return [_outgoing(row) for row in rows]


def late(tx: ReadTx) -> list[Outgoing]:
    """Mails that are more than 12 hours late (``MAX_LATE_MS``), so that nobody expects them any more."""
    rows = tx.all(
        f"select {_OUTGOING} from mail_outgoing where next_at < :too_late order by next_at, id",
        too_late=tx.now - MAX_LATE_MS,
    )
    return [_outgoing(row) for row in rows]


def not_late_after_all(tx: ReadTx) -> list[Outgoing]:
    """Mails marked as late by a clock that has jumped back since: they are due later, or became due just now."""
    rows = tx.all(
        f"""
        select {_OUTGOING} from mail_outgoing
        where state = 'overdue' and not doubt and (
            send_at > :now or (changed_at > :now and coalesce(send_at, created_at) >= :too_late)
        )
        order by id
        """,
        now=tx.now,
        too_late=tx.now - MAX_LATE_MS,
    )
    return [_outgoing(row) for row in rows]


def far_away(tx: ReadTx, *, hold_ms: int) -> list[Outgoing]:
    """Undo pauses and retries whose date is later than any that is ever set: the clock has jumped back."""
    rows = tx.all(
        f"""
        select {_OUTGOING} from mail_outgoing
        where (state = 'held' and next_at > :held) or (state = 'scheduled' and attempts > 0 and next_at > :retried)
        order by id
        """,
        held=tx.now + hold_ms,
        retried=tx.now + LONGEST_RETRY_MS,
    )
    return [_outgoing(row) for row in rows]


def forgettable(tx: ReadTx) -> list[str]:
    """The ids of mails that were sent, cancelled or dismissed more than 30 days ago (``KEEP_ENDED_MS``)."""
    rows = tx.all(
        """
        select id from mail_outgoing
        where state in ('sent', 'cancelled', 'failed', 'uncertain') and changed_at < :old
            and (state in ('sent', 'cancelled') or dismissed_at is not null)
        limit 500
        """,
        old=tx.now - KEEP_ENDED_MS,
    )
    return [cast(str, outgoing_id) for (outgoing_id,) in rows]


def named_by(tx: ReadTx, *, account_id: str, message_id_header: str | None, mark: str | None) -> Outgoing | None:
    """The outgoing mail that a message in the account's sent mail is a copy of, by its Message-ID or our mark."""
    row = tx.one(
        f"""
        select {_OUTGOING} from mail_outgoing
        where account_id = :account_id and (message_id_header = :header or id = :mark)
        order by message_id_header = :header desc limit 1
        """,
        account_id=account_id,
        header=message_id_header,
        mark=mark,
    )
    return None if row is None else _outgoing(row)


# What a reply answers


@dataclass(frozen=True, kw_only=True)
class Parent:
    message_id_header: str | None
    references: tuple[str, ...]


def last_message_of(tx: ReadTx, thread_id: str) -> Parent | None:
    """The thread's newest message by date, without drafts."""
    row = tx.one(
        """
        select message_id_header, headers from mail_messages
        where thread_id = :id and not exists (select 1 from json_each(labels) where value = 'DRAFT')
        order by sent_at desc, id desc limit 1
        """,
        id=thread_id,
    )
    if row is None:
        return None
    headers = decode_headers(cast(str, row[1]))
    references = headers.references or ((headers.in_reply_to,) if headers.in_reply_to else ())
    return Parent(message_id_header=cast("str | None", row[0]), references=references)


def provider_thread_id(tx: ReadTx, *, thread_id: str, account_id: str) -> str | None:
    """The provider's id of the thread; ``None`` when the thread belongs to another account."""
    return cast(
        "str | None",
        tx.value(
            "select provider_thread_id from mail_threads where id = :id and account_id = :account_id",
            id=thread_id,
            account_id=account_id,
        ),
    )


def place_of_reply(
    tx: ReadTx, *, account_id: str, thread_id: str | None, answers: Answers | None = None
) -> tuple[str | None, tuple[str, ...], str | None]:
    """In-Reply-To, References and the provider's thread id of a reply to ``thread_id``, or those in ``answers``.

    A reply from another account has the same headers but no thread id: that account's mailbox does not have the thread.
    """
    if answers is not None:
        known = None if thread_id is None else provider_thread_id(tx, thread_id=thread_id, account_id=account_id)
        return answers.in_reply_to, answers.references, known
    if thread_id is None:
        return None, (), None
    parent = last_message_of(tx, thread_id)
    in_reply_to = parent.message_id_header if parent and usable_id(parent.message_id_header or "") else None
    references = references_of(parent.references, parent=in_reply_to) if parent else ()
    return in_reply_to, references, provider_thread_id(tx, thread_id=thread_id, account_id=account_id)


# Drafts and signatures


def drafts(tx: ReadTx, principal: Principal) -> list[Draft]:
    """The caller's drafts, newest first. One of another program that is not changed here is left out: the mailbox's
    messages show it."""
    rows = tx.all(
        f"""
        select {_DRAFT} from mail_drafts where {_MAY_SEE_DRAFT} and id not in ({_UNTOUCHED})
        order by updated_at desc, id desc limit :limit
        """,
        limit=MAX_LISTED,
        **who(principal),
    )
    return [_draft(row) for row in rows]


def draft_count(tx: ReadTx, principal: Principal) -> int:
    """How many drafts a person has, without those of other programs that were only opened here."""
    return cast(
        int,
        tx.value(
            f"select count(*) from mail_drafts where {_MAY_SEE} and id not in ({_UNTOUCHED})",
            **who(principal),
        ),
    )


def draft(tx: ReadTx, draft_id: str) -> Draft | None:
    """For code that has just written the draft: without a check of permissions."""
    row = tx.one(f"select {_DRAFT} from mail_drafts where id = :id", id=draft_id)
    return None if row is None else _draft(row)


def draft_for(tx: ReadTx, principal: Principal, *, draft_id: str) -> Draft | None:
    row = tx.one(f"select {_DRAFT} from mail_drafts where id = :id and {_MAY_SEE_DRAFT}", id=draft_id, **who(principal))
    return None if row is None else _draft(row)


def signature(tx: ReadTx, account_id: str) -> str:
    """The account's signature as sanitized HTML; empty when it has none."""
    return cast(str, tx.value("select html from mail_signatures where account_id = :id", id=account_id) or "")


def sender_name_of(tx: ReadTx, *, account_id: str, owner_id: str | None, address: str) -> str:
    """The sender name of mail from this address: the address's own name, else the account's, else, where none was ever
    set, its owner's. Empty for none."""
    name = own_addresses.name_of(tx, account_id=account_id, address=address)
    if name:
        return name
    own = tx.value("select sender_name from mail_accounts where id = :id", id=account_id)
    if own is not None:
        return cast(str, own)
    return cast(str, tx.value("select name from users where id = :id", id=owner_id) or "")


def addresses_of(tx: ReadTx, principal: Principal) -> frozenset[str]:
    """The addresses of all the caller's accounts, with their aliases. Includes accounts that are disconnected."""
    rows = tx.all(
        f"""
        select address from mail_accounts where {_MAY_SEE}
        union all select address from mail_own_addresses
        where confirmed and account_id in (select id from mail_accounts where {_MAY_SEE})
        """,
        **who(principal),
    )
    return frozenset(cast(str, address) for (address,) in rows)


# What must always hold


def blobs(tx: ReadTx) -> Iterable[str]:
    """The blobs that outgoing mail refers to besides its files: the bytes of the last attempt, and the quoted body."""
    for raw, quoted in tx.each("select raw_sha256, json_extract(quoted, '$.bodySha256') from mail_outgoing"):
        yield from (cast(str, sha256) for sha256 in (raw, quoted) if sha256 is not None)


# Rows to records


def _outgoing(row: Row) -> Outgoing:
    return Outgoing(
        id=cast(str, row[0]),
        owner_id=cast("str | None", row[1]),
        device_id=cast(str, row[2]),
        account_id=cast(str, row[3]),
        from_address=cast(str, row[4]),
        to=texts_of(cast(str, row[5])),
        cc=texts_of(cast(str, row[6])),
        bcc=texts_of(cast(str, row[7])),
        subject=cast(str, row[8]),
        html=cast(str, row[9]),
        attachments=texts_of(cast(str, row[10])),
        thread_id=cast("str | None", row[11]),
        quoted=None if row[12] is None else _decode_quoted(cast(str, row[12])),
        in_reply_to=cast("str | None", row[13]),
        references=texts_of(cast(str, row[14])),
        provider_thread_id=cast("str | None", row[15]),
        draft_id=cast("str | None", row[16]),
        restored_draft_id=cast("str | None", row[17]),
        message_id_header=cast(str, row[18]),
        state=cast(OutgoingState, row[19]),
        doubt=bool(row[20]),
        version=cast(int, row[21]),
        send_at=cast("Millis | None", row[22]),
        next_at=cast("Millis | None", row[23]),
        attempts=cast(int, row[24]),
        last_error=cast("str | None", row[25]),
        message_id=cast("str | None", row[26]),
        created_at=cast(Millis, row[27]),
        dismissed=bool(row[28]),
        sent_by=cast("str | None", row[29]),
        sent_by_name=cast("str | None", row[30]),
    )


def _draft(row: Row) -> Draft:
    return Draft(
        id=cast(str, row[0]),
        owner_id=cast("str | None", row[1]),
        account_id=cast(str, row[2]),
        to=texts_of(cast(str, row[3])),
        cc=texts_of(cast(str, row[4])),
        bcc=texts_of(cast(str, row[5])),
        subject=cast(str, row[6]),
        html=cast(str, row[7]),
        snippet=cast(str, row[8]),
        attachments=texts_of(cast(str, row[9])),
        thread_id=cast("str | None", row[10]),
        quote=None if row[11] is None else _decode_quote(cast(str, row[11])),
        version=cast(int, row[12]),
        updated_at=cast(Millis, row[13]),
        from_address=cast("str | None", row[14]),
        answers=None
        if row[16] is None
        else Answers(in_reply_to=cast("str | None", row[15]), references=texts_of(cast(str, row[16]))),
        notes=tuple(_notes(refused=cast("str | None", row[17]), is_gone=bool(row[18]), elsewhere=row[20])),
        about_thread_id=cast("str | None", row[19]),
    )


def _notes(*, refused: str | None, is_gone: bool, elsewhere: Value) -> Iterable[str]:
    if refused is not None:
        yield f"Not copied to the mailbox: {refused}"
    if elsewhere == "sent":
        yield "Another program has sent this draft. What you see is kept here, and is not sent again by itself."
    elif elsewhere == "thrown":
        yield "Another program has deleted this draft. It is kept here, and copied there again once you change it."
    elif is_gone:
        yield "Another program has sent or deleted this draft, or changed it. What you see is kept here."
