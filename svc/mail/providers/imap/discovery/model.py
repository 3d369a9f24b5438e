"""The result of discovery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from svc.mail.providers.imap.servers import MailServer

Source = Literal["preset", "autoconfig", "srv", "guess"]


@dataclass(frozen=True, kw_only=True)
class Found:
    """``help``: what the user must know or do at the provider. ``oauth``: the kind of provider whose own sign-in can
    connect the mailbox, too. Unless ``by_password``, that is the only way."""

    imap: MailServer
    smtp: MailServer
    username: str
    source: Source
    help: str | None = None
    oauth: str | None = None
    by_password: bool = True
