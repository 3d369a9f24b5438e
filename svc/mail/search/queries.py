"""The statements that read the index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from svc.formats.person import Person
from svc.formats.words.entries import Entries
from svc.mail.model import MessageHeaders
from svc.mail.search.model import COLUMNS, Column
from svc.mail.search.plan import Plan
from svc.mail.threads.queries import decode_headers
from svc.store import ReadTx, json_array

BEHIND: Final = 500
"""If at least this many of a person's messages wait for the index, a search says so. Fewer take only a moment."""

WORTH_COMPACTING: Final = 20
"""When more than one row in this many was cleared, the full-text table is compacted."""

_COLUMNS: Final = ", ".join(f"w.{column}" for column in COLUMNS)


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A message that waits to be indexed. ``number``: in the queue; another one if it is queued again."""

    number: int
    message_id: str
    account_id: str
    thread_id: str
    subject: str
    sender: Person
    headers: MessageHeaders
    body_sha256: str


@dataclass(frozen=True, kw_only=True)
class State:
    version: int
    queued_up_to: str
    entries: int
    cleared: int
    erased: int
    compacting: bool

    @property
    def wants_compacting(self) -> bool:
        return self.compacting or self.erased > 0 or self.cleared * WORTH_COMPACTING > self.entries


# For searches


def scan(tx: ReadTx, plan: Plan, *, low: int, high: int, entries: int) -> Iterator[tuple[int, str | None]]:
    """All messages that have the words, newest first: the id in the index, and the thread if the conditions hold.

    The rows are read lazily: a caller that stops early pays only for what was read. Words with signs are checked
    against the indexed text.
    """
    columns = plan.signs.columns if plan.signs else ()
    texts = "".join(f", w.{column}" for column in columns)
    rows = tx.each(
        f"""
        select f.rowid, iif(s.entry <= :entries and {plan.where}, s.thread_id, null){texts}
        from mail_search_fts f cross join mail_search s on s.id = f.rowid
        {"cross join mail_search_words w on w.id = f.rowid" if columns else ""}
        where mail_search_fts match :match and f.rowid between :low and :high order by f.rowid desc
        """,
        match=plan.match,
        low=low,
        high=high,
        entries=entries,
        **plan.params,
    )
    for row_id, thread_id, *found in rows:
        has_signs = not plan.signs or plan.signs.matches(dict(zip(columns, map(str, found), strict=True)))
        yield cast(int, row_id), str(thread_id) if thread_id is not None and has_signs else None


def having(tx: ReadTx, match: str, *, low: int, high: int) -> set[int]:
    """The ids from ``low`` to ``high`` of messages that have the words, of any owner and without other conditions."""
    rows = tx.each(
        "select rowid from mail_search_fts where mail_search_fts match :match and rowid between :low and :high",
        match=match,
        low=low,
        high=high,
    )
    return {cast(int, row_id) for (row_id,) in rows}


def newer_of_thread(
    tx: ReadTx, plan: Plan, *, thread_id: str, low: int, high: int, entries: int
) -> list[dict[Column, str]]:
    """The words of the thread's messages from ``low`` to ``high`` for which the conditions hold."""
    rows = tx.all(
        f"""
        select {_COLUMNS} from mail_messages m join mail_search s on s.message_id = m.id
        join mail_search_words w on w.id = s.id
        where m.thread_id = :thread_id and s.id between :low and :high and s.entry <= :entries and {plan.where}
        """,
        thread_id=thread_id,
        low=low,
        high=high,
        entries=entries,
        **plan.params,
    )
    return [dict(zip(COLUMNS, map(str, row), strict=True)) for row in rows]


def duplicates(tx: ReadTx, plan: Plan, thread_id: str) -> list[str]:
    """The threads of the same mail in the searched accounts, the leading one first."""
    rows = tx.all(
        """
        select o.id from mail_threads t join mail_threads o on o.twins = t.twins
        where t.id = :id and o.account_id in (select value from json_each(:accounts)) order by o.leads desc, o.id
        """,
        id=thread_id,
        accounts=plan.params["accounts"],
    )
    return [str(row[0]) for row in rows]


