"""The own text of a message for search by meaning: subject, sender, and the writer's own new words.

It is computed from the indexed words, so that no body is read again. Quotations and signatures are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from svc.formats.snippet import carried_words, own_words
from svc.formats.words.text import restored
from svc.store import ReadTx, json_array


@dataclass(frozen=True, kw_only=True)
class OwnText:
    """``head``: subject and sender. ``text`` may be empty. ``account_id``: the account of the message."""

    account_id: str
    head: str
    text: str


def own_texts(tx: ReadTx, message_ids: Sequence[str], *, most_chars: int) -> dict[str, OwnText]:
    """Maps each message id to its own text. A message that is not indexed yet is left out."""
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
    """The average number of characters of the newest ``sample`` messages in this person's own accounts, each counted up
    to ``most_chars``."""
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
