"""The rows of the copies of drafts at the mail servers: which copies are due for an update, and when. Plain functions
over a transaction.

Theory: a row only says that a server may not have the current draft. When the row is due, the draft itself decides what
the server must have: a copy of the draft as it is then, or none. So an edit, a change of account, sending, discarding
and restoring are all handled the same way, in any order, even if one of the two servers crashes in between.

Only the drafts of an account's owner are copied: a member's drafts are private to them, and the mailbox is the owner's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast

from svc.clock import SECOND_MS, Millis
from svc.errors import Invalid
from svc.files import files_of
from svc.formats.text import clean_line
from svc.formats.writing import parse_mailboxes
from svc.ids import derived_id
from svc.mail.accounts import own_addresses
from svc.mail.accounts import queries as account_queries
from svc.mail.model import Account, MessageRow
from svc.mail.sending import queries
from svc.mail.sending.building import Letter
from svc.mail.sending.model import Draft, Quoted, draft_origin
from svc.mail.sending.quoting import snapshot
from svc.mail.threads import queries as thread_queries
from svc.store import ReadTx, Tx

REST_MS: Final = 5 * SECOND_MS
"""How long a draft must be unchanged before it is copied to its server."""
REST_A_MIB_MS: Final = 2 * SECOND_MS
"""Additional time per MiB of attachments, which are uploaded with every copy."""
SHOWN_AFTER: Final = 2
"""After this many failures in a row the draft shows the reason."""


@dataclass(frozen=True, kw_only=True)
class DraftCopy:
    """A due copy of a draft. ``originals``: the provider's ids of the messages of another program that the draft
    continues; the update deletes them."""

    draft_id: str
    account_id: str
    changes: int
    attempts: int
    originals: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Agenda:
    """The accounts with a due copy or find, and when the next one is due."""

    accounts: tuple[str, ...]
    next_at: Millis | None


def changed(tx: Tx, draft_id: str, *, account_id: str, owner_id: str | None) -> None:
    """The draft was changed, or belongs to another account now: its copy is due after a rest."""
    mib = sum(file.size for file in files_of(tx, origin=draft_origin(draft_id))) >> 20
    gone(tx, draft_id, but=account_id)
    tx.run(
        """
        insert into mail_draft_copies (draft_id, account_id, next_at, message_id_header)
        select :draft_id, id, :next_at, :name || '@' || substr(address, instr(address, '@') + 1) from mail_accounts
        where id = :account_id and owner_id is :owner_id
        on conflict do update set next_at = :next_at, changes = changes + 1, attempts = 0,
            message_id_header = coalesce(message_id_header, excluded.message_id_header)
        """,
        draft_id=draft_id,
        name=derived_id("mid", draft_id),
        account_id=account_id,
        owner_id=owner_id,
        next_at=tx.now + REST_MS + mib * REST_A_MIB_MS,
    )


def gone(tx: Tx, draft_id: str, *, but: str | None = None) -> None:
    """The draft must have no copy at the server of any account, except ``but``: the copies are due at once."""
    tx.run(
        """
        update mail_draft_copies set next_at = :now, changes = changes + 1, attempts = 0
        where draft_id = :draft_id and account_id is not :but
        """,
        draft_id=draft_id,
        but=but,
        now=tx.now,
    )


def agenda(tx: ReadTx) -> Agenda:
    """Counts both due copies and due finds (``elsewhere.py``)."""
    rows = tx.all(
        f"""
        select account_id from mail_draft_copies where {_WAITS} and next_at <= :now
        union select account_id from mail_draft_finds where {_WAITS} and next_at <= :now
        """,
        now=tx.now,
    )
    next_at = tx.value(
        f"""
        select min(at) from (
            select min(next_at) as at from mail_draft_copies where {_WAITS} and next_at > :now
            union all select min(next_at) from mail_draft_finds where {_WAITS} and next_at > :now
        )
        """,
        now=tx.now,
    )
    return Agenda(accounts=tuple(str(account_id) for (account_id,) in rows), next_at=cast("Millis | None", next_at))


def due_of(tx: ReadTx, account_id: str) -> DraftCopy | None:
    row = tx.one(
        f"""
        select draft_id, account_id, changes, attempts from mail_draft_copies
        where {_WAITS} and next_at <= :now and account_id = :account_id
        order by next_at, draft_id limit 1
        """,
        now=tx.now,
        account_id=account_id,
    )
    if row is None:
        return None
    draft_id, account_id, changes, attempts = row
    originals = tx.all(
        """
        select provider_message_id from mail_draft_originals where draft_id = :draft_id and account_id = :account_id
        order by provider_message_id
        """,
        draft_id=draft_id,
        account_id=account_id,
    )
    return DraftCopy(
        draft_id=str(draft_id),
        account_id=str(account_id),
        changes=cast(int, changes),
        attempts=cast(int, attempts),
        originals=tuple(str(one) for (one,) in originals),
    )


def letter_of(tx: ReadTx, copy: DraftCopy) -> Letter | None:
    """The copy that the server must have now; ``None`` for no copy."""
    draft = queries.draft(tx, copy.draft_id)
    account = account_queries.account(tx, copy.account_id)
    if draft is None or account is None or draft.account_id != account.id or draft.owner_id != account.owner_id:
        return None
    in_reply_to, references, _ = queries.place_of_reply(
        tx, account_id=account.id, thread_id=draft.thread_id, answers=draft.answers
    )
    return Letter(
        id=draft.id,
        account_id=account.id,
        owner_id=account.owner_id,
        from_address=_from_address(tx, account, draft),
        to=_readable(draft.to),
        cc=_readable(draft.cc),
        bcc=_readable(draft.bcc),
        subject=clean_line(draft.subject),
        html=draft.html,
        origin=draft_origin(draft.id),
        attachments=draft.attachments,
        quoted=_quoted(tx, draft),
        in_reply_to=in_reply_to,
        references=references,
        message_id_header=header_of(tx, copy.draft_id, account_id=copy.account_id)
        or f"{derived_id('mid', draft.id)}@{account.address.rpartition('@')[2]}",
    )


def thread_of(tx: ReadTx, copy: DraftCopy) -> str | None:
    """The provider's id of the thread for the copy, if the draft answers a thread of that account."""
    draft = queries.draft(tx, copy.draft_id)
    if draft is None or draft.thread_id is None:
        return None
    return queries.provider_thread_id(tx, thread_id=draft.thread_id, account_id=copy.account_id)


