"""The name in ``From`` of an account's mail: the provider's, until a person chooses another.

Owns the column ``sender_name`` of ``mail_accounts``. The provider's name is used only if no person has chosen. A
person's choice, also of no name, is never changed by the provider.
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
"""Control characters (with CR and LF), surrogates, line and paragraph separators: refused, never silently removed."""


def set_sender_name(tx: Tx, principal: Principal, *, account_id: str, name: str) -> None:
    """Set the name that the person chose; empty for none. Characters that hide or reorder text are removed."""
    account = account_queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound("There is no such account.")
    tx.run("update mail_accounts set sender_name = :name where id = :id", name=checked_name(name), id=account_id)
    account_news.emit_account(tx, account_id, device_id=principal.device_id)


def checked_name(name: str) -> str:
    """The name in the form that is stored. Raises :class:`Invalid` if it can't be a name."""
    if len(name) > MAX_SENDER_NAME_CHARS:
        raise Invalid(f"A name has at most {MAX_SENDER_NAME_CHARS} characters.")
    if any(unicodedata.category(character) in _BREAKS for character in name):
        raise Invalid("A name is one line without control characters.")
    return clean_line(name)


def note_sender_name(tx: Tx, *, account_id: str, name: str) -> None:
    """Store the person's name as the provider reports it, if none was ever set. A name that could not be set by hand is
    ignored."""
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
