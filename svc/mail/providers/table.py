"""The table of mail providers of this process: how each one opens the mailbox of an account.

Each provider adds its row when the features are built. Where the fake provider is on, it replaces the real ones in the
table, so no other code has to ask for it. An account whose provider has no row is paused until there is one again.
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
    _here: set[str] = field(default_factory=set)
    _authorities: dict[str, str] = field(default_factory=dict)
    _closed: bool = False

    def add(self, name: str, open_mailbox: Open, *, is_here: bool = False, authority: str | None = None) -> None:
        """``is_here``: it has no server outside, so :meth:`replace_all` keeps it. ``authority``: see
        :meth:`authority`. To add the same name twice is a bug."""
        if is_here:
            self._here.add(name)
        elif self._closed:
            return
        if name in self._rows:
            raise RuntimeError(f"the mail provider {name} is added twice")
        self._rows[name] = open_mailbox
        self._tell(name, authority)

    def replace_all(self, name: str, open_mailbox: Open, *, authority: str | None = None) -> None:
        """Makes this the only provider beside those with ``is_here``, whatever was added before or is added later."""
        self._rows = {name: open_mailbox, **{one: self._rows[one] for one in self._here}}
        self._authorities = {}
        self._tell(name, authority)
        self._closed = True

    def __contains__(self, name: str) -> bool:
        return name in self._rows

    def authority(self, name: str) -> str | None:
        """The name (``authserv-id``) under which this provider's servers report who a mail comes from; ``None``: not
        known."""
        return self._authorities.get(name)

    def _tell(self, name: str, authority: str | None) -> None:
        if authority is not None:
            self._authorities[name] = authority

    def open(self, account: Account) -> Provider:
        """Opens the mailbox of an account. Its provider must have a row."""
        return self._rows[account.provider](account)