def texts(tx: ReadTx, ids: Sequence[int]) -> dict[int, tuple[str, dict[Column, str]]]:
    """Maps each id in the index to the message id and the words as the index has them."""
    rows = tx.all(
        f"""
        select s.id, s.message_id, {_COLUMNS} from mail_search s join mail_search_words w on w.id = s.id
        where s.id in (select value from json_each(:ids))
        """,
        ids=json_array(ids),
    )
    return {cast(int, row[0]): (str(row[1]), dict(zip(COLUMNS, map(str, row[2:]), strict=True))) for row in rows}


@dataclass(frozen=True, kw_only=True)
class Counted:
    """An account as one word of the index (``plan.account_word``), and the words of one of its messages."""

    account: str
    columns: dict[Column, str]


def counted_words(tx: ReadTx, row_id: int, *, version: int) -> Counted | None:
    """The words that this row added to the vocabulary. ``None`` if it added none, or another version added them."""
    row = tx.one(
        f"""
        select n.account, {_COLUMNS} from mail_search_named n join mail_search_words w on w.id = n.id
        where n.id = :id and n.counted = :version
        """,
        id=row_id,
        version=version,
    )
    return (
        None
        if row is None
        else Counted(account=str(row[0]), columns=dict(zip(COLUMNS, map(str, row[1:]), strict=True)))
    )


def newest(tx: ReadTx, *, limit: int) -> list[int]:
    rows = tx.all("select id from mail_search_named order by id desc limit :limit", limit=limit)
    return [cast(int, row_id) for (row_id,) in rows]


def others_have_mail(tx: ReadTx, account_ids: Sequence[str]) -> bool:
    """Whether there are other accounts than these."""
    other = tx.value(
        "select exists (select 1 from mail_accounts where id not in (select value from json_each(:ids)))",
        ids=json_array(account_ids),
    )
    return bool(other)


# The vocabulary: only of the given accounts, which are words of the index


