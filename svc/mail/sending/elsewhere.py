"""Detects what other mail programs do with our drafts at a server: finds it when mail is stored, decides a moment
later.

Theory: another program that edits a draft stores a new message and removes the old one; one that sends it stores the
sent mail and removes the old one. The new message has the Message-ID of the draft, or our mark. Such a find is the
draft itself if three things hold: nothing was changed here since the server got its copy (``changes``), that copy is
not there any more, and the find still is. Then the draft here takes the text of the find, or ends. Otherwise both stay:
our draft, and theirs as a draft that can be continued here.

A program stores the new message before it removes the old one, so a find is checked several times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, cast

from svc.clock import SECOND_MS, Millis
from svc.errors import Conflict
from svc.mail.accounts import queries as account_queries
from svc.mail.model import DRAFT, SENT, TRASH, Account, MessageRow
from svc.mail.sending import draft_copies, drafts, queries
from svc.mail.sending.model import Draft
from svc.mail.sending.moving import move
from svc.mail.sync.steps import StoredMessage
from svc.mail.threads import queries as thread_queries
from svc.principal import system
from svc.store import ReadTx, Tx

Kind = Literal["edited", "sent", "thrown"]

LOOKS: Final = 4
LOOK_AGAIN_MS: Final = 15 * SECOND_MS
SENT_ELSEWHERE: Final = "This mail was sent from another program meanwhile."
SYSTEM: Final = system("mail-drafts")


@dataclass(frozen=True, kw_only=True)
class Found:
    """A message that another program made of a draft. ``changes``: the counter of the draft's copy when this was found.
    ``looks``: how many checks found the old copy still there."""

    account_id: str
    message_id: str
    draft_id: str
    kind: Kind
    changes: int
    looks: int


@dataclass(frozen=True, kw_only=True)
class Open:
    """A find that is still valid, with the account, the draft and the message that it concerns."""

    account: Account
    draft: Draft
    message: MessageRow


def follow_found(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step: record a find if a new message is an edited, sent or deleted version of a draft."""
    kind = _kind_of(stored.labels)
    message = stored.message
    header = message.original_message_id or message.message_id_header
    if not stored.is_new or kind is None or (header is None and message.outgoing_mark is None):
        return
    named = {"account_id": stored.account.id, "mark": message.outgoing_mark, "header": header}
    if kind == "sent":
        _hold_back(tx, named)
    tx.run(
        """
        insert into mail_draft_finds (account_id, message_id, draft_id, kind, changes, next_at)
        select account_id, :message_id, draft_id, :kind, changes, :now from mail_draft_copies
        where account_id = :account_id and (draft_id = :mark or message_id_header = :header)
        order by draft_id is :mark desc limit 1
        on conflict do nothing
        """,
        message_id=stored.message_id,
        kind=kind,
        now=tx.now,
        **named,
    )


def _kind_of(labels: frozenset[str]) -> Kind | None:
    if TRASH in labels:
        return "thrown"
    if DRAFT in labels:
        return "edited"
    return "sent" if SENT in labels else None


def _hold_back(tx: Tx, named: dict[str, str | None]) -> None:
    """Another program has sent the draft of a mail that waits here: cancel the mail, and make it a draft again."""
    rows = tx.all(
        """
        select id from mail_outgoing
        where account_id = :account_id and (draft_id = :mark or draft_header = :header) and not doubt
            and state in ('held', 'scheduled', 'overdue')
        """,
        **named,
    )
    for (outgoing_id,) in rows:
        row = queries.outgoing(tx, str(outgoing_id))
        assert row is not None
        draft_id = drafts.restore(tx, SYSTEM, row)
        _note(tx, draft_id, row.account_id, "sent")
        drafts.tell(tx, draft_id, device_id=SYSTEM.device_id)
        move(tx, row, "cancel", last_error=SENT_ELSEWHERE)


def check_sent(tx: ReadTx, draft_id: str) -> None:
    """Raises :class:`Conflict` while it is not decided whether another program has sent this draft."""
    if tx.value("select 1 from mail_draft_finds where draft_id = :id and kind = 'sent' limit 1", id=draft_id):
        raise Conflict("Another program has sent this draft just now. Look at it again in a minute.")


# What is due


