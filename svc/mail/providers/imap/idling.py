"""Gets notifications about the inbox (IDLE, RFC 2177), on a second connection of the account.

A notification is only a hint: connections die silently, and some servers report only a part of the changes. The next
look finds what really changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

from svc.mail.providers.imap.answers import CommandRefused
from svc.mail.providers.imap.protocol.writing import Text
from svc.mail.providers.imap.session import Connect

RENEW_S: Final = 280.0
"""Less than five minutes: after that, some routers drop a connection without traffic."""


async def idle(connect: Connect, heard: Callable[[], None], *, inbox: bytes = b"INBOX") -> None:
    """Runs until it is cancelled; returns if the server does not support IDLE. Raises :class:`MailServerFault`."""
    connection = await connect()
    try:
        if "IDLE" not in connection.able:
            return
        await connection.command("EXAMINE", Text(inbox))
        heard()  # there may have been changes before IDLE began
        while True:
            await connection.idle(heard, for_s=RENEW_S)
    except CommandRefused:
        return  # the server announces IDLE, but refuses it
    finally:
        with trio.CancelScope(shield=True):  # it only closes the socket, and never waits for the server
            await connection.aclose()
