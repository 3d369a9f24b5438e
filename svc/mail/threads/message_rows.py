"""Writes the rows of single messages: insert, set labels, mark as seen by a full sync, delete.

The caller must update the message's thread afterwards (``thread_rows.refresh_thread``).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from svc.files import delete_files
from svc.mail.accounts import counters, own_addresses
from svc.mail.model import DRAFT, HIDDEN_LABELS, INBOX, UNREAD, Account, Incoming, is_own
from svc.mail.threads import duplicates, thread_rows
from svc.store import Tx, json_array


def insert(
    tx: Tx, account: Account, message: Incoming, *, message_id: str, thread_id: str, labels: frozenset[str]
) -> None:
    headers = message.headers
    to_me = own_addresses.names_one((*headers.to, *headers.cc), own_addresses.of_account(account))
    tx.run(
        """
        insert into mail_messages (
            id, account_id, thread_id, provider_message_id, message_id_header, sent_at, stored_at, sender_name,
            sender_address, subject, snippet, headers, labels, in_inbox, unread, visible, own, attachments,
            to_me, body_sha256, raw_sha256, raw_size, seen_sweep
        ) values (
            :id, :account_id, :thread_id, :provider_message_id, :message_id_header, :sent_at, :stored_at, :sender_name,
            :sender_address, :subject, :snippet, :headers, :labels, :in_inbox, :unread, :visible, :own, :attachments,
            :to_me, :body_sha256, :raw_sha256, :raw_size, :seen_sweep
        )
        """,
        id=message_id,
        account_id=account.id,
        thread_id=thread_id,
        provider_message_id=message.provider_message_id,
        message_id_header=message.message_id_header,
        sent_at=message.sent_at,
        stored_at=tx.now,
        sender_name=message.sender.name,
        sender_address=message.sender.address,
        subject=message.subject,
        snippet=message.snippet,
        headers=msgspec.json.encode(message.headers).decode(),
        labels=_encoded(labels),
        attachments=sum(not one.inline for one in message.headers.attachments),
        to_me=int(to_me),
        body_sha256=message.body_sha256,
        raw_sha256=message.raw_sha256,
        raw_size=message.raw_size,
        seen_sweep=account.full_sync_no,
        **_flags_of(labels),
    )


def write_labels(tx: Tx, account: Account, *, message_id: str, labels: frozenset[str]) -> None:
    """Set one message's labels and the flags that follow from them."""
    tx.run(
        """
        update mail_messages set labels = :labels, in_inbox = :in_inbox, unread = :unread, visible = :visible,
            own = :own
        where id = :id and account_id = :account_id
        """,
        id=message_id,
        account_id=account.id,
        labels=_encoded(labels),
        **_flags_of(labels),
    )


def note_name(tx: Tx, message: Incoming, *, message_id: str) -> bool:
    """Add the Message-ID that a stored message has now to its references, if it differs from the one that it was stored
    with. Returns whether it differs."""
    names = (*message.headers.references, message.message_id_header)
    return (
        tx.run(
            """
            update mail_messages set headers = json_set(headers, '$.references', json(:names))
            where id = :id and message_id_header is not :name
            """,
            id=message_id,
            name=message.message_id_header,
            names=json_array(dict.fromkeys(one for one in names if one is not None)),
        )
        > 0
    )


def mark_seen(tx: Tx, account: Account, *, provider_message_ids: Sequence[str]) -> None:
    """Note that the account's running full sync has seen these messages."""
    tx.run(
        """
        update mail_messages set seen_sweep = :sweep
        where account_id = :id and provider_message_id in (select value from json_each(:seen))
        """,
        sweep=account.full_sync_no,
        id=account.id,
        seen=json_array(provider_message_ids),
    )


def delete(tx: Tx, account: Account, *, message_id: str, thread_id: str) -> None:
    """Delete one message with its files; its blobs stay until nothing refers to them."""
    delete_files(tx, origin=f"mail:{message_id}")
    gone = tx.run("delete from mail_messages where id = :id", id=message_id)
    counters.add_messages(tx, account_id=account.id, by=-gone)
    thread_rows.refresh_duplicates(tx, duplicates.unlink(tx, thread_id=thread_id))


def _flags_of(labels: frozenset[str]) -> dict[str, int]:
    hidden = bool(labels & HIDDEN_LABELS)
    return {
        "in_inbox": int(INBOX in labels and DRAFT not in labels),  # a draft is not sent, so it was not received
        "unread": int(UNREAD in labels and not hidden),
        "visible": int(not hidden),
        "own": int(is_own(labels)),
    }


def _encoded(labels: frozenset[str]) -> str:
    """The labels as the column stores them."""
    return json_array(sorted(labels))
