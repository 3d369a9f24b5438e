"""Makes, finds and drops proposed replies. Never sends one."""

from __future__ import annotations

from dataclasses import dataclass

from svc.ids import derived_id
from svc.mail.accounts.access import READABLE, who
from svc.mail.model import DRAFT, Account
from svc.mail.sync.steps import StoredMessage
from svc.mail.threads import thread_rows
from svc.principal import Principal
from svc.store import ReadTx, Tx, json_array, texts_of


@dataclass(frozen=True, kw_only=True)
class ProposedReply:
    """``to`` and ``cc`` are mailboxes, ready for sending; ``rule_id``: the page of the rule that drafted it."""

    id: str
    thread_id: str
    account_id: str
    message_id: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    html: str
    rule_id: str


_COLUMNS = "r.id, r.thread_id, r.account_id, r.message_id, r.to_addresses, r.cc_addresses, r.subject, r.html, r.rule_id"


def propose(
    tx: Tx,
    account: Account,
    *,
    thread_id: str,
    message_id: str,
    to: tuple[str, ...],
    cc: tuple[str, ...],
    subject: str,
    html: str,
    rule_id: str,
) -> bool:
    """Store a proposal. Returns whether it did: not where the thread has one, or ``message_id`` is not its newest
    message apart from drafts."""
    newest = tx.value(
        """
        select id from mail_messages where thread_id = :id and not exists (
            select 1 from json_each(labels) where value = :draft
        ) order by sent_at desc, id desc limit 1
        """,
        id=thread_id,
        draft=DRAFT,
    )
    if newest != message_id:
        return False
    made = tx.run(
        """
        insert into mail_proposed_replies (id, thread_id, account_id, message_id, to_addresses, cc_addresses, subject,
            html, rule_id, made_at)
        values (:id, :thread_id, :account_id, :message_id, :to, :cc, :subject, :html, :rule_id, :now)
        on conflict do nothing
        """,
        id=derived_id(
            "prp", message_id, rule_id, json_array(to), json_array(cc), subject, html
        ),  # a yes is for exactly this text
        thread_id=thread_id,
        account_id=account.id,
        message_id=message_id,
        to=json_array(to),
        cc=json_array(cc),
        subject=subject,
        html=html,
        rule_id=rule_id,
        now=tx.now,
    )
    if made:
        thread_rows.emit_details(tx, account, thread_id, device_id="system:rules")
    return bool(made)


def of_thread(tx: ReadTx, thread_id: str) -> ProposedReply | None:
    """The proposal of a thread. The caller checks who may read the thread."""
    row = tx.one(f"select {_COLUMNS} from mail_proposed_replies r where r.thread_id = :id", id=thread_id)
    return None if row is None else _reply(row)


def for_principal(tx: ReadTx, principal: Principal, *, proposal_id: str) -> ProposedReply | None:
    """A proposal by its id, in an account that the principal may read."""
    row = tx.one(
        f"""
        select {_COLUMNS} from mail_proposed_replies r where r.id = :id and r.account_id in {READABLE}
        """,
        id=proposal_id,
        **who(principal),
    )
    return None if row is None else _reply(row)


def drop(tx: Tx, account: Account, *, thread_id: str, device_id: str) -> None:
    """Delete the proposal of a thread, if it has one, and tell whoever has the thread open."""
    if _delete(tx, thread_id):
        thread_rows.emit_details(tx, account, thread_id, device_id=device_id)


def drop_answered(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step: drop the proposal of a thread to which mail came, or in which its owner has written. The news of
    the mail tells of it."""
    if stored.is_new and DRAFT not in stored.labels:
        _delete(tx, stored.thread_id)


def _delete(tx: Tx, thread_id: str) -> bool:
    return bool(tx.run("delete from mail_proposed_replies where thread_id = :id", id=thread_id))


def _reply(row: tuple[object, ...]) -> ProposedReply:
    return ProposedReply(
        id=str(row[0]),
        thread_id=str(row[1]),
        account_id=str(row[2]),
        message_id=str(row[3]),
        to=texts_of(str(row[4])),
        cc=texts_of(str(row[5])),
        subject=str(row[6]),
        html=str(row[7]),
        rule_id=str(row[8]),
    )
