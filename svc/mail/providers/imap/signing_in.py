"""Signs in at an IMAP server, with a mechanism that it offers. Never before TLS (``opening.py``)."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from svc import __version__
from svc.mail.providers.imap.answers import Answer, CommandRefused
from svc.mail.providers.imap.connection import ImapConnection, upper
from svc.mail.providers.imap.faults import MailServerFault, login_fault
from svc.mail.providers.imap.login import BEARERS, Login
from svc.mail.providers.imap.protocol.responses import Capabilities
from svc.mail.providers.imap.protocol.writing import Text

WANTS_A_NAME: Final = (".163.com", ".126.com", ".yeah.net", ".188.com")
"""The servers of NetEase open no folder for a program that has not said its name (RFC 2971). Others are told none."""
_NAME: Final = f'("name" "svc" "version" "{__version__}" "vendor" "svc")'
_NO_TOKENS: Final = "takes no sign-in by its provider's page (OAuth)."


async def sign_in(connection: ImapConnection, login: Login) -> None:
    """Raises :class:`MailServerFault`: ``auth_failed`` and similar reasons, or a temporary one."""
    if not connection.able:
        await connection.ask_able()
    if not login.is_sayable:
        raise login_fault(host=str(connection.server), code="", said="")
    try:
        answer = await (_by_token if login.by == "token" else _by_password)(connection, login)
    except CommandRefused as refused:
        raise login_fault(
            host=str(connection.server), code=refused.code, said=refused.state.words, by=login.by
        ) from refused
    told = answer.codes().get("CAPABILITY")
    listed = next((one.names for one in answer.all(Capabilities)), None)
    connection.able = upper(told) if told else listed or frozenset()
    if not connection.able or "IDLE" not in connection.able:  # some servers list only a part here (iCloud)
        await connection.ask_able()
    if connection.server.host.endswith(WANTS_A_NAME):
        with suppress(CommandRefused):
            await connection.command("ID", _NAME)


async def _by_password(connection: ImapConnection, login: Login) -> Answer:
    if "AUTH=PLAIN" in connection.able:
        return await _authenticate(connection, "PLAIN", login.plain())
    if "LOGINDISABLED" in connection.able:
        raise MailServerFault("oauth_only", f"{connection.server} takes no passwords.")
    return await connection.command("LOGIN", Text(login.username.encode()), Text(login.secret.encode()))


async def _by_token(connection: ImapConnection, login: Login) -> Answer:
    offered = next((one for one in BEARERS if f"AUTH={one}" in connection.able), None)
    if offered is None:
        raise MailServerFault("refused", f"{connection.server} {_NO_TOKENS}")
    return await _authenticate(connection, offered, login.bearer(offered))


async def _authenticate(connection: ImapConnection, mechanism: str, first: str) -> Answer:
    if "SASL-IR" in connection.able:
        return await connection.command("AUTHENTICATE", mechanism, first)
    return await connection.command("AUTHENTICATE", mechanism, when_asked=first)
