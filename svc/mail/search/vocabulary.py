"""The vocabulary: the words of each account's mail. Search finds other forms and spellings in it.

A row is a word in a language, under a stem, with the number of messages that have it. The entries of a message are
computed only from the words that the index keeps of it, so that exactly these can be removed when the message is
deleted. Each account has its own rows: nobody sees a word of another person's mail.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from svc.mail.search.forms import is_inflected, stems
from svc.mail.search.model import COLUMNS, Column
from svc.mail.search.text import folded, restored
from svc.mail.search.tongues import language_of
from svc.store import Tx

MAX_WORDS_A_MESSAGE: Final = 2_000
"""Only the first this many different words of a message are used; a text with more is a list."""

_REMEMBERED: Final = 50_000

FORGOTTEN_AT_A_TIME: Final = 5_000

_TOKEN: Final = re.compile(r"[^\W_]+")


class Entry(NamedTuple):
    language: str
    stem: str
    word: str
    """The word as in the full-text table: without accents."""


Entries = Mapping[Entry, str]
"""Maps each entry to the word as it is written."""


def entries_of(columns: Mapping[Column, str]) -> Entries:
    """The entries of a message, computed from its words as the index has them."""
    found = dict.fromkeys(_TOKEN.findall(restored("\n".join(columns[one] for one in COLUMNS)).lower()))
    language = language_of(found.keys())
    words = islice((word for word in found if is_inflected(word)), MAX_WORDS_A_MESSAGE)
    return {entry: word for word in words for entry in _entries(word, language)}


@lru_cache(maxsize=_REMEMBERED)
def _entries(word: str, language: str) -> tuple[Entry, ...]:
    """The entries of one word; cached, because mails have the same words again and again."""
    plain = folded(word)
    return tuple(Entry(language, stem, plain) for stem in stems(word, language))


class Changes:
    """Collects what several messages add and remove, to write it together: most of it is the same words."""

    def __init__(self) -> None:
        self._counted: defaultdict[str, Counter[Entry]] = defaultdict(Counter)
        self._written: dict[Entry, str] = {}

    def add(self, account: str, entries: Entries) -> None:
        self._counted[account].update(entries.keys())
        self._written.update(entries)

    def take_away(self, account: str, entries: Iterable[Entry]) -> None:
        self._counted[account].subtract(iter(entries))

    def write(self, tx: Tx) -> None:
        changed = [
            (account, entry, by)
            for account, counted in sorted(self._counted.items())
            for entry, by in sorted(counted.items())
        ]
        more = [self._row(*one) for one in changed if one[2] > 0]
        fewer = [self._row(*one) for one in changed if one[2] < 0]
        tx.run_many(
            """
            insert into mail_search_vocabulary (account, language, stem, word, written, messages)
            values (:account, :language, :stem, :word, nullif(:written, :word), :by)
            on conflict (account, language, stem, word) do update set messages = messages + :by
            """,
            more,
        )
        which = "account = :account and language = :language and stem = :stem and word = :word"
        tx.run_many(f"update mail_search_vocabulary set messages = messages + :by where {which}", fewer)
        tx.run_many(f"delete from mail_search_vocabulary where {which} and messages <= 0", fewer)

    def _row(self, account: str, entry: Entry, by: int) -> dict[str, str | int]:
        language, stem, word = entry
        written = self._written.get(entry, word)
        return {"account": account, "language": language, "stem": stem, "word": word, "written": written, "by": by}


def forget_all(tx: Tx) -> None:
    """Delete the vocabulary before all messages are indexed again. The index row of a message says whether it was
    counted since."""
    tx.run("delete from mail_search_vocabulary")


def forget_account(tx: Tx, account: str) -> bool:
    """Delete a batch of the account's words. ``False`` once there are none left."""
    forgotten = tx.run(
        """
        delete from mail_search_vocabulary where account = :account and (language, stem, word) in (
            select language, stem, word from mail_search_vocabulary where account = :account limit :limit
        )
        """,
        account=account,
        limit=FORGOTTEN_AT_A_TIME,
    )
    return forgotten > 0
