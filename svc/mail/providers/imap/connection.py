"""One connection to an IMAP server: greeting, TLS, sign-in, and one command after the other.

Everything that a server says until a command is done is the command's answer. Every wait has a deadline, and a command
that was not heard to its end leaves a connection that is not used any more: what it did is not known.

Never is a password said before the connection is secret, whatever a server offers: a server that greets with
``PREAUTH``, takes no STARTTLS, or has said something ahead of it is left.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final, TypeVar

import msgspec
import trio

from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.faults import MailServerFault, busy_fault, hung_up, login_fault, silent
from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.protocol.framing import Framer
from svc.mail.providers.imap.protocol.responses import (
    Capabilities,
    Enabled,
    GoOn,
    Response,
    State,
    response,
)
from svc.mail.providers.imap.protocol.writing import AtOnce, Plain, Text, Word, written
from svc.mail.providers.imap.servers import Certificate, MailServer

SILENCE_S: Final = 60.0
"""A server that says nothing for so long while an answer is due has gone."""
COMMAND_S: Final = 900.0
"""Of one command in all: a large mail by a slow line is under way for long."""
READ_BYTES: Final = 64 * 1024
MAX_RESPONSES: Final = 2_000_000
"""Of one answer: more than any mailbox has messages that one command asks about."""

NOBODYS_PIN: Final = "0" * 64

_Kind = TypeVar("_Kind", bound=Response)


class CommandRefused(Exception):
    """The server said NO or BAD. The connection goes on."""

    def __init__(self, state: State) -> None:
        super().__init__(state.words)
        self.state = state

    @property
    def code(self) -> str:
        return self.state.code.name if self.state.code else ""


@dataclass(frozen=True)
class Answer:
    """``done`` is its last response, with the command's own tag."""

    responses: Sequence[Response]
    done: State

    def all(self, kind: type[_Kind]) -> Iterator[_Kind]:
        return (one for one in self.responses if isinstance(one, kind))

    def codes(self) -> dict[str, tuple[bytes, ...]]:
        """Response codes by name, wherever in the answer they stood."""
        return {one.code.name: one.code.arguments for one in self.all(State) if one.code is not None}


