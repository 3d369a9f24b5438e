"""The invariants of the index, checked by ``svc fsck``: it knows each message, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from svc.mail.search import queries
from svc.mail.search.actions import CONSUMER_NAME
from svc.mail.search.version import VERSION
from svc.mail.search.vocabulary import entries_of
from svc.store import Invariant, ReadTx

_SHOWN = 20
_COUNTED_AGAIN = 500


def _every_message(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select m.id from mail_messages m left join mail_search s on s.message_id = m.id
        where not exists (select 1 from mail_search_queue q where q.message_id = m.id)
            and m.id not in (
                select json_extract(payload, '$.messageId') from events
                where type = 'mail-received' and seq > (select seq from consumers where name = :consumer)
            )
            and (s.id is null or s.account_id <> m.account_id or s.thread_id <> m.thread_id
                or s.attachments <> m.attachments)
            and (s.id is not null or (
                select version > 0 or m.id <= queued_up_to from mail_search_state where one = 1
            ))
            or s.labels <> m.labels
        limit :shown
        """,
        consumer=CONSUMER_NAME,
        shown=_SHOWN,
    )
    return [f"message {message_id} can't be found, or is found as another" for (message_id,) in rows]


def _words_kept(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select id, 'has no words' from mail_search where id not in (select id from mail_search_words)
        union all
        select id, 'has words of nothing' from mail_search_named
        where id not in (select id from mail_search) and id not in (select id from mail_search_gone)
        union all
        select id, 'has half of its words' from mail_search_body where id not in (select id from mail_search_named)
        union all
        select id, 'is not in the full-text table' from mail_search_named
        where id not in (select id from mail_search_fts_docsize)
        union all
        select id, 'stands in the full-text table alone' from mail_search_fts_docsize
        where id not in (select id from mail_search_named)
        limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"entry {row_id} {what}" for row_id, what in rows]


def _vocabulary(tx: ReadTx) -> Iterable[str]:
    """Checks only the newest messages: to extract the words of all again would take too long."""
    for row_id in queries.newest(tx, limit=_COUNTED_AGAIN):
        counted = queries.counted_words(tx, row_id, version=VERSION)
        if counted is not None and not queries.has_entries(tx, counted.account, entries_of(counted.columns)):
            yield f"entry {row_id} has words that the vocabulary has not"


INVARIANTS = (
    Invariant(name="search knows every message", check=_every_message),
    Invariant(name="search keeps the words of what it knows", check=_words_kept),
    Invariant(name="search has the words of the newest messages in its vocabulary", check=_vocabulary),
)
