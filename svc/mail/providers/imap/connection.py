"""One connection to an IMAP server: greeting, TLS, and one command after the other.

All responses until a command is done belong to its answer. Every wait has a deadline. After a command whose answer did
not come completely, the connection is not used any more, since the outcome is not known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

import trio

from svc.mail.providers.imap.answers import Answer, CommandRefused
from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.faults import MailServerFault, busy_fault, hung_up, in_the_clear, silent
from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.protocol.framing import Framer
from svc.mail.providers.imap.protocol.messages import Message
from svc.mail.providers.imap.protocol.responses import (
    Capabilities,
    Enabled,
    Exists,
    Expunged,
    GoOn,
    Response,
    State,
    Vanished,
    response,
)
from svc.mail.providers.imap.protocol.writing import AtOnce, Plain, Words, written
from svc.mail.providers.imap.servers import MailServer

SILENCE_S: Final = 60.0
"""A server that sends nothing for this long while an answer is due counts as gone."""
COMMAND_S: Final = 900.0
"""The limit for one whole command. Long, since a large mail takes time on a slow line."""
READ_BYTES: Final = 64 * 1024
MAX_RESPONSES: Final = 2_000_000
"""The most responses of one answer: more than the messages of any mailbox that one command asks about."""

_HAPPENINGS: Final = (Exists, Expunged, Vanished, Message)
"""The responses that report a change of the folder. Others only keep the connection alive."""


@dataclass(kw_only=True)
class ImapConnection:
    """Made by :func:`~svc.mail.providers.imap.opening.connected`. One command at a time."""

    server: MailServer
    _stream: trio.abc.Stream
    _framer: Framer = field(default_factory=Framer)
    _tags: Iterator[int] = field(default_factory=lambda: count(1))
    able: frozenset[str] = frozenset()
    """The server's capabilities, in capital letters."""
    enabled: frozenset[str] = frozenset()
    usable: bool = True

    async def command(self, *words: Words | str, when_asked: str | None = None) -> Answer:
        """Sends one command. Raises :class:`CommandRefused`, or :class:`MailServerFault`, after which the connection is
        not usable. ``when_asked``: a line that is sent when the server asks for it, after the command.
        """
        tag = f"s{next(self._tags)}"
        pieces = written(tag, [Plain(one) if isinstance(one, str) else one for one in words], at_once=self._at_once)
        found: list[Response] = []
        with self._whole(may_have_happened=True):
            with trio.move_on_after(COMMAND_S):
                *first, last = (*pieces, *([] if when_asked is None else [f"{when_asked}\r\n".encode()]))
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
        """Reads the server's greeting. Raises :class:`MailServerFault`."""
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
                self.able = upper(first.code.arguments)

    async def ask_able(self) -> None:
        try:
            answer = await self.command("CAPABILITY")
        except CommandRefused as refused:
            raise MailServerFault(
                "not_imap", f"{self.server} does not say what it is able to do.", said=refused.state.words
            ) from refused
        self.able = next((one.names for one in answer.all(Capabilities)), self.able)

    async def start_tls(self, dialler: Dialler) -> None:
        """Reads the greeting and begins TLS. Raises :class:`MailServerFault`, mostly ``tls_failed``. Nothing that came
        before TLS counts after it, not even as the words of a fault."""
        try:
            await self.greeted()
            await self._ask_for_tls()
        except MailServerFault as fault:
            raise in_the_clear(fault, host=str(self.server)) from fault
        self._stream = await dialler.secure(self._stream, self.server)
        self._framer = Framer()
        self.able = frozenset()

    async def _ask_for_tls(self) -> None:
        if not self.able:
            await self.ask_able()
        if "STARTTLS" not in self.able:
            raise MailServerFault(
                "tls_failed", f"{self.server} offers no STARTTLS there, and a password is never sent in the clear."
            )
        try:
            await self.command("STARTTLS")
        except CommandRefused as refused:
            raise MailServerFault("tls_failed", f"{self.server} refuses STARTTLS.") from refused
        if not self._framer.is_between or self._framer.next() is not None:
            self.usable = False  # sent before TLS began, so anyone may have sent it (RFC 9051, 6.2.1)
            raise MailServerFault("tls_failed", f"{self.server} went on talking before the connection was secret.")

    async def enable(self, *names: str) -> None:
        """Enables extensions. Only those that the server confirms count (RFC 5161)."""
        wanted = [name for name in names if name in self.able]
        if not wanted or "ENABLE" not in self.able:
            return
        try:
            answer = await self.command("ENABLE", *wanted)
        except CommandRefused:
            return
        self.enabled = frozenset(name for one in answer.all(Enabled) for name in one.names)

    async def idle(self, heard: Callable[[], None], *, for_s: float) -> None:
        """For ``for_s`` seconds, calls ``heard`` at each change in the open folder (RFC 2177). Raises as a command
        does."""
        tag = f"s{next(self._tags)}"
        found: list[Response] = []
        with self._whole():
            await self._send(f"{tag} IDLE\r\n".encode())
            refused = await self._until_tagged(tag, found, or_go_on=True)
            if refused is not None:
                raise CommandRefused(refused)
            with trio.move_on_after(for_s):
                while True:
                    one = await self._next(silence_s=math.inf)
                    if isinstance(one, State) and (one.tag == tag or one.outcome == "BYE"):
                        raise hung_up(str(self.server), may_have_happened=False, said=one.words)
                    if isinstance(one, _HAPPENINGS):
                        heard()
            await self._send(b"DONE\r\n")
            done = await self._until_tagged(tag, found)
            assert done is not None
            self._answered(found, done)
        if any(isinstance(one, _HAPPENINGS) for one in found):
            heard()

    async def aclose(self) -> None:
        self.usable = False
        await trio.aclose_forcefully(self._stream)

    @property
    def _at_once(self) -> AtOnce:
        return "any" if "LITERAL+" in self.able else "small" if "LITERAL-" in self.able else "none"

    def _answered(self, found: list[Response], done: State) -> Answer:
        found.append(done)
        if done.outcome == "OK":
            return Answer(found, done)
        busy = busy_fault(host=str(self.server), code=done.code.name if done.code else "", said=done.words)
        if busy is not None and (busy.reason != "busy" or busy.retry_after_s is not None):
            raise busy  # of the whole account, and not of what this command asks
        raise CommandRefused(done)

    async def _until_tagged(self, tag: str, found: list[Response], *, or_go_on: bool = False) -> State | None:
        """Reads until the command's last response. ``None``: the server asks for the rest of the command (``+``)."""
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
                    await self._send(b"\r\n")  # a mechanism that reports why it fails needs an empty answer
                case _:
                    found.append(one)
            if len(found) > MAX_RESPONSES:
                raise ProtocolFault("answered without an end")

    async def _next(self, *, silence_s: float = SILENCE_S) -> Response:
        while (frame := self._framer.next()) is None:
            with trio.move_on_after(silence_s):
                data = await self._stream.receive_some(READ_BYTES)
                if not data:
                    raise hung_up(str(self.server), may_have_happened=True)
                self._framer.feed(data)
                continue
            raise silent(str(self.server), may_have_happened=True)
        return response(frame)

    async def _send(self, data: bytes) -> None:
        """Sends in pieces, so that on a slow line each piece has its own deadline."""
        view = memoryview(data)
        for start in range(0, len(view), READ_BYTES):
            with trio.move_on_after(SILENCE_S):
                await self._stream.send_all(view[start : start + READ_BYTES])
                continue
            raise silent(str(self.server), may_have_happened=True)

    def _whole(self, *, may_have_happened: bool = False) -> _Whole:
        return _Whole(self, may_have_happened=may_have_happened)


class _Whole:
    """Makes the connection unusable if its body fails before the answer is complete."""

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


def upper(names: Sequence[bytes]) -> frozenset[str]:
    """Capabilities in the form in which they are compared."""
    return frozenset(name.decode("latin-1").upper() for name in names)