@dataclass(kw_only=True)
class ImapConnection:
    """Made by :func:`connected`. One command at a time."""

    server: MailServer
    _stream: trio.abc.Stream
    _framer: Framer = field(default_factory=Framer)
    _tags: Iterator[int] = field(default_factory=lambda: count(1))
    able: frozenset[str] = frozenset()
    """What the server says it is able to do, in capitals."""
    enabled: frozenset[str] = frozenset()
    usable: bool = True

    async def command(self, *words: Word | str) -> Answer:
        """Raises :class:`CommandRefused`, or :class:`MailServerFault`, after which the connection is of no use."""
        tag = f"s{next(self._tags)}"
        pieces = written(tag, [Plain(one) if isinstance(one, str) else one for one in words], at_once=self._at_once)
        found: list[Response] = []
        with self._whole(may_have_happened=True):
            with trio.move_on_after(COMMAND_S):
                *first, last = pieces
                for piece in first:
                    await self._send(piece)
                    done = await self._until_tagged(tag, found, or_go_on=True)
                    if done is not None:
                        return self._answered(found, done)
                await self._send(last)
                done = await self._until_tagged(tag, found)
                assert done is not None
                return self._answered(found, done)
            raise silent(str(self.server), may_have_happened=True)

    async def greeted(self) -> None:
        """The server's first words. Raises :class:`MailServerFault`."""
        with self._whole():
            first = await self._next()
            if not isinstance(first, State) or first.tag is not None:
                raise MailServerFault("not_imap", f"{self.server} does not speak IMAP.")
            if first.outcome == "PREAUTH":
                raise MailServerFault("tls_failed", f"{self.server} wants to go on without a secret connection.")
            if first.outcome != "OK":
                busy = busy_fault(host=str(self.server), code=first.code.name if first.code else "", said=first.words)
                raise busy or hung_up(str(self.server), may_have_happened=False, said=first.words)
            if first.code is not None and first.code.name == "CAPABILITY":
                self.able = _upper(first.code.arguments)

    async def ask_able(self) -> None:
        answer = await self.command("CAPABILITY")
        self.able = next((one.names for one in answer.all(Capabilities)), self.able)

    async def start_tls(self, dialler: Dialler) -> None:
        """Raises :class:`MailServerFault` ``tls_failed`` where the server does not go along."""
        if not self.able:
            await self.ask_able()
        if "STARTTLS" not in self.able:
            raise MailServerFault(
                "tls_failed", f"{self.server} offers no STARTTLS there, and a password is never sent in the clear."
            )
        try:
            await self.command("STARTTLS")
        except CommandRefused as refused:
            raise MailServerFault(
                "tls_failed", f"{self.server} refuses STARTTLS.", said=refused.state.words
            ) from refused
        if not self._framer.is_between or self._framer.next() is not None:
            self.usable = False  # said before the secret began, so anybody's (RFC 9051, 6.2.1)
            raise MailServerFault("tls_failed", f"{self.server} went on talking before the connection was secret.")
        self._stream = await dialler.secure(self._stream, self.server)
        self._framer = Framer()
        self.able = frozenset()  # what was said in the clear counts for nothing

    async def sign_in(self, username: str, password: str) -> None:
        """Raises :class:`MailServerFault`: ``auth_failed`` and its like, or that it passes."""
        if not self.able:
            await self.ask_able()
        user, secret = username.encode(), password.encode()
        if b"\0" in user + secret:
            raise login_fault(host=str(self.server), code="", said="")
        plain = base64.b64encode(b"\0" + user + b"\0" + secret)
        try:
            if "AUTH=PLAIN" in self.able and "SASL-IR" in self.able:
                answer = await self.command("AUTHENTICATE", "PLAIN", Plain(plain.decode()))
            elif "AUTH=PLAIN" in self.able:
                answer = await self._authenticate_plain(plain)
            elif "LOGINDISABLED" in self.able:
                raise MailServerFault("oauth_only", f"{self.server} takes no passwords.")
            else:
                answer = await self.command("LOGIN", Text(user), Text(secret))
        except CommandRefused as refused:
            raise login_fault(host=str(self.server), code=refused.code, said=refused.state.words) from refused
        told = answer.codes().get("CAPABILITY")
        listed = next((one.names for one in answer.all(Capabilities)), None)
        self.able = _upper(told) if told else listed or frozenset()
        if not self.able or "IDLE" not in self.able:  # some tell only a part of it (iCloud)
            await self.ask_able()

    async def enable(self, *names: str) -> None:
        """Only what the server confirms counts (RFC 5161)."""
        wanted = [name for name in names if name in self.able]
        if not wanted or "ENABLE" not in self.able:
            return
        try:
            answer = await self.command("ENABLE", *wanted)
        except CommandRefused:
            return
        self.enabled = frozenset(name for one in answer.all(Enabled) for name in one.names)

    async def aclose(self) -> None:
        self.usable = False
        await trio.aclose_forcefully(self._stream)

    @property
    def _at_once(self) -> AtOnce:
        return "any" if "LITERAL+" in self.able else "small" if "LITERAL-" in self.able else "none"

    async def _authenticate_plain(self, plain: bytes) -> Answer:
        """Where the server has to ask first (RFC 3501, 6.2.2)."""
        tag = f"s{next(self._tags)}"
        found: list[Response] = []
        with self._whole():
            await self._send(f"{tag} AUTHENTICATE PLAIN\r\n".encode())
            done = await self._until_tagged(tag, found, or_go_on=True)
            if done is None:
                await self._send(plain + b"\r\n")
                done = await self._until_tagged(tag, found)
            assert done is not None
            return self._answered(found, done)

    def _answered(self, found: list[Response], done: State) -> Answer:
        found.append(done)
        if done.outcome == "OK":
            return Answer(found, done)
        busy = busy_fault(host=str(self.server), code=done.code.name if done.code else "", said=done.words)
        if busy is not None and busy.reason != "busy":
            raise busy
        raise CommandRefused(done)

    async def _until_tagged(self, tag: str, found: list[Response], *, or_go_on: bool = False) -> State | None:
        """The command's end; ``None`` for ``+`` where the rest of the command is waited for."""
        while True:
            one = await self._next()
            match one:
                case State(tag=None, outcome="BYE"):
                    busy = busy_fault(host=str(self.server), code=one.code.name if one.code else "", said=one.words)
                    raise busy or hung_up(str(self.server), may_have_happened=True, said=one.words)
                case State() if one.tag == tag:
                    return one
                case GoOn() if or_go_on:
                    return None
                case GoOn():
                    await self._send(b"\r\n")  # a mechanism that tells why it fails wants to be answered
                case _:
                    found.append(one)
            if len(found) > MAX_RESPONSES:
                raise ProtocolFault("answered without an end")

    async def _next(self) -> Response:
        while (frame := self._framer.next()) is None:
            with trio.move_on_after(SILENCE_S):
                data = await self._stream.receive_some(READ_BYTES)
                if not data:
                    raise hung_up(str(self.server), may_have_happened=True)
                self._framer.feed(data)
                continue
            raise silent(str(self.server), may_have_happened=True)
        return response(frame)

    async def _send(self, data: bytes) -> None:
        """By pieces, so that a slow line has its deadline for each."""
        view = memoryview(data)
        for start in range(0, len(view), READ_BYTES):
            with trio.move_on_after(SILENCE_S):
                await self._stream.send_all(view[start : start + READ_BYTES])
                continue
            raise silent(str(self.server), may_have_happened=True)

    def _whole(self, *, may_have_happened: bool = False) -> _Whole:
        return _Whole(self, may_have_happened=may_have_happened)


class _Whole:
    """What was not heard to its end leaves a connection that is not used any more."""

    def __init__(self, connection: ImapConnection, *, may_have_happened: bool) -> None:
        self._connection = connection
        self._may_have_happened = may_have_happened

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> None:
        if fault is None or isinstance(fault, CommandRefused):
            return
        self._connection.usable = False
        server = str(self._connection.server)
        if isinstance(fault, trio.BrokenResourceError | trio.ClosedResourceError):
            raise hung_up(server, may_have_happened=self._may_have_happened) from None
        if isinstance(fault, ProtocolFault):
            raise MailServerFault(
                "not_imap", f"The mail server {server} {fault.detail}.", may_have_happened=self._may_have_happened
            ) from None


async def connected(dialler: Dialler, server: MailServer, *, username: str, password: str) -> ImapConnection:
    """A connection that is signed in. Raises :class:`MailServerFault`."""
    connection = await greeted(dialler, server)
    try:
        await connection.sign_in(username, password)
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


def _upper(names: Sequence[bytes]) -> frozenset[str]:
    return frozenset(name.decode("latin-1").upper() for name in names)