def languages(tx: ReadTx, accounts: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The languages of ``known`` in which these accounts have mail."""
    rows = tx.all(
        """
        select l.value from json_each(:known) l where exists (
            select 1 from json_each(:accounts) a
            cross join mail_search_vocabulary v on v.account = a.value and v.language = l.value
        )
        """,
        known=json_array(known),
        accounts=json_array(accounts),
    )
    return tuple(str(language) for (language,) in rows)


def words_under(
    tx: ReadTx, accounts: Sequence[str], stems: Iterable[tuple[str, str]], *, limit: int
) -> list[tuple[str, str]]:
    """The words with these stems, each stem in its language, and how they are written; the most frequent first."""
    rows = tx.all(
        """
        select v.word, coalesce(v.written, v.word) from json_each(:accounts) a
        cross join json_each(:stems) s cross join mail_search_vocabulary v on v.account = a.value
            and v.language = json_extract(s.value, '$[0]') and v.stem = json_extract(s.value, '$[1]')
        group by v.word order by sum(v.messages) desc, v.word limit :limit
        """,
        accounts=json_array(accounts),
        stems=msgspec.json.encode(list(stems)).decode(),
        limit=limit,
    )
    return [(str(word), str(written)) for word, written in rows]


def has_entries(tx: ReadTx, account: str, entries: Entries) -> bool:
    """Whether the account's vocabulary has a row for each of these entries."""
    missing = tx.value(
        """
        select exists (
            select 1 from json_each(:forms) f where not exists (
                select 1 from mail_search_vocabulary where account = :account and messages > 0
                    and language = :language and stem = json_extract(f.value, '$[0]')
                    and word = json_extract(f.value, '$[1]')
            )
        )
        """,
        account=account,
        language=entries.language,
        forms=msgspec.json.encode(entries.forms).decode(),
    )
    return not missing


@dataclass(frozen=True)
class Known:
    """A word, how it is written, and about how many messages have it."""

    word: str
    written: str
    messages: int


def known_words(tx: ReadTx, accounts: Sequence[str], words: Iterable[str]) -> list[Known]:
    """Those of these words that the vocabulary has."""
    # The index is named: without statistics, SQLite would read all words of the account for each of some hundred words.
    rows = tx.all(
        """
        select v.word, coalesce(v.written, v.word), max(v.messages) from json_each(:accounts) a
        cross join json_each(:words) w
        cross join mail_search_vocabulary v indexed by mail_search_vocabulary_words
            on v.account = a.value and v.word = w.value
        group by v.word
        """,
        accounts=json_array(accounts),
        words=json_array(words),
    )
    return [Known(str(word), str(written), cast(int, messages)) for word, written, messages in rows]


def words_beginning(
    tx: ReadTx, accounts: Sequence[str], beginning: str, *, chars: tuple[int, int], limit: int
) -> list[Known]:
    """Words with this beginning, from ``chars[0]`` to ``chars[1]`` letters long: of each account the first ones in
    alphabetical order, ``limit`` together."""
    found = []
    for account in accounts:
        rows = tx.all(
            """
            select word, coalesce(written, word), messages from mail_search_vocabulary
            where account = :account and word >= :beginning and word < :beginning || char(0x10ffff)
                and length(word) between :least and :most
            limit :limit
            """,
            account=account,
            beginning=beginning,
            least=chars[0],
            most=chars[1],
            limit=max(1, limit // len(accounts)),
        )
        found += [Known(str(word), str(written), cast(int, messages)) for word, written, messages in rows]
    return found


# Work that the index still has to do


def waiting(tx: ReadTx, *, limit: int) -> list[Waiting]:
    """The newest entries of the queue: new mail is indexed first, however long the queue is."""
    # A cross join, so that the queue is read first: without statistics, SQLite would read all messages for each batch.
    rows = tx.all(
        """
        select m.id, m.account_id, m.thread_id, m.subject, m.sender_name, m.sender_address, m.headers, m.body_sha256,
            q.number
        from mail_search_queue q cross join mail_messages m on m.id = q.message_id order by q.number desc limit :limit
        """,
        limit=limit,
    )
    return [
        Waiting(
            message_id=str(row[0]),
            account_id=str(row[1]),
            thread_id=str(row[2]),
            subject=str(row[3]),
            sender=Person(name=str(row[4]), address=str(row[5])),
            headers=decode_headers(cast(str, row[6])),
            body_sha256=str(row[7]),
            number=cast(int, row[8]),
        )
        for row in rows
    ]


def has_gone(tx: ReadTx) -> bool:
    return bool(tx.value("select exists (select 1 from mail_search_gone)"))


def is_behind(tx: ReadTx, account_ids: Sequence[str]) -> bool:
    """Whether much mail of these accounts can't be found yet."""
    waiting = tx.value(
        """
        select count(*) from (
            select 1 from mail_search_queue where account_id in (select value from json_each(:ids)) limit :behind
        )
        """,
        ids=json_array(account_ids),
        behind=BEHIND,
    )
    return cast(int, waiting) >= BEHIND or state(tx).version == 0


def state(tx: ReadTx) -> State:
    row = tx.one(
        "select version, queued_up_to, entries, cleared, erased, compacting from mail_search_state where one = 1"
    )
    assert row is not None
    return State(
        version=cast(int, row[0]),
        queued_up_to=str(row[1]),
        entries=cast(int, row[2]),
        cleared=cast(int, row[3]),
        erased=cast(int, row[4]),
        compacting=bool(row[5]),
    )


def messages(tx: ReadTx) -> int:
    return cast(int, tx.value("select count(*) from mail_messages"))


def messages_after(tx: ReadTx, message_id: str, *, limit: int) -> list[str]:
    """The message ids after this one."""
    rows = tx.all(
        "select id from mail_messages where id > :after order by id limit :limit", after=message_id, limit=limit
    )
    return [cast(str, found) for (found,) in rows]


def messages_up_to(tx: ReadTx, message_id: str) -> int:
    return cast(int, tx.value("select count(*) from mail_messages where id <= :id", id=message_id))


def indexed(tx: ReadTx) -> int:
    return cast(int, tx.value("select count(*) from mail_search"))


def queued(tx: ReadTx) -> int:
    """How many messages wait for the index."""
    return cast(int, tx.value("select count(*) from mail_search_queue"))
