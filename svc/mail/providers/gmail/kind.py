"""Gmail as an entry in the list of provider kinds."""

from __future__ import annotations

from typing import Final

from svc.connections import Identity, TokenSource
from svc.identity import OAUTH_CLIENT
from svc.mail.model import Account
from svc.mail.providers.gmail.grant import GMAIL_TERMS
from svc.mail.providers.gmail.provider import GmailProvider
from svc.mail.providers.gmail.quota import QuotaLimiter
from svc.mail.providers.gmail.settings import MAIL_API_URL, MAIL_QUOTA, SETTINGS
from svc.mail.providers.kind import OAuthKind
from svc.mail.providers.tokens import MailboxTokens
from svc.workspace import Workspace


def _open(workspace: Workspace, account: Account, tokens: TokenSource) -> GmailProvider:
    return _mailbox(workspace, account.address, tokens, account_id=account.id)


async def _opened(workspace: Workspace, identity: Identity | None, tokens: TokenSource) -> str:
    """The mailbox's address, as its API names it."""
    said = identity.address if identity is not None else None
    return (await _mailbox(workspace, said or "me", tokens).profile()).address.lower()


def _mailbox(
    workspace: Workspace, address: str, tokens: TokenSource, *, account_id: str | None = None
) -> GmailProvider:
    return GmailProvider(
        account_id=account_id,
        store=workspace.store,
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
    client=OAUTH_CLIENT,
    client_settings="IDP_CLIENT_ID and IDP_CLIENT_SECRET",
    open=_open,
    opened=_opened,
    api=MAIL_API_URL,
    settings=SETTINGS,
    dotless_domains=frozenset({"gmail.com", "googlemail.com"}),
    authority="mx.google.com",
)