def header_of(tx: ReadTx, draft_id: str, *, account_id: str) -> str | None:
    """The Message-ID of the draft's copies: one of our own, or the one from the program that began the draft, which
    recognizes the draft by it."""
    return cast(
        "str | None",
        tx.value(
            "select message_id_header from mail_draft_copies where draft_id = :draft_id and account_id = :account_id",
            draft_id=draft_id,
            account_id=account_id,
        ),
    )


def _from_address(tx: ReadTx, account: Account, draft: Draft) -> str:
    """The draft's sender address, or the default if that is no longer an address of the account. The person is told
    when the mail is sent."""
    chosen = (draft.from_address or "").lower()
    return chosen if chosen in own_addresses.sendable(account) else own_addresses.default_of(tx, account)


def take(tx: Tx, draft_id: str, message: MessageRow, *, message_id_header: str | None) -> None:
    """Record that ``message`` is the draft's only copy at the server; the server is updated once the draft is changed
    here.

    The copies get ``message_id_header``, unless another draft of the account, one that stayed beside it, has it."""
    tx.run(
        """
        insert into mail_draft_copies (draft_id, account_id, message_id_header)
        values (:draft_id, :account_id, :message_id_header)
        on conflict do update set next_at = null, refused = null, elsewhere = null,
            message_id_header = case when exists (
                select 1 from mail_draft_copies o where o.account_id = :account_id and o.draft_id <> :draft_id
                    and o.message_id_header = :message_id_header
            ) then message_id_header else coalesce(:message_id_header, message_id_header) end
        """,
        draft_id=draft_id,
        account_id=message.account_id,
        message_id_header=message_id_header,
    )
    tx.run("delete from mail_draft_originals where draft_id = :draft_id", draft_id=draft_id)
    tx.run(
        """
        insert into mail_draft_originals (account_id, provider_message_id, message_id, draft_id)
        values (:account_id, :provider_message_id, :message_id, :draft_id)
        """,
        account_id=message.account_id,
        provider_message_id=message.provider_message_id,
        message_id=message.id,
        draft_id=draft_id,
    )


def taken(tx: ReadTx, message_id: str) -> str | None:
    """The id of the draft that continues this message of another program."""
    return cast(
        "str | None", tx.value("select draft_id from mail_draft_originals where message_id = :id", id=message_id)
    )


def settle(tx: Tx, copy: DraftCopy, *, there: bool, refused: str | None = None) -> None:
    """Record the result: the server has the copy, has none any more, or refuses it (``refused``). If the draft was
    changed since, its copy stays due."""
    if refused is None:
        _forget(tx, copy.account_id, copy.originals)
    same = "draft_id = :draft_id and account_id = :account_id and changes = :changes"
    tx.run(
        f"update mail_draft_copies set next_at = null, attempts = 0, refused = :refused, {_THERE} where {same}"
        if there
        else f"delete from mail_draft_copies where {same}",
        **_key(copy),
        **({"refused": refused} if there else {}),
    )


def _forget(tx: Tx, account_id: str, originals: Sequence[str]) -> None:
    for one in originals:
        tx.run(
            "delete from mail_draft_originals where account_id = :account_id and provider_message_id = :id",
            account_id=account_id,
            id=one,
        )


def put_off(tx: Tx, copy: DraftCopy, *, next_at: Millis, reason: str) -> None:
    """The update failed, or its result is not known: try again at ``next_at``. After ``SHOWN_AFTER`` failures the draft
    shows ``reason``."""
    tx.run(
        f"""
        update mail_draft_copies set next_at = :next_at, attempts = attempts + 1,
            refused = case when attempts + 1 >= {SHOWN_AFTER} then :reason else refused end
        where draft_id = :draft_id and account_id = :account_id and changes = :changes
        """,
        next_at=next_at,
        reason=reason,
        **_key(copy),
    )


_THERE: Final = "elsewhere = nullif(elsewhere, 'thrown')"

_WAITS: Final = """
    account_id in (select id from mail_accounts where state <> 'disconnected' and not erasing) and next_at is not null
"""


def _key(copy: DraftCopy) -> dict[str, str | int]:
    return {"draft_id": copy.draft_id, "account_id": copy.account_id, "changes": copy.changes}


def _quoted(tx: ReadTx, draft: Draft) -> Quoted | None:
    """The quoted original without its pictures: only the sent mail contains them."""
    message = None if draft.quote is None else thread_queries.message(tx, draft.quote.message_id)
    return None if draft.quote is None or message is None else snapshot(message, draft.quote, inline=())


def _readable(typed: Iterable[str]) -> tuple[str, ...]:
    """The recipients that can be written in a header. The others, for example half typed ones, stay only in the draft
    here."""
    return tuple(one for one in typed if _is_readable(one))


def _is_readable(typed: str) -> bool:
    try:
        parse_mailboxes([typed])
    except Invalid:
        return False
    return True
