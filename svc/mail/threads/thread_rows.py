"""Writes the columns of a thread that lists show. This is the only module that writes them.

After any change to a thread's messages call :func:`refresh_thread`. It reads the messages of that thread, rewrites its
row, changes the account's counters by the difference and emits the live update.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

from svc.mail import wire as mail_wire
from svc.mail.accounts import counters
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts.news import emit_account, viewers
from svc.mail.model import DEVICE_ID, DRAFT, Account, has_list
from svc.mail.threads import duplicates, filtered, snoozes
from svc.mail.threads import queries as thread_queries
from svc.mail.threads import wire as thread_wire
from svc.mail.threads.duplicates import Duplicate
from svc.mail.threads.filtered import Standing
from svc.mail.threads.own_words import columns
from svc.mail.threads.writers import writers_of
from svc.store import Row, Tx, json_array, texts_of

MAIL_TOPIC: Final = "mail"


def refresh_thread(tx: Tx, account: Account, thread_id: str, *, device_id: str) -> None:
    """Update a thread's row and its account's unread counter from its messages; delete the thread if it has none."""
    refresh_threads(tx, account, [thread_id], device_id=device_id)


def refresh_threads(tx: Tx, account: Account, thread_ids: Iterable[str], *, device_id: str) -> None:
    """The same for many threads: data that their rows share is read once."""
    there = [thread_id for thread_id in thread_ids if _refresh(tx, account, thread_id, device_id=device_id)]
    _emit_threads(tx, account, there, device_id=device_id)


def _refresh(tx: Tx, account: Account, thread_id: str, *, device_id: str) -> bool:
    """Update one thread without emitting its row. Returns whether the thread still exists."""
    before = tx.one(
        """
        select in_inbox > 0 and unread > 0, leads, twins, messages > 0, in_inbox, visible, unread, to_me, attachments,
            labels, last_message_at, last_sent_at, last_draft_at
        from mail_threads where id = :id
        """,
        id=thread_id,
    )
    on_badge, leads, group, was_told = before[:4] if before else (0, 1, None, True)
    stood = _standing(before[4:]) if before else _NOWHERE
    in_unified = on_badge and leads
    sums = tx.one(
        """
        select count(*), sum(in_inbox), sum(unread), sum(visible), sum(attachments), sum(to_me) from mail_messages
        where thread_id = :id
        """,
        id=thread_id,
    )
    if sums is None or sums[0] == 0:
        tx.run("delete from mail_threads where id = :id", id=thread_id)
        _relist(tx, account, thread_id, before=stood, after=_NOWHERE)
        counters.move_badge(tx, account_id=account.id, by=-on_badge, duplicates_by=-(on_badge - in_unified))
        if was_told:
            for audience, _ in viewers(tx, account):
                tx.emit(
                    topic=MAIL_TOPIC,
                    kind="thread.removed",
                    id=thread_id,
                    payload={"accountId": account.id},
                    audience=audience,
                    device_id=device_id,
                )
        return False
    _relist(tx, account, thread_id, before=stood, after=_rewrite(tx, thread_id, sums))
    in_inbox, unread, visible = sums[1:4]
    if in_inbox or not visible:  # it is in the inbox again, or has no visible message left
        snoozes.end(tx, thread_id=thread_id)
    leads_now, duplicates_now = duplicates.settle(tx, thread_id, leads=bool(leads), group=group)
    on_badge_now = int(in_inbox > 0 and unread > 0)
    in_unified_now = int(on_badge_now and leads_now)
    counters.move_badge(
        tx,
        account_id=account.id,
        by=on_badge_now - on_badge,
        duplicates_by=(on_badge_now - in_unified_now) - (on_badge - in_unified),
    )
    for duplicate in duplicates_now:
        _pass_lead(tx, duplicate, device_id=device_id)
    return True


def _pass_lead(tx: Tx, duplicate: Duplicate, *, device_id: str) -> None:
    """A thread of another account is the new leader in Unified, or no longer leads: adjust its counters and emit it."""
    account = account_queries.account(tx, duplicate.account_id)
    assert account is not None
    if duplicate.on_badge:
        counters.move_badge(tx, account_id=account.id, by=0, duplicates_by=-1 if duplicate.leads else 1)
    emit_thread(tx, account, duplicate.id, device_id=device_id)
    emit_account(tx, account.id, device_id=device_id)


def refresh_duplicates(tx: Tx, others: Iterable[Duplicate]) -> None:
    """Update threads of other accounts whose group of duplicates has changed."""
    for duplicate in others:
        account = account_queries.account(tx, duplicate.account_id)
        if account is not None:
            refresh_thread(tx, account, duplicate.id, device_id=DEVICE_ID)
            emit_account(tx, account.id, device_id=DEVICE_ID)


def emit_thread(tx: Tx, account: Account, thread_id: str, *, device_id: str) -> None:
    _emit_threads(tx, account, [thread_id], device_id=device_id)


def emit_details(tx: Tx, account: Account, thread_id: str, *, device_id: str) -> None:
    """Notify clients of a change that only the open thread shows."""
    for audience, _ in viewers(tx, account):
        tx.emit(
            topic=MAIL_TOPIC,
            kind="thread.details",
            id=thread_id,
            payload={"accountId": account.id},
            audience=audience,
            device_id=device_id,
        )


def _emit_threads(tx: Tx, account: Account, thread_ids: Iterable[str], *, device_id: str) -> None:
    rows = [row for thread_id in thread_ids if (row := thread_queries.thread(tx, thread_id)) is not None]
    for audience, viewer in viewers(tx, account):
        for summary in thread_wire.thread_summaries(tx, rows, viewer):
            tx.emit(
                topic=MAIL_TOPIC,
                kind="thread.changed",
                id=summary.id,
                payload={"accountId": account.id, "thread": mail_wire.to_builtins(summary)},
                audience=audience,
                device_id=device_id,
            )


def _standing(columns: Row) -> Standing:
    in_inbox, visible, unread, to_me, attachments, labels, at, sent_at, draft_at = columns
    return Standing(
        in_inbox=in_inbox > 0,
        visible=visible > 0,
        unread=unread > 0,
        to_me=to_me > 0,
        attachments=attachments > 0,
        labels=frozenset(texts_of(labels)),
        at=at,
        sent_at=sent_at,
        draft_at=draft_at,
    )


_NOWHERE: Final = _standing((0, 0, 0, 0, 0, "[]", 0, None, None))


def _rewrite(tx: Tx, thread_id: str, sums: Row) -> Standing:
    # A draft, spam or trashed message is shown only if the thread has nothing else. The sender shown is, if possible,
    # not the owner.
    newest = tx.one(
        """
        select sender_name, sender_address, subject, snippet, sent_at, own from mail_messages where thread_id = :id
        order by visible desc, sent_at desc, id desc limit 1
        """,
        id=thread_id,
    )
    assert newest is not None
    name, address, subject, snippet, sent_at, is_own = newest
    if is_own:
        ((name, address),) = tx.all(
            """
            select sender_name, sender_address from mail_messages where thread_id = :id
            order by visible desc, own, sent_at desc, id desc limit 1
            """,
            id=thread_id,
        )
    distinct = tx.all("select distinct labels from mail_messages where thread_id = :id", id=thread_id)
    labels = sorted({label for (encoded,) in distinct for label in texts_of(cast(str, encoded))})
    own = columns.own_words(tx, thread_id, labels=labels)
    tx.run(
        """
        update mail_threads set subject = :subject, snippet = :snippet, last_message_at = :at,
            sender_name = :sender_name, sender_address = :sender_address, messages = :messages, in_inbox = :in_inbox,
            unread = :unread, visible = :visible, attachments = :attachments, to_me = :to_me, labels = :labels,
            drafts = :drafts, sent = :sent, last_sent_at = :last_sent_at, draft = :draft,
            last_draft_at = :last_draft_at, writers = :writers
        where id = :id
        """,
        id=thread_id,
        subject=subject,
        snippet=snippet,
        at=sent_at,
        sender_name=name,
        sender_address=address,
        messages=sums[0],
        in_inbox=sums[1],
        unread=sums[2],
        visible=sums[3],
        attachments=sums[4],
        to_me=sums[5],
        labels=json_array(labels),
        drafts=_drafts_of(tx, thread_id) if DRAFT in labels else 0,
        writers=writers_of(tx, thread_id, messages=sums[0], visible=sums[3]),
        **own,
    )
    _, in_inbox, unread, visible, attachments, to_me = sums
    return _standing(
        (
            *(in_inbox, visible, unread, to_me, attachments),
            *(json_array(labels), sent_at, own["last_sent_at"], own["last_draft_at"]),
        )
    )


def _drafts_of(tx: Tx, thread_id: str) -> int:
    count: int = tx.value(
        """
        select count(*) from mail_messages m
        where thread_id = :id and exists (select 1 from json_each(m.labels) where value = :draft)
        """,
        id=thread_id,
        draft=DRAFT,
    )
    return count


def retell(tx: Tx, *, message_id: str, snippet: str) -> None:
    """Set a new preview line for a stored message, and update its thread's row."""
    if not tx.run(
        "update mail_messages set snippet = :snippet where id = :id and snippet <> :snippet",
        snippet=snippet,
        id=message_id,
    ):
        return
    tx.run(
        """
        update mail_threads set snippet = (
            select snippet from mail_messages where thread_id = mail_threads.id
            order by visible desc, sent_at desc, id desc limit 1
        )
        where id = (select thread_id from mail_messages where id = :id)
        """,
        id=message_id,
    )


def _relist(tx: Tx, account: Account, thread_id: str, *, before: Standing, after: Standing) -> None:
    """Update a thread's rows in the lists by label and by filter. Its old rows follow from the old columns, so that
    only the differences are written."""
    filtered.move(tx, account_id=account.id, thread_id=thread_id, before=before.places(), after=after.places())
    moved = before.at != after.at
    labels_before, labels_after = _listed_by(before), _listed_by(after)
    for label_id in sorted(labels_before if moved else labels_before - labels_after):
        tx.run(
            """
            delete from mail_thread_labels
            where account_id = :account_id and label_id = :label_id and last_message_at = :at and thread_id = :id
            """,
            account_id=account.id,
            label_id=label_id,
            at=before.at,
            id=thread_id,
        )
    for label_id in sorted(labels_after if moved else labels_after - labels_before):
        tx.run(
            """
            insert into mail_thread_labels (account_id, label_id, last_message_at, thread_id)
            values (:account_id, :label_id, :at, :id)
            """,
            account_id=account.id,
            label_id=label_id,
            at=after.at,
            id=thread_id,
        )


def _listed_by(standing: Standing) -> frozenset[str]:
    return frozenset(label_id for label_id in standing.labels if has_list(label_id))
