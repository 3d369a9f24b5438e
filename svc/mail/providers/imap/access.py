"""The access data of an IMAP account: its servers, user name and password. All of it is stored as one secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec
import trio

from svc.mail.providers.folders import ARCHIVE
from svc.mail.providers.imap import labels
from svc.mail.providers.imap.answers import CommandRefused
from svc.mail.providers.imap.connection import ImapConnection
from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.faults import MailServerFault, login_fault, says_nothing
from svc.mail.providers.imap.login import Login
from svc.mail.providers.imap.opening import connected, shown_certificate
from svc.mail.providers.imap.protocol.responses import Folder
from svc.mail.providers.imap.protocol.writing import Text
from svc.mail.providers.imap.servers import Certificate, MailServer
from svc.mail.providers.imap.submission.session import greeted_by, signed_in

TRY_S: Final = 25.0
"""For each of the two servers, while a person waits."""


class Access(msgspec.Struct, frozen=True, kw_only=True):
    imap: MailServer
    smtp: MailServer
    username: str
    password: str

    @property
    def login(self) -> Login:
        return Login(username=self.username, secret=self.password)

    def __repr__(self) -> str:
        return f"Access(imap={self.imap}, smtp={self.smtp})"


@dataclass(frozen=True, kw_only=True)
class WayIn:
    """Why one of the two servers could not be used. ``certificate``: the one it showed, if that is the problem."""

    server: MailServer
    is_smtp: bool
    fault: MailServerFault
    certificate: Certificate | None = None


async def try_access(dialler: Dialler, access: Access) -> WayIn | None:
    """Signs in at both servers and disconnects. ``None``: it works."""
    return await _tried(dialler, access, is_smtp=False) or await _tried(dialler, access, is_smtp=True)


async def _tried(dialler: Dialler, access: Access, *, is_smtp: bool) -> WayIn | None:
    server = access.smtp if is_smtp else access.imap
    try:
        with trio.move_on_after(TRY_S):
            await (_submission if is_smtp else _mailbox)(dialler, access)
            return None
        raise says_nothing(server)
    except MailServerFault as fault:
        certificate = fault.certificate
        if fault.reason == "tls_failed" and certificate is None:
            certificate = await _shown(dialler, server, is_smtp=is_smtp)
        return WayIn(server=server, is_smtp=is_smtp, fault=fault, certificate=certificate)


async def _mailbox(dialler: Dialler, access: Access) -> None:
    """Signs in to IMAP, and opens the inbox: some servers refuse only that. A server that keeps labels must also list
    its folder of all mail: all messages are in it."""
    connection = await connected(dialler, access.imap, access.login)
    try:
        if labels.ABILITY in connection.able:
            listed = await connection.command("LIST", Text(b""), Text(b"*"))
            if not any(one.label == ARCHIVE for one in labels.places(listed.all(Folder))):
                raise MailServerFault("imap_off", labels.HIDDEN)
        else:
            await _open_inbox(connection)
    except CommandRefused as refused:
        raise MailServerFault("refused", f"{access.imap} lists no folders.", said=refused.state.words) from refused
    finally:
        await connection.aclose()


async def _open_inbox(connection: ImapConnection) -> None:
    try:
        await connection.command("EXAMINE", Text(b"INBOX"))
    except CommandRefused as refused:
        said = refused.state.words
        raise login_fault(host=str(connection.server), code=refused.code, said=said) from refused


async def _submission(dialler: Dialler, access: Access) -> None:
    session = await signed_in(dialler, access.smtp, access.login)
    await session.aclose()


async def _shown(dialler: Dialler, server: MailServer, *, is_smtp: bool) -> Certificate | None:
    with trio.move_on_after(TRY_S):
        if not is_smtp:
            return await shown_certificate(dialler, server)
        try:
            await greeted_by(dialler, msgspec.structs.replace(server, pin="0" * 64))
        except MailServerFault as fault:
            return fault.certificate
    return None


def kept(access: Access) -> bytes:
    return msgspec.json.encode(access)


def read(data: bytes) -> Access:
    return msgspec.json.decode(data, type=Access)
