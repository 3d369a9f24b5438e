"""Sends a mail to a submission server, with one connection for each mail.

Theory. No server accepts a mail before the last byte of ``CRLF.CRLF`` was given to the socket. After a failure before
that, the mail is not sent, and may be tried again. After that byte, only a reply says what happened; without one the
outcome is unknown. The fault says so (``may_have_happened``), and no other code has to find out.

If one recipient is refused, nothing is sent (no DATA): a mail that reaches only some recipients is worse than none.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NoReturn

import trio

from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.faults import MailServerFault, hung_up, in_the_clear, login_fault, silent
from svc.mail.providers.imap.login import BEARERS, Login
from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.servers import MailServer
from svc.mail.providers.imap.submission.replies import Replies, Reply, offers, stuffed

REPLY_S: Final = 300.0
"""The deadline for most commands (RFC 5321, 4.5.3.2)."""
TAKEN_S: Final = 570.0
"""The deadline after the end of a mail. The same section says ten minutes; this is a little less than our limit for a
whole attempt."""
PIECE_S: Final = 180.0
READ_BYTES: Final = 16 * 1024
SEND_BYTES: Final = 64 * 1024
OURSELVES: Final = "[127.0.0.1]"
"""Our name in EHLO, so that the name of the user's computer stays private."""


@dataclass(frozen=True, kw_only=True)
class Envelope:
    sender: str
    recipients: Sequence[str]


