"""The writes of the indexer: add and remove words. Plain functions over a transaction; each step may be repeated.

The only module that writes the full-text table. A row must be removed with exactly the words that were put in, which is
why they are stored beside it; with other words the table would keep entries of deleted rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from svc.clock import Millis
from svc.erase import Left
from svc.formats.words.entries import Entries
from svc.mail.search import queries
from svc.mail.search.model import COLUMNS, NAMED, Column
from svc.mail.search.plan import IDS_A_SECOND, account_word, id_floor
from svc.mail.search.version import VERSION
from svc.mail.search.vocabulary import Changes, entries_of, forget_account, forget_all
from svc.mail.threads.thread_rows import retell
from svc.store import Tx, json_array, records

CONSUMER_NAME: Final = "mail-search"
"""The consumer's name. All messages before its cursor are in the queue, or were."""
QUEUED_AT_A_TIME: Final = 2_000
LOOKED_AT_A_BATCH: Final = 5_000
LARGEST_STEP_S: Final = 2**20
PAGES_AT_A_TIME: Final = 200
MERGED_SOMETHING: Final = 2
"""If ``total_changes()`` grows by less than this during a merge, there was nothing to merge."""

_WORDS: Final = ", ".join(("account", *COLUMNS))


@dataclass(frozen=True, kw_only=True)
class Words:
    """A message's words, ready for the index. ``number``: of the message in the queue when they were extracted."""

    number: int
    message_id: str
    columns: Mapping[Column, str]
    snippet: str | None = None
    """The preview line as this version makes it; ``None`` if it needs no update, or the body is lost."""


def queue(tx: Tx, *, message_ids: Sequence[str]) -> None:
    """Queue these messages to be indexed, or indexed again. Ids of deleted messages are ignored. One that waits already
    gets a new number, since its words may be on their way into the index."""
    tx.run_many(
        """
        insert or replace into mail_search_queue (message_id, account_id)
        select id, account_id from mail_messages where id = :id
        """,
        [{"id": message_id} for message_id in message_ids],
    )


def take(tx: Tx, *, messages: Sequence[tuple[Words, Entries]]) -> None:
    """Add these messages to the index, or replace their words, and remove them from the queue. With each come the
    entries that it adds to the vocabulary."""
    ids = json_array([message.message_id for message, _ in messages])
    places = _places(tx, ids)
    entry = queries.state(tx).entries
    changes = Changes()
    row_ids = []
    for message, entries in messages:
        place = places.get(message.message_id)
        if place is None:
            continue
        entry += 1
        row_ids.append(_put(tx, place, message, entry=entry, changes=changes))
        changes.add(account_word(place.account_id), entries)
        if message.snippet is not None:
            retell(tx, message_id=message.message_id, snippet=message.snippet)
    numbers = json_array([message.number for message, _ in messages])
    tx.run("delete from mail_search_queue where number in (select value from json_each(:numbers))", numbers=numbers)
    # The full-text rows are written last, together: that is faster by a quarter.
    tx.run(
        f"""
        insert into mail_search_fts (rowid, {_WORDS}) select id, {_WORDS} from mail_search_words
        where id in (select value from json_each(:ids)) order by id
        """,
        ids=json_array(row_ids),
    )
    changes.write(tx)
    tx.run("update mail_search_state set entries = :entry where one = 1", entry=entry)


def erase(tx: Tx, *, account_id: str) -> Left:
    """Remove one batch of an account's messages from the index. At the end the full-text table is marked for
    compaction, because only that really deletes their words."""

    def some(after: int) -> int | None:
        until: int | None = tx.value(
            "select max(id) from (select id from mail_search where id > :after order by id limit :limit)",
            after=after,
            limit=LOOKED_AT_A_BATCH,
        )
        if until is not None:
            tx.run(
                "delete from mail_search where id > :after and id <= :until and account_id = :account_id",
                after=after,
                until=until,
                account_id=account_id,
            )
        return until

    tx.run("delete from mail_search_queue where account_id = :id", id=account_id)
    if records.walk(tx, key=f"mail-erasing-search:{account_id}", step=some):
        return "more"
    if forget_account(tx, account_word(account_id)):
        return "more"
    tx.run("update mail_search_state set erased = erased + 1 where one = 1")
    return "nothing"


def clear(tx: Tx, *, limit: int) -> int:
    """Remove the words of deleted messages. Returns how many messages were cleared."""
    gone = tx.all("select id from mail_search_gone limit :limit", limit=limit)
    changes = Changes()
    for (row_id,) in gone:
        _forget(tx, cast(int, row_id), changes)
        tx.run("delete from mail_search_gone where id = :id", id=row_id)
    changes.write(tx)
    tx.run("update mail_search_state set cleared = cleared + :gone where one = 1", gone=len(gone))
    return len(gone)


def compact(tx: Tx) -> None:
    """One step of merging the full-text table into one segment: only a merge really deletes the words of cleared rows.

    So an erased account leaves no words in the table, even if it had only a few messages.
    """
    compacting = queries.state(tx).compacting
    changes = tx.value("select total_changes()")
    pages = PAGES_AT_A_TIME if compacting else -PAGES_AT_A_TIME  # negative: FTS5 puts all segments on one level first
    tx.run("insert into mail_search_fts (mail_search_fts, rank) values ('merge', :pages)", pages=pages)
    done = compacting and tx.value("select total_changes()") - changes < MERGED_SOMETHING
    tx.run(
        """
        update mail_search_state set compacting = :more,
            cleared = iif(compacting, cleared, 0), erased = iif(compacting, erased, 0) where one = 1
        """,
        more=int(not done),
    )