def due_of(tx: ReadTx, account_id: str) -> Found | None:
    """The account's next due find. Sent mails come first, because sending ends the draft whatever was edited before;
    then the newest message, because that one is continued."""
    row = tx.one(
        """
        select f.account_id, f.message_id, f.draft_id, f.kind, f.changes, f.looks from mail_draft_finds f
        left join mail_messages m on m.id = f.message_id
        where f.account_id = :account_id and f.next_at <= :now
        order by f.kind = 'sent' desc, m.sent_at desc, f.message_id limit 1
        """,
        account_id=account_id,
        now=tx.now,
    )
    if row is None:
        return None
    return Found(
        account_id=str(row[0]),
        message_id=str(row[1]),
        draft_id=str(row[2]),
        kind=cast(Kind, row[3]),
        changes=cast(int, row[4]),
        looks=cast(int, row[5]),
    )


def opened(tx: ReadTx, found: Found) -> Open | None:
    """The find's account, draft and message. ``None`` if the find is not valid any more: the draft or the message is
    gone, has moved or changed its kind, or is continued as a draft already."""
    account = account_queries.account(tx, found.account_id)
    draft = queries.draft(tx, found.draft_id)
    message = thread_queries.message(tx, found.message_id)
    if account is None or message is None or draft is None:
        return None
    is_still = _kind_of(frozenset(message.labels)) == found.kind and draft_copies.taken(tx, message.id) is None
    is_the_owners = draft.account_id == account.id and draft.owner_id == account.owner_id
    return Open(account=account, draft=draft, message=message) if is_still and is_the_owners else None


def is_unchanged(tx: ReadTx, found: Found) -> bool:
    """Whether the server had the current copy of the draft at the time of the find, and nothing was changed here
    since."""
    row = tx.one(
        """
        select 1 from mail_draft_copies
        where draft_id = :draft_id and account_id = :account_id and changes = :changes and next_at is null
            and refused is null
        """,
        draft_id=found.draft_id,
        account_id=found.account_id,
        changes=found.changes,
    )
    return row is not None


def has_original(tx: ReadTx, found: Found) -> bool:
    """Whether another message that the draft continues is still among the account's drafts."""
    row = tx.one(
        """
        select 1 from mail_draft_originals o join mail_messages m on m.id = o.message_id
        where o.draft_id = :draft_id and o.account_id = :account_id and o.message_id <> :message_id
            and exists (select 1 from json_each(m.labels) where value = 'DRAFT')
        """,
        draft_id=found.draft_id,
        account_id=found.account_id,
        message_id=found.message_id,
    )
    return row is not None


# The outcome of a find


def look_again(tx: Tx, found: Found, *, next_at: Millis | None = None) -> None:
    """Check the find again later: the old copy is still there, or (with ``next_at``) the server could not be asked."""
    if next_at is None and found.looks + 1 >= LOOKS:
        leave(tx, found)
        return
    tx.run(
        """
        update mail_draft_finds set next_at = :next_at, looks = looks + :more
        where account_id = :account_id and message_id = :message_id
        """,
        next_at=tx.now + LOOK_AGAIN_MS if next_at is None else next_at,
        more=int(next_at is None),
        account_id=found.account_id,
        message_id=found.message_id,
    )


def leave(tx: Tx, found: Found) -> None:
    """Both stay. If the find was sent, the draft here gets a note: only its writer knows what to do with it."""
    if found.kind == "sent" and opened(tx, found) is not None:
        _note(tx, found.draft_id, found.account_id, "sent")
        drafts.tell(tx, found.draft_id, device_id=SYSTEM.device_id)
    settled(tx, found)


def end(tx: Tx, found: Found, draft: Draft) -> None:
    """A sent draft is deleted here, too. A draft that another program deleted stays here, with a note."""
    if found.kind == "sent":
        drafts.remove(tx, SYSTEM, draft)
    else:
        _note(tx, found.draft_id, found.account_id, "thrown")
        drafts.tell(tx, found.draft_id, device_id=SYSTEM.device_id)
    settled(tx, found)


def settled(tx: Tx, found: Found) -> None:
    tx.run(
        "delete from mail_draft_finds where account_id = :account_id and message_id = :message_id",
        account_id=found.account_id,
        message_id=found.message_id,
    )


def _note(tx: Tx, draft_id: str, account_id: str, elsewhere: Kind) -> None:
    tx.run(
        "update mail_draft_copies set elsewhere = :elsewhere where draft_id = :draft_id and account_id = :account_id",
        elsewhere=elsewhere,
        draft_id=draft_id,
        account_id=account_id,
    )
