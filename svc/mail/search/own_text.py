"""What a message itself says, as search by meaning reads it: subject, sender, and the writer's own new words.

From the words that the index was given, so that no body is read again: quotations and signatures are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from svc.formats.snippet import carried_words, own_words
from svc.mail.search.text import restored
from svc.store import ReadTx, json_array


@dataclass(frozen=True, kw_only=True)
class OwnText:
    """``text`` may be empty. ``account_id``: whose mail it is."""

    account_id: str
    head: str
    text: str


def own_texts(tx: ReadTx, message_ids: Sequence[str], *, most_chars: int) -> dict[str, OwnText]:
    """By message; one whose words the index does not have yet is left out."""
    rows = tx.all(
        """
        select s.message_id, s.account_id, n.subject, n.sender, substr(b.body, 1, :most)
        from mail_search s join mail_search_named n on n.id = s.id join mail_search_body b on b.id = s.id
        where s.message_id in (select value from json_each(:ids))
        """,
        ids=json_array(message_ids),
        most=most_chars,
    )
    found = {}
    for message_id, account_id, subject, sender, body in rows:
        text = restored(str(body))
        found[str(message_id)] = OwnText(
            account_id=str(account_id),
            head=f"{restored(str(subject))}\n{restored(str(sender))}",
            text=own_words(text).strip() or carried_words(text).strip(),
        )
    return found


def body_chars(tx: ReadTx, owner_id: str | None, *, sample: int, most_chars: int) -> float:
    """How many characters a message of this person's own accounts has on average, each counted up to ``most_chars``:
    of the newest ``sample``."""
    average = tx.value(
        """
        select avg(min(length(b.body) + length(n.subject) + length(n.sender), :most)) from (
            select id from mail_search where account_id in (
                select id from mail_accounts where owner_id is :owner_id and not erasing
            ) order by id desc limit :sample
        ) s join mail_search_named n on n.id = s.id join mail_search_body b on b.id = s.id
        """,
        owner_id=owner_id,
        sample=sample,
        most=most_chars,
    )
    return float(str(average)) if average is not None else 0.0
