"""Muted threads: their new messages skip the inbox, and nobody is notified of them.

A message that is addressed only to the person still comes to the inbox (:func:`skips_inbox`): in a conversation of
many people, one of them writes to this person directly. Muting does not change spam and trash.
"""

from __future__ import annotations

from svc.mail.accounts import own_addresses
from svc.mail.model import Account, Incoming
from svc.store import ReadTx, Tx


def begin(tx: Tx, *, thread_id: str, account_id: str) -> None:
    tx.run(
        """
        insert into mail_mutes (thread_id, account_id, created_at) values (:thread_id, :account_id, :now)
        on conflict do nothing
        """,
        thread_id=thread_id,
        account_id=account_id,
        now=tx.now,
    )


def end(tx: Tx, *, thread_id: str) -> None:
    tx.run("delete from mail_mutes where thread_id = :id", id=thread_id)


def hand_over(tx: Tx, *, thread_id: str, to: str) -> None:
    """The thread was joined to ``to``, which is muted from then on, too."""
    tx.run("update or ignore mail_mutes set thread_id = :to where thread_id = :id", to=to, id=thread_id)
    end(tx, thread_id=thread_id)


def skips_inbox(tx: ReadTx, account: Account, message: Incoming, *, thread_id: str) -> bool:
    """Whether a message that has just arrived stays out of the inbox."""
    if not tx.value("select exists (select 1 from mail_mutes where thread_id = :id)", id=thread_id):
        return False
    headers = message.headers
    recipients = [one.address for one in (*headers.to, *headers.cc)]
    own = own_addresses.of_account(account)
    for_the_person_alone = bool(recipients) and all(own_addresses.is_one(one, own) for one in recipients)
    return not for_the_person_alone or headers.list_id is not None
