"""Decides which thread a message belongs to: the provider's thread, or else the one that its own headers name.

Theory: a message names itself by its Message-ID, and earlier messages by References and In-Reply-To (RFC 5322, 3.6.4).
Messages that share a name, directly or through others, are one thread. This is the grouping of RFC 5256's REFERENCES,
without its last step, which joins threads that only have the same subject. Each name is a row that points to its
thread. A reply that arrives before the answered message stores the names of both, so the order of arrival makes no
difference. A message that names two threads joins them. The older thread keeps its id.

If the provider has threads, a mail that was just sent from here may be stored before its thread has an id there.
Meanwhile its own headers name a thread. That thread is joined to the provider's when a message there refers to it.

Owns ``mail_references``, ``mail_joined_threads`` (which thread a joined thread's id leads to) and the creation of
threads. Features with rows about a thread update them when it is joined, in a step of the ingest transaction
(``StoredMessage.joined``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from svc.mail.model import Account, Incoming, thread_id_of
from svc.mail.threads import duplicates
from svc.mail.threads.duplicates import Duplicate
from svc.store import Tx, json_array


@dataclass(frozen=True, kw_only=True)
class Place:
    """The thread of a message. ``joined``: threads whose messages are in ``thread_id`` now; their rows exist until they
    are refreshed. ``duplicates``: threads of other accounts whose group has changed by that."""

    thread_id: str
    joined: tuple[str, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()


def place(tx: Tx, account: Account, message: Incoming) -> Place:
    """The thread of a message that is about to be stored; it is created if there is none yet."""
    names = _names_of(message)
    if message.provider_thread_id is not None:
        thread_id = _make(tx, account, provider_thread_id=message.provider_thread_id)
        return _joined(tx, thread_id, _unnamed_yet(tx, account, names, but=thread_id))
    known = _threads_named(tx, account, names)
    if not known:
        root = f"root:{names[0]}" if names else f"alone:{message.provider_message_id}"
        thread_id = _make(tx, account, provider_thread_id=root)
        _note_names(tx, account, names, thread_id=thread_id)
        return Place(thread_id=thread_id)
    place = _joined(tx, known[0], known[1:])
    _note_names(tx, account, names, thread_id=place.thread_id)
    return place


def rename(tx: Tx, account: Account, message: Incoming, *, thread_id: str) -> Place:
    """The thread of a message that is stored in ``thread_id`` and has another Message-ID now. A reply to that id may
    already be in another thread, which is joined."""
    names = _names_of(message)
    if message.provider_thread_id is not None:
        return Place(thread_id=thread_id)
    joined = [one for one in _threads_named(tx, account, names) if one != thread_id]
    _note_names(tx, account, names, thread_id=thread_id)
    return _joined(tx, thread_id, joined)


def _joined(tx: Tx, thread_id: str, joined: Sequence[str]) -> Place:
    changed: dict[str, Duplicate] = {}
    for gone in joined:
        changed |= {one.id: one for one in _join(tx, gone=gone, into=thread_id)}
    others = tuple(one for one in changed.values() if one.id not in joined)  # a group can hold several of an account
    return Place(thread_id=thread_id, joined=tuple(joined), duplicates=others)


def _names_of(message: Incoming) -> list[str]:
    """The Message-IDs that the message names: the oldest first, its own last."""
    headers = message.headers
    names = (*headers.references, headers.in_reply_to, message.message_id_header)
    return list(dict.fromkeys(name for name in names if name))


def _threads_named(tx: Tx, account: Account, names: Sequence[str]) -> list[str]:
    """The threads that these names point to, the oldest first."""
    rows = tx.all(
        """
        select t.id from mail_threads t where t.id in (
            select thread_id from mail_references
            where account_id = :account_id and message_id_header in (select value from json_each(:names))
        )
        order by (select min(stored_at) from mail_messages where thread_id = t.id), t.rowid
        """,
        account_id=account.id,
        names=json_array(names),
    )
    return [str(thread_id) for (thread_id,) in rows]


def _unnamed_yet(tx: Tx, account: Account, names: Sequence[str], *, but: str) -> list[str]:
    """The threads among them without an id of the provider: those of mail that was just sent from here."""
    rows = tx.all(
        """
        select distinct t.id from mail_references r join mail_threads t on t.id = r.thread_id
        where r.account_id = :account_id and r.message_id_header in (select value from json_each(:names))
            and t.id <> :but and substr(t.provider_thread_id, 1, 5) = 'root:'
        order by t.id
        """,
        account_id=account.id,
        names=json_array(names),
        but=but,
    )
    return [str(thread_id) for (thread_id,) in rows]


def _note_names(tx: Tx, account: Account, names: Sequence[str], *, thread_id: str) -> None:
    tx.run(
        """
        insert into mail_references (account_id, message_id_header, thread_id)
        select :account_id, value, :thread_id from json_each(:names) where true on conflict do nothing
        """,
        account_id=account.id,
        thread_id=thread_id,
        names=json_array(names),
    )


def _make(tx: Tx, account: Account, *, provider_thread_id: str) -> str:
    thread_id = thread_id_of(account.id, provider_thread_id)
    tx.run(
        """
        insert into mail_threads (id, account_id, provider_thread_id)
        values (:id, :account_id, :provider_thread_id) on conflict do nothing
        """,
        id=thread_id,
        account_id=account.id,
        provider_thread_id=provider_thread_id,
    )
    return thread_id


def _join(tx: Tx, *, gone: str, into: str) -> list[Duplicate]:
    tx.run("update mail_messages set thread_id = :into where thread_id = :gone", into=into, gone=gone)
    tx.run("update mail_references set thread_id = :into where thread_id = :gone", into=into, gone=gone)
    tx.run("update mail_joined_threads set became = :into where became = :gone", into=into, gone=gone)
    tx.run("insert into mail_joined_threads (thread_id, became) values (:gone, :into)", into=into, gone=gone)
    return duplicates.join(tx, gone=gone, into=into)
