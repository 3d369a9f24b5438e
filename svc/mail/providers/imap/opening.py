"""Opening a connection to an IMAP server: secret first, and then signed in.

Never is a password said before the connection is secret, whatever a server offers: a server that greets with
``PREAUTH``, takes no STARTTLS, or has said something ahead of it is left.
"""

from __future__ import annotations

from typing import Final

import msgspec
import trio

from svc.mail.providers.imap.connection import ImapConnection
from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.faults import MailServerFault
from svc.mail.providers.imap.login import Login
from svc.mail.providers.imap.servers import Certificate, MailServer
from svc.mail.providers.imap.signing_in import sign_in

NOBODYS_PIN: Final = "0" * 64


async def connected(dialler: Dialler, server: MailServer, login: Login) -> ImapConnection:
    """A connection that is signed in. Raises :class:`MailServerFault`."""
    connection = await greeted(dialler, server)
    try:
        await sign_in(connection, login)
    except BaseException:
        await connection.aclose()
        raise
    return connection


async def greeted(dialler: Dialler, server: MailServer) -> ImapConnection:
    """A secret connection that nobody has signed in on. Raises :class:`MailServerFault`; a certificate that is not
    trusted is told with it."""
    stream = await dialler.open(server)
    try:
        if server.security == "tls":
            stream = await dialler.secure(stream, server)
        connection = ImapConnection(server=server, _stream=stream)
        await connection.greeted()
        if server.security == "starttls":
            await connection.start_tls(dialler)
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return connection


async def shown_certificate(dialler: Dialler, server: MailServer) -> Certificate | None:
    """What a server shows of itself, whoever it may be: nobody signs in there."""
    try:
        await greeted(dialler, msgspec.structs.replace(server, pin=NOBODYS_PIN))
    except MailServerFault as fault:
        return fault.certificate
    return None  # a server with that certificate does not exist
