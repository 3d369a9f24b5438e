"""Mailboxes at Microsoft as an entry in the list of provider kinds."""

from __future__ import annotations

from typing import Final

from svc.connections import MICROSOFT_CLIENT, Identity, TokenSource, microsoft_grants, origin_for_microsoft
from svc.mail.model import Account
from svc.mail.providers.imap.kind import dialler_of, mailbox_of
from svc.mail.providers.imap.provider import ImapProvider
from svc.mail.providers.kind import OAuthKind
from svc.mail.providers.outlook.grant import TERMS
from svc.mail.providers.outlook.mailbox import TokenAccess, address_of, prove
from svc.mail.providers.outlook.settings import SETTINGS, imap_server, smtp_server
from svc.mail.providers.tokens import MailboxTokens
from svc.workspace import Workspace


def _open(workspace: Workspace, account: Account, tokens: TokenSource) -> ImapProvider:
    access = _access(workspace, account.address, tokens)
    return mailbox_of(workspace, account, connect=access.mailbox, sign_in=access.submission)


async def _opened(workspace: Workspace, identity: Identity | None, tokens: TokenSource) -> str:
    """The mailbox's address, as the ID token names it. Both mail servers must accept a sign-in for it."""
    address = address_of(identity)
    await prove(_access(workspace, address, tokens))
    return address


def _access(workspace: Workspace, address: str, tokens: TokenSource) -> TokenAccess:
    return TokenAccess(
        address=address,
        imap=imap_server(workspace.config),
        smtp=smtp_server(workspace.config, address),
        tokens=MailboxTokens(source=tokens),
        dialler=dialler_of(workspace),
    )


KIND: Final = OAuthKind(
    name="outlook",
    terms=TERMS,
    client=MICROSOFT_CLIENT,
    client_settings="MICROSOFT_CLIENT_ID",
    open=_open,
    opened=_opened,
    settings=SETTINGS,
    grants=lambda workspace: microsoft_grants(workspace, TERMS),
    origin=origin_for_microsoft,
)
