"""Mailboxes by IMAP and SMTP as an entry in the list of provider kinds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from svc.mail.model import Account
from svc.mail.providers.imap.access import Access, read
from svc.mail.providers.imap.connection import ImapConnection
from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.opening import connected
from svc.mail.providers.imap.provider import ImapProvider
from svc.mail.providers.imap.submission.session import SubmissionSession, signed_in
from svc.mail.providers.kind import PasswordKind
from svc.mail.providers.seam import GrantLost
from svc.settings import PROFILE
from svc.workspace import Workspace


def dialler_of(workspace: Workspace) -> Dialler:
    """The dialler of this server. On a public cell it does not connect to private addresses."""
    return Dialler(private=workspace.config[PROFILE] == "local")


def _open(workspace: Workspace, account: Account, load: Callable[[], Awaitable[bytes | None]]) -> ImapProvider:
    dialler = dialler_of(workspace)

    async def access() -> Access:
        """Read anew for each connection, so that a new password needs no restart."""
        data = await load()
        if data is None:
            raise GrantLost("The password of this account is not here any more. Connect it again.", trouble="revoked")
        return read(data)

    async def connect() -> ImapConnection:
        found = await access()
        return await connected(dialler, found.imap, found.login)

    async def sign_in() -> SubmissionSession:
        found = await access()
        return await signed_in(dialler, found.smtp, found.login)

    return mailbox_of(workspace, account, connect=connect, sign_in=sign_in)


def mailbox_of(
    workspace: Workspace,
    account: Account,
    *,
    connect: Callable[[], Awaitable[ImapConnection]],
    sign_in: Callable[[], Awaitable[SubmissionSession]],
) -> ImapProvider:
    return ImapProvider(
        account_id=account.id,
        address=account.address,
        store=workspace.store,
        blobs=workspace.blobs,
        threads=workspace.threads,
        clock=workspace.clock,
        log=workspace.log.bind(account=account.id),
        connect=connect,
        sign_in=sign_in,
    )


KIND: Final = PasswordKind(name="imap", secret_prefix="mail.imap.", open=_open)  # noqa: S106  the name of one
