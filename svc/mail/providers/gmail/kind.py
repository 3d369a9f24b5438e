"""Gmail as a row of the kinds of provider."""

from __future__ import annotations

from typing import Final

from svc.connections import TokenSource
from svc.mail.providers.gmail.grant import GMAIL_TERMS, MailboxTokens
from svc.mail.providers.gmail.provider import GmailProvider
from svc.mail.providers.gmail.quota import QuotaLimiter
from svc.mail.providers.gmail.settings import MAIL_API_URL, MAIL_QUOTA, SETTINGS
from svc.mail.providers.kind import OAuthKind
from svc.workspace import Workspace


def _open(workspace: Workspace, address: str, tokens: TokenSource) -> GmailProvider:
    return GmailProvider(
        address=address,
        base_url=workspace.config[MAIL_API_URL],
        tokens=MailboxTokens(source=tokens),
        http=workspace.egress,
        quota=QuotaLimiter(units_per_minute=workspace.config[MAIL_QUOTA]),
        clock=workspace.clock,
    )


KIND: Final = OAuthKind(
    name="gmail",
    terms=GMAIL_TERMS,
    open=_open,
    api=MAIL_API_URL,
    settings=SETTINGS,
    dotless_domains=frozenset({"gmail.com", "googlemail.com"}),
)