@dataclass(kw_only=True)
class SubmissionSession:
    """Made by :func:`signed_in`."""

    server: MailServer
    _stream: trio.abc.Stream
    _replies: Replies = field(default_factory=Replies)
    offered: Mapping[str, str] = field(default_factory=dict)

    async def submit(self, envelope: Envelope, raw: bytes) -> Reply:
        """Sends the mail. Returns the reply that accepts it. Raises :class:`MailServerFault`."""
        parameters = self._parameters(envelope, raw)
        await self._demand(f"MAIL FROM:<{envelope.sender}>{parameters}", "does not let you send as this address")
        for recipient in envelope.recipients:
            await self._demand(f"RCPT TO:<{recipient}>", f"does not take mail for {recipient}")
        await self._demand("DATA", "does not take this mail")
        await self._send(stuffed(raw), is_mail=True)
        reply = await self._reply(within_s=TAKEN_S, may_have_happened=True)
        if not reply.good:
            self._refuse(reply, "does not take this mail")
        return reply

    async def say_goodbye(self) -> None:
        """Ends the session. Never raises a fault, since the outcome of the mail is decided before."""
        with trio.move_on_after(1.0):
            with suppress(MailServerFault):
                await self._ask("QUIT")
        await trio.aclose_forcefully(self._stream)

    async def aclose(self) -> None:
        await trio.aclose_forcefully(self._stream)

    def _parameters(self, envelope: Envelope, raw: bytes) -> str:
        found = ""
        limit = self.offered.get("SIZE", "")
        if limit.isdigit() and 0 < int(limit) < len(raw):
            raise MailServerFault(
                "refused", f"This mail is larger than the {int(limit) >> 20} MiB that {self.server} takes."
            )
        if "SIZE" in self.offered:
            found += f" SIZE={len(raw)}"
        if "8BITMIME" in self.offered and not raw.isascii():
            found += " BODY=8BITMIME"
        for address in (envelope.sender, *envelope.recipients):
            if any(one in address for one in "<>\r\n\0") or not address:
                raise MailServerFault("refused", f"{address!r} is no address that a mail can go to.")
        if not all(address.isascii() for address in (envelope.sender, *envelope.recipients)):
            if "SMTPUTF8" not in self.offered:
                raise MailServerFault("refused", f"{self.server} takes only addresses of plain letters (no SMTPUTF8).")
            found += " SMTPUTF8"
        return found

    # The dialogue

    async def begin(self, dialler: Dialler) -> None:
        if self.server.security == "starttls":
            try:
                await self._open()
                await self._ask_for_tls()
            except MailServerFault as fault:
                raise in_the_clear(fault, host=str(self.server)) from fault
            self._stream = await dialler.secure(self._stream, self.server)
            await self._greet()
        else:
            await self._open()

    async def _open(self) -> None:
        greeting = await self._reply(within_s=REPLY_S)
        if greeting.status != 220:
            self._refuse(greeting, "does not take mail at the moment")
        await self._greet()

    async def _ask_for_tls(self) -> None:
        if "STARTTLS" not in self.offered:
            raise MailServerFault(
                "tls_failed", f"{self.server} offers no STARTTLS there, and a password is never sent in the clear."
            )
        await self._demand("STARTTLS", "refuses STARTTLS", status=220)
        if not self._replies.is_between:
            raise MailServerFault("tls_failed", f"{self.server} went on talking before the connection was secret.")

    async def sign_in(self, login: Login) -> None:
        mechanisms = self.offered.get("AUTH", "").upper().split()
        if not login.is_sayable:
            raise login_fault(host=str(self.server), code="", said="")
        if login.by == "token":
            reply = await self._by_token(login, mechanisms)
        elif "PLAIN" in mechanisms or "LOGIN" not in mechanisms:
            reply = await self._ask(f"AUTH PLAIN {login.plain()}")
        else:
            reply = await self._ask("AUTH LOGIN")
            for answer in (login.username, login.secret):
                if reply.status == 334:
                    reply = await self._ask(base64.b64encode(answer.encode()).decode())
        if reply.status == 235:
            return
        if reply.passing and reply.status != 432:
            raise MailServerFault("busy", f"{self.server} has trouble of its own at the moment.", said=reply.said)
        raise login_fault(host=str(self.server), code="", said=reply.said, by=login.by)

    async def _by_token(self, login: Login, mechanisms: Sequence[str]) -> Reply:
        offered = next((one for one in BEARERS if one in mechanisms), None)
        if offered is None:
            raise MailServerFault("refused", f"{self.server} takes no sign-in by its provider's page (OAuth).")
        reply = await self._ask(f"AUTH {offered} {login.bearer(offered)}")
        return await self._ask("") if reply.status == 334 else reply  # 334 gives the reason of a failure, and waits

    async def _greet(self) -> None:
        reply = await self._ask(f"EHLO {OURSELVES}")
        if not reply.good:
            raise MailServerFault("not_smtp", f"{self.server} does not speak SMTP as it is today.", said=reply.said)
        self.offered = offers(reply.lines)

    async def _demand(self, line: str, refused: str, *, status: int = 0) -> None:
        reply = await self._ask(line)
        if not reply.good or (status and reply.status != status):
            self._refuse(reply, refused)

    def _refuse(self, reply: Reply, what: str) -> NoReturn:
        said = f": {reply.said}" if reply.said else ""
        raise MailServerFault(
            "busy" if reply.passing else "refused",
            f"{self.server} {what} ({reply.status}{said}).",
            said=reply.said,
        )

    async def _ask(self, line: str) -> Reply:
        await self._send(line.encode() + b"\r\n")
        return await self._reply(within_s=REPLY_S)

    async def _send(self, data: bytes, *, is_mail: bool = False) -> None:
        """Sends in pieces. An incomplete mail is never accepted, so only after the last piece may it have been sent."""
        view = memoryview(data)
        for start in range(0, len(view), SEND_BYTES):
            is_end = is_mail and start + SEND_BYTES >= len(view)
            try:
                with trio.move_on_after(PIECE_S):
                    await self._stream.send_all(view[start : start + SEND_BYTES])
                    continue
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                raise hung_up(str(self.server), may_have_happened=is_end) from None
            raise silent(str(self.server), may_have_happened=is_end)

    async def _reply(self, *, within_s: float, may_have_happened: bool = False) -> Reply:
        server = str(self.server)
        with trio.move_on_after(within_s):
            try:
                while (reply := self._replies.next()) is None:
                    data = await self._stream.receive_some(READ_BYTES)
                    if not data:
                        raise hung_up(server, may_have_happened=may_have_happened)
                    self._replies.feed(data)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                raise hung_up(server, may_have_happened=may_have_happened) from None
            except ProtocolFault as fault:
                raise MailServerFault(
                    "not_smtp", f"The mail server {server} {fault.detail}.", may_have_happened=may_have_happened
                ) from None
            return reply
        raise silent(server, may_have_happened=may_have_happened)


async def greeted_by(dialler: Dialler, server: MailServer) -> SubmissionSession:
    """A TLS session without a sign-in yet. Raises :class:`MailServerFault`; nothing happened then."""
    stream = await dialler.open(server)
    try:
        if server.security == "tls":
            stream = await dialler.secure(stream, server)
        session = SubmissionSession(server=server, _stream=stream)
        await session.begin(dialler)
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return session


async def signed_in(dialler: Dialler, server: MailServer, login: Login) -> SubmissionSession:
    """A session that is signed in. Raises :class:`MailServerFault`; nothing happened then."""
    session = await greeted_by(dialler, server)
    try:
        await session.sign_in(login)
    except BaseException:
        await session.aclose()
        raise
    return session
