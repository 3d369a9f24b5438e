"""The mail providers of this boot: how each opens the mailbox of an account.

Each provider adds its row when the features are built. The fakes, where they are on, stand alone in the table, so that
nothing else has to ask for them: an account whose provider has no row sleeps until it has one again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from svc.mail.model import Account
from svc.mail.providers.seam import Provider

Open = Callable[[Account], Provider]


@dataclass(kw_only=True)
class Providers:
    _rows: dict[str, Open] = field(default_factory=dict)
    _closed: bool = False

    def add(self, name: str, open_mailbox: Open) -> None:
        """Twice the same name is a bug."""
        if self._closed:
            return
        if name in self._rows:
            raise RuntimeError(f"the mail provider {name} is added twice")
        self._rows[name] = open_mailbox

    def replace_all(self, name: str, open_mailbox: Open) -> None:
        """This one alone, whatever was added and will be."""
        self._rows = {name: open_mailbox}
        self._closed = True

    def __contains__(self, name: str) -> bool:
        return name in self._rows

    def open(self, account: Account) -> Provider:
        """The mailbox of an account whose provider has a row."""
        return self._rows[account.provider](account)
