"""Opens a connection to an IMAP server: first TLS, then the sign-in.

A password is never sent before TLS, whatever a server offers. The connection ends if a server greets with ``PREAUTH``,
does not support STARTTLS, or sends more data after it before TLS begins. Whatever it says before TLS is forgotten.
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
    """A TLS connection without a sign-in yet. Raises :class:`MailServerFault`; if a pin does not match, the fault
    carries the certificate."""
    stream = await dialler.open(server)
    try:
        if server.security == "tls":
            stream = await dialler.secure(stream, server)
        connection = ImapConnection(server=server, _stream=stream)
        if server.security == "starttls":
            await connection.start_tls(dialler)
        else:
            await connection.greeted()
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return connection


async def shown_certificate(dialler: Dialler, server: MailServer) -> Certificate | None:
    """The certificate of a server, trusted or not. There is no sign-in."""
    try:
        await greeted(dialler, msgspec.structs.replace(server, pin=NOBODYS_PIN))
    except MailServerFault as fault:
        return fault.certificate
    return None  # not reached: no certificate has this hash