def queue_outdated(tx: Tx) -> bool:
    """Queue the next batch of messages that another :data:`VERSION` indexed. ``False`` once there are none left."""
    state = queries.state(tx)
    if state.version == VERSION:
        return False
    if not state.queued_up_to:
        forget_all(tx)
    rows = tx.all(
        "select id, account_id from mail_messages where id > :after order by id limit :limit",
        after=state.queued_up_to,
        limit=QUEUED_AT_A_TIME,
    )
    tx.run_many(
        """
        insert into mail_search_queue (message_id, account_id) select :id, :account_id
        where not exists (select 1 from mail_search where message_id = :id and version = :version)
        on conflict do nothing
        """,
        [{"id": message_id, "account_id": account_id, "version": VERSION} for message_id, account_id in rows],
    )
    done = len(rows) < QUEUED_AT_A_TIME
    tx.run(
        "update mail_search_state set version = iif(:done, :version, version), queued_up_to = :last where one = 1",
        done=int(done),
        version=VERSION,
        last="" if done else str(rows[-1][0]),
    )
    return True


def outdate(tx: Tx) -> None:
    """Mark all messages as outdated, so that all are indexed again."""
    tx.run("update mail_search set version = 0")
    tx.run("update mail_search_named set counted = 0")
    forget_all(tx)
    tx.run("update mail_search_state set version = 0, queued_up_to = '' where one = 1")


@dataclass(frozen=True, kw_only=True)
class _Place:
    id: int | None
    """The id in the index; ``None`` for a new message."""
    account_id: str
    thread_id: str
    labels: str
    attachments: int
    sent_at: Millis


def _places(tx: Tx, message_ids: str) -> dict[str, _Place]:
    """The messages' current data. Those are missing that were deleted since their words were extracted, or are being
    erased. ``message_ids``: as JSON."""
    rows = tx.all(
        """
        select m.id, s.id, m.account_id, m.thread_id, m.labels, m.attachments, m.sent_at
        from mail_messages m join mail_accounts a on a.id = m.account_id left join mail_search s on s.message_id = m.id
        where m.id in (select value from json_each(:ids)) and not a.erasing
        """,
        ids=message_ids,
    )
    return {
        message_id: _Place(
            id=row_id,
            account_id=account_id,
            thread_id=thread_id,
            labels=labels,
            attachments=attachments,
            sent_at=sent_at,
        )
        for message_id, row_id, account_id, thread_id, labels, attachments, sent_at in rows
    }


def _put(tx: Tx, place: _Place, message: Words, *, entry: int, changes: Changes) -> int:
    """Write everything except the full-text row. Returns the id in the index."""
    row_id = place.id
    if row_id is None:
        row_id = _free_id(tx, place.sent_at)
        tx.run(
            """
            insert into mail_search (id, message_id, account_id, thread_id, labels, attachments, entry, version)
            values (:id, :message_id, :account_id, :thread_id, :labels, :attachments, :entry, :version)
            """,
            id=row_id,
            message_id=message.message_id,
            account_id=place.account_id,
            thread_id=place.thread_id,
            labels=place.labels,
            attachments=place.attachments,
            entry=entry,
            version=VERSION,
        )
    else:
        _forget(tx, row_id, changes)
        tx.run("update mail_search set version = :version where id = :id", version=VERSION, id=row_id)
    tx.run(
        """
        insert into mail_search_named (id, account, subject, sender, recipient, cc, bcc, counted)
        values (:id, :account, :subject, :sender, :recipient, :cc, :bcc, :version)
        """,
        id=row_id,
        version=VERSION,
        account=account_word(place.account_id),
        **{column: message.columns[column] for column in NAMED},
    )
    tx.run(
        "insert into mail_search_body (id, files, body) values (:id, :files, :body)",
        id=row_id,
        files=message.columns["files"],
        body=message.columns["body"],
    )
    return row_id


def _forget(tx: Tx, row_id: int, changes: Changes) -> None:
    counted = queries.counted_words(tx, row_id, version=VERSION)
    if counted is not None:
        changes.take_away(counted.account, entries_of(counted.columns))
    tx.run(
        f"""
        insert into mail_search_fts (mail_search_fts, rowid, {_WORDS})
        select 'delete', id, {_WORDS} from mail_search_words where id = :id
        """,
        id=row_id,
    )
    tx.run("delete from mail_search_named where id = :id", id=row_id)
    tx.run("delete from mail_search_body where id = :id", id=row_id)


def _free_id(tx: Tx, sent_at: Millis) -> int:
    """The next free id of the second in which the message was sent; of a later second if thousands of messages share
    it."""
    first = id_floor(sent_at)
    step_s = 1
    while True:
        highest = tx.value(
            "select max(id) from mail_search_named where id >= :first and id < :end",
            first=first,
            end=first + IDS_A_SECOND,
        )
        if highest is None or highest + 1 < first + IDS_A_SECOND:
            return first if highest is None else cast(int, highest) + 1
        first += step_s * IDS_A_SECOND
        step_s = min(2 * step_s, LARGEST_STEP_S)
