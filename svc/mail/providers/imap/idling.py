"""Hearing at once that something happened in the inbox (IDLE, RFC 2177), on a second connection of the account's.

It is a hint and no more: lines die without a word, and some servers tell half of it. What is true the next look tells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

from svc.mail.providers.imap.answers import CommandRefused
from svc.mail.providers.imap.protocol.writing import Text
from svc.mail.providers.imap.session import Connect

RENEW_S: Final = 280.0
"""Below the five minutes after which the first routers forget a line that is silent."""


async def idle(connect: Connect, heard: Callable[[], None], *, inbox: bytes = b"INBOX") -> None:
    """Until it is cancelled; returns at once where the server is not able to. Raises :class:`MailServerFault`."""
    connection = await connect()
    try:
        if "IDLE" not in connection.able:
            return
        await connection.command("EXAMINE", Text(inbox))
        heard()  # who knows what happened before somebody listened
        while True:
            await connection.idle(heard, for_s=RENEW_S)
    except CommandRefused:
        return  # it says that it is able to, and is not
    finally:
        with trio.CancelScope(shield=True):  # it only forgets the socket, and never waits for the server
            await connection.aclose()
