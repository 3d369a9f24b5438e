"""The vocabulary: the words of each account's mail. Search finds other forms and spellings in it.

A row is a word in a language, under a stem, with the number of messages that have it. The entries of a message are
computed only from the words that the index keeps of it, so that exactly these can be removed when the message is
deleted. Each account has its own rows: nobody sees a word of another person's mail.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

import msgspec

from svc.formats.words.entries import Entries, Form, entries_of_text
from svc.mail.search.model import COLUMNS, Column
from svc.store import Tx

FORGOTTEN_AT_A_TIME: Final = 5_000


def joined(columns: Mapping[Column, str]) -> str:
    """The text of a message, as the index has it: its words make the message's entries."""
    return "\n".join(columns[one] for one in COLUMNS)


def entries_of(columns: Mapping[Column, str]) -> Entries:
    return entries_of_text(joined(columns))


class Changes:
    """Collects what several messages add and remove, to write it together: most of it is the same words."""

    def __init__(self) -> None:
        self._counted: defaultdict[tuple[str, str], Counter[Form]] = defaultdict(Counter)
        """By account and language."""

    def add(self, account: str, entries: Entries) -> None:
        self._counted[account, entries.language].update(entries.forms)

    def take_away(self, account: str, entries: Entries) -> None:
        self._counted[account, entries.language].subtract(entries.forms)

    def write(self, tx: Tx) -> None:
        """In the order of the table's key, so that each of its pages is met once."""
        for (account, language), counted in sorted(self._counted.items()):
            # Of two spellings of a new word, the one that more of these messages have is kept.
            changed = sorted([(stem, word, -by, written) for (stem, word, written), by in counted.items()])
            # One statement for all that is more: while it runs, other threads have the interpreter.
            tx.run(
                """
                insert into mail_search_vocabulary (account, language, stem, word, written, messages)
                select :account, :language, json_extract(value, '$[0]'), json_extract(value, '$[1]'),
                    nullif(json_extract(value, '$[3]'), ''), -json_extract(value, '$[2]')
                from json_each(:more) where true
                on conflict (account, language, stem, word) do update set messages = messages + excluded.messages
                """,
                account=account,
                language=language,
                more=msgspec.json.encode([one for one in changed if one[2] < 0]).decode(),
            )
            which = "account = :account and language = :language and stem = :stem and word = :word"
            fewer: list[Mapping[str, str | int]] = [
                {"account": account, "language": language, "stem": stem, "word": word, "by": -less}
                for stem, word, less, _ in changed
                if less > 0
            ]
            tx.run_many(f"update mail_search_vocabulary set messages = messages + :by where {which}", fewer)
            tx.run_many(f"delete from mail_search_vocabulary where {which} and messages <= 0", fewer)


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
