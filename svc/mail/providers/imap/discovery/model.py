"""What discovery finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from svc.mail.providers.imap.servers import MailServer

Source = Literal["preset", "autoconfig", "srv", "guess"]


@dataclass(frozen=True, kw_only=True)
class Found:
    """``help``: what a person has to know or to do at the provider. ``oauth``: the kind of provider by whose own
    sign-in it is connected, too; instead, unless ``by_password``."""

    imap: MailServer
    smtp: MailServer
    username: str
    source: Source
    help: str | None = None
    oauth: str | None = None
    by_password: bool = True
