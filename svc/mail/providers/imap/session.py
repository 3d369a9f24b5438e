"""The one connection of an account to its IMAP server: opened when it is needed, and again after it ended.

One task uses it at a time (:meth:`ImapSession.turn`). It knows which folder is open, and the server's capabilities.
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
from svc.mail.providers.imap.protocol.responses import Exists, Namespaces
from svc.mail.providers.imap.protocol.values import Atom, number
from svc.mail.providers.imap.protocol.writing import Text, Words

BROKEN_QRESYNC: Final = ("imap.mail.me.com",)
"""Servers that announce QRESYNC, but do not report all vanished messages (iCloud)."""
IDLE_S: Final = 240.0
"""A connection that was idle for longer may have died silently (NAT), so a new one is opened."""
ASK_S: Final = 10.0
"""A connection that was idle for longer is tested with NOOP before it is used."""

NAMESPACE_REFUSALS: Final = 5
"""A server that refuses so often in a row to say which folders are the user's own counts as one that does not know. In
the meantime nothing is read: folders of other people would be taken for the user's."""

Connect = Callable[[], Awaitable[ImapConnection]]


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A folder's state when it was opened. ``modseq`` is 0 if the server has none for it."""

    name: bytes
    uid_validity: int
    uid_next: int
    modseq: int
    messages: int
    takes_keywords: bool


@dataclass(kw_only=True)
class Using:
    """The connection during a turn. Raises :class:`MailServerFault` and :class:`CommandRefused`."""

    connection: ImapConnection
    opened: Opened | None = None
    namespaces: Namespaces = field(default_factory=Namespaces)
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
        """Opens a folder for reading and changes. ``anew``: also if it is open already."""
        if self.opened is not None and self.opened.name == name and not anew:
            return self.opened
        self.opened = None
        answer = await self.command("SELECT", Text(name))
        codes = answer.codes()
        self.opened = Opened(
            name=name,
            uid_validity=_number(codes.get("UIDVALIDITY")) or 1,  # a server without it never changes its UIDs
            uid_next=_number(codes.get("UIDNEXT")),
            modseq=_number(codes.get("HIGHESTMODSEQ")) if "NOMODSEQ" not in codes else 0,
            messages=max((one.messages for one in answer.all(Exists)), default=0),
            takes_keywords=b"\\*" in codes.get("PERMANENTFLAGS", ()),
        )
        return self.opened

    async def ask_namespaces(self) -> Namespaces | None:
        """Asks which folders are the user's own. ``None``: the server does not know, or does not understand this.
        Raises :class:`CommandRefused` if it does not say it now."""
        if "NAMESPACE" not in self.able or self.keeps_labels:
            return None
        try:
            answer = await self.command("NAMESPACE")
        except CommandRefused as refused:
            if refused.state.outcome == "NO":
                raise
            return None
        return next(answer.all(Namespaces), None)

    async def leave(self) -> None:
        """Closes the open folder without a change, so that the server reports its state like that of others."""
        if self.opened is None:
            return
        self.opened = None
        if "UNSELECT" in self.able:
            await self.command("UNSELECT")
        else:
            await self.command("NOOP")


@dataclass(kw_only=True)
class ImapSession:
    """``connect`` opens a connection and signs in."""

    connect: Connect
    _turn: trio.Lock = field(default_factory=trio.Lock)
    _using: Using | None = None
    keeps_labels: bool = False
    """Whether the server keeps labels, as of the last connection; False before the first one."""
    _namespaces: Namespaces | None = None
    """As the server said last."""
    _refusals: int = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Using]:
        """Waits for its turn and gives the connection. Raises :class:`MailServerFault`. Ends a connection that was left
        in the middle of a command."""
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
            except (CommandRefused, MailServerFault):  # servers end idle connections; that is no fault
                await self._end()
            else:
                return using
        connection = await self.connect()
        try:
            using = Using(connection=connection, used_at_s=trio.current_time())
            if connection.server.host not in BROKEN_QRESYNC:
                await connection.enable("QRESYNC")
            await self._learn_namespaces(using)
        except BaseException:
            await connection.aclose()
            raise
        self._using = using
        self.keeps_labels = using.keeps_labels
        return using

    async def _learn_namespaces(self, using: Using) -> None:
        """A server that has said it once is believed until it says something else."""
        try:
            told = await using.ask_namespaces()
        except CommandRefused as refused:
            self._refusals += 1
            if self._namespaces is None and self._refusals < NAMESPACE_REFUSALS:
                host = using.connection.server.host
                detail = f"{host} does not say at the moment which folders are yours."
                raise MailServerFault("busy", detail, said=refused.state.words) from None
        else:
            self._namespaces, self._refusals = told or self._namespaces, 0
        if self._namespaces is not None:
            using.namespaces = self._namespaces

    async def _end(self) -> None:
        using, self._using = self._using, None
        if using is not None:
            with trio.CancelScope(shield=True):  # it only closes the socket, and never waits for the server
                await using.connection.aclose()


def _number(arguments: tuple[bytes, ...] | None) -> int:
    return number(Atom(arguments[0])) if arguments and arguments[0].isdigit() else 0
