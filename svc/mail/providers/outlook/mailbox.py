"""Signs in at Microsoft's two mail servers (IMAP and SMTP) with an access token, and retries once with a fresh one.

A token may be refused before it expires, because its grant was renewed or a rule changed. So only the refusal of a
fresh token counts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import trio

from svc.connections import GrantRefused, Identity
from svc.mail.providers.imap.answers import CommandRefused
from svc.mail.providers.imap.connection import ImapConnection
from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.faults import MailServerFault, Reason, silent
from svc.mail.providers.imap.login import Login
from svc.mail.providers.imap.opening import connected
from svc.mail.providers.imap.protocol.writing import Text
from svc.mail.providers.imap.seam_faults import as_of_mail
from svc.mail.providers.imap.servers import MailServer
from svc.mail.providers.imap.submission.session import SubmissionSession, signed_in
from svc.mail.providers.kind import ClosedCause, MailboxClosed
from svc.mail.providers.tokens import MailboxTokens

T = TypeVar("T")

TRY_S: Final = 25.0
"""For each of the two servers, while a person waits."""
_CLOSED: Final = frozenset[Reason]({"auth_failed", "imap_off", "oauth_only", "refused"})


@dataclass(frozen=True, kw_only=True)
class TokenAccess:
    """The two servers of one address, and the tokens for signing in there."""

    address: str
    imap: MailServer
    smtp: MailServer
    tokens: MailboxTokens
    dialler: Dialler

    async def mailbox(self) -> ImapConnection:
        """Raises :class:`MailServerFault`, and faults of the seam where no access token can be had."""
        return await self._signed_in(lambda login: connected(self.dialler, self.imap, login))

    async def submission(self) -> SubmissionSession:
        """Raises as :meth:`mailbox`."""
        return await self._signed_in(lambda login: signed_in(self.dialler, self.smtp, login))

    async def _signed_in(self, sign_in: Callable[[Login], Awaitable[T]]) -> T:
        token = await self.tokens.access_token()
        try:
            return await sign_in(self._login(token))
        except MailServerFault as fault:
            if fault.reason != "auth_failed":
                raise
        return await sign_in(self._login(await self.tokens.refreshed(token)))

    def _login(self, token: str) -> Login:
        return Login(username=self.address, secret=token, by="token")


async def prove(access: TokenAccess) -> None:
    """Signs in at both servers and disconnects. Raises :class:`MailboxClosed`, or a provider's fault where it can't be
    known now whether they let us in."""
    await _tried(_look, access, access.imap, "mailbox-closed")
    await _tried(_greet, access, access.smtp, "sending-off")


async def _tried(
    look: Callable[[TokenAccess], Awaitable[None]], access: TokenAccess, server: MailServer, cause: ClosedCause
) -> None:
    try:
        with trio.move_on_after(TRY_S):
            await look(access)
            return
        raise silent(str(server), may_have_happened=False)
    except MailServerFault as fault:
        if fault.reason in _CLOSED:
            raise MailboxClosed(f"{fault.detail} {fault.said}".strip(), cause=cause) from fault
        raise as_of_mail(fault) from fault


async def _look(access: TokenAccess) -> None:
    """Lists the inbox, since the sign-in proves nothing: Microsoft accepts any valid token with any user name, and
    refuses only later commands if the mailbox belongs to another user."""
    connection = await access.mailbox()
    try:
        await connection.command("LIST", Text(b""), Text(b"INBOX"))
    except CommandRefused as refused:
        raise MailServerFault("auth_failed", f"{access.imap} opens no mailbox.", said=refused.state.words) from refused
    finally:
        await connection.aclose()


async def _greet(access: TokenAccess) -> None:
    session = await access.submission()
    await session.aclose()


def address_of(identity: Identity | None) -> str:
    """The address of the mailbox that a fresh grant is for. Raises :class:`GrantRefused`."""
    address = identity.address if identity is not None else None
    if address is None:
        raise GrantRefused("Microsoft did not say whose mailbox this is.", cause="wrong-identity")
    return address
