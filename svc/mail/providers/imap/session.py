"""The one connection of an account to its IMAP server: opened when it is needed, and anew where it ended.

One user of it at a time (:meth:`ImapSession.turn`). It knows which folder is open, and what the server is able to do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import trio

from svc.mail.providers.imap import labels
from svc.mail.providers.imap.answers import Answer, CommandRefused
from svc.mail.providers.imap.connection import ImapConnection
from svc.mail.providers.imap.faults import MailServerFault
from svc.mail.providers.imap.protocol.responses import Exists
from svc.mail.providers.imap.protocol.values import Atom, number
from svc.mail.providers.imap.protocol.writing import Text, Words

BROKEN_QRESYNC: Final = ("imap.mail.me.com",)
"""Servers that say they are able to, and lose what vanished (iCloud)."""
IDLE_S: Final = 240.0
"""A connection that was not used for so long may have died without a word (NAT): it is opened anew."""
ASK_S: Final = 10.0
"""One that was not used for so long is asked whether it is still there, before it is used for more."""

Connect = Callable[[], Awaitable[ImapConnection]]


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A folder as it was when it was opened. ``modseq`` is 0 where the server keeps none for it."""

    name: bytes
    uid_validity: int
    uid_next: int
    modseq: int
    messages: int
    takes_keywords: bool


@dataclass(kw_only=True)
class Using:
    """The connection, for who has its turn. Raises :class:`MailServerFault` and :class:`CommandRefused`."""

    connection: ImapConnection
    opened: Opened | None = None
    used_at_s: float = 0.0

    @property
    def able(self) -> frozenset[str]:
        return self.connection.able

    @property
    def tells_vanished(self) -> bool:
        return "QRESYNC" in self.connection.enabled

    @property
    def keeps_modseq(self) -> bool:
        return bool({"CONDSTORE", "QRESYNC"} & self.able)

    @property
    def keeps_labels(self) -> bool:
        return labels.ABILITY in self.able

    async def command(self, *words: Words | str) -> Answer:
        return await self.connection.command(*words)

    async def open(self, name: bytes, *, anew: bool = False) -> Opened:
        """Open a folder, to read and to change."""
        if self.opened is not None and self.opened.name == name and not anew:
            return self.opened
        self.opened = None
        answer = await self.command("SELECT", Text(name))
        codes = answer.codes()
        self.opened = Opened(
            name=name,
            uid_validity=_number(codes.get("UIDVALIDITY")) or 1,  # servers without one never count anew
            uid_next=_number(codes.get("UIDNEXT")),
            modseq=_number(codes.get("HIGHESTMODSEQ")) if "NOMODSEQ" not in codes else 0,
            messages=max((one.messages for one in answer.all(Exists)), default=0),
            takes_keywords=b"\\*" in codes.get("PERMANENTFLAGS", ()),
        )
        return self.opened

    async def leave(self) -> None:
        """Close what is open without a change, so that its state is told like that of any other folder."""
        if self.opened is None:
            return
        self.opened = None
        if "UNSELECT" in self.able:
            await self.command("UNSELECT")
        else:
            await self.command("NOOP")


@dataclass(kw_only=True)
class ImapSession:
    """``connect`` opens and signs in."""

    connect: Connect
    _turn: trio.Lock = field(default_factory=trio.Lock)
    _using: Using | None = None
    keeps_labels: bool = False
    """As the server said last; before anybody asked it, that it does not."""

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Using]:
        """Raises :class:`MailServerFault`. A connection that was left in the middle of a command is ended."""
        async with self._turn:
            using = await self._ready()
            try:
                yield using
            finally:
                using.used_at_s = trio.current_time()
                if not using.connection.usable:
                    await self._end()

    async def aclose(self) -> None:
        await self._end()

    async def _ready(self) -> Using:
        using = self._using
        if using is not None and trio.current_time() - using.used_at_s > IDLE_S:
            await self._end()
            using = None
        if using is not None and trio.current_time() - using.used_at_s <= ASK_S:
            return using
        if using is not None:
            try:
                await using.command("NOOP")
            except (CommandRefused, MailServerFault):  # servers end what they find idle; that is nobody's trouble
                await self._end()
            else:
                return using
        connection = await self.connect()
        self._using = Using(connection=connection, used_at_s=trio.current_time())
        self.keeps_labels = self._using.keeps_labels
        if connection.server.host not in BROKEN_QRESYNC:
            await connection.enable("QRESYNC")
        return self._using

    async def _end(self) -> None:
        using, self._using = self._using, None
        if using is not None:
            with trio.CancelScope(shield=True):  # it only forgets the socket, and never waits for the server
                await using.connection.aclose()


def _number(arguments: tuple[bytes, ...] | None) -> int:
    return number(Atom(arguments[0])) if arguments and arguments[0].isdigit() else 0
