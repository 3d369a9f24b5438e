"""The name in ``From`` of an account's mail: what the provider says, until a person says something else.

Owns the column ``sender_name`` of ``mail_accounts``. The provider is believed only where nobody has said anything; what
a person chose, also that there is to be no name, is never changed by it.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from svc.errors import Invalid, NotFound
from svc.formats.text import clean_line
from svc.mail.accounts import news as account_news
from svc.mail.accounts import queries as account_queries
from svc.mail.model import DEVICE_ID
from svc.principal import Principal
from svc.store import Tx

MAX_SENDER_NAME_CHARS: Final = 200
_BREAKS: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Controls (CR and LF too), halves of characters, line and paragraph separators: refused, never quietly dropped."""


def set_sender_name(tx: Tx, principal: Principal, *, account_id: str, name: str) -> None:
    """As its person wants it; empty for none. What hides or reorders text in it is left out."""
    account = account_queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound("There is no such account.")
    tx.run("update mail_accounts set sender_name = :name where id = :id", name=checked_name(name), id=account_id)
    account_news.emit_account(tx, account_id, device_id=principal.device_id)


def checked_name(name: str) -> str:
    """As it is kept. Raises :class:`Invalid` for what is no name."""
    if len(name) > MAX_SENDER_NAME_CHARS:
        raise Invalid(f"A name has at most {MAX_SENDER_NAME_CHARS} characters.")
    if any(unicodedata.category(character) in _BREAKS for character in name):
        raise Invalid("A name is one line without control characters.")
    return clean_line(name)


def note_sender_name(tx: Tx, *, account_id: str, name: str) -> None:
    """What the provider calls the mailbox's person. One that nobody could have set by hand counts for nothing."""
    line = clean_line(name)
    if not 0 < len(line) <= MAX_SENDER_NAME_CHARS:
        return
    changed = tx.run(
        """
        update mail_accounts set sender_name = :name
        where id = :id and sender_name is null and state <> 'disconnected'
        """,
        name=line,
        id=account_id,
    )
    if changed:
        account_news.emit_account(tx, account_id, device_id=DEVICE_ID)
