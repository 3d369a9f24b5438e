"""A mailbox by IMAP and SMTP, behind the seam.

The state of its server is stored in tables (``rows``). So ids stay the same when messages are moved, and each change is
reported once, in order, even if the process dies: the cursor is the number of the last change that sync has applied.
Each call for the history looks at the server first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import trio

from svc.clock import Clock, Millis
from svc.log import Log
from svc.mail.model import IMPORTANT, SENT
from svc.mail.providers.folders import FLAGS, KEYWORD, ROLES
from svc.mail.providers.imap import roles
from svc.mail.providers.imap.answers import CommandRefused
from svc.mail.providers.imap.changing import Changing, remove_left
from svc.mail.providers.imap.connection import ImapConnection
from svc.mail.providers.imap.drafting import Drafting
from svc.mail.providers.imap.faults import MailServerFault
from svc.mail.providers.imap.fetching import Fetching
from svc.mail.providers.imap.idling import idle
from svc.mail.providers.imap.leaving import Leaving
from svc.mail.providers.imap.looking import Look
from svc.mail.providers.imap.relabelling import Relabelling
from svc.mail.providers.imap.rows import changes as change_rows
from svc.mail.providers.imap.rows import folders as folder_rows
from svc.mail.providers.imap.rows import keywords as keyword_rows
from svc.mail.providers.imap.rows import queries
from svc.mail.providers.imap.rows.model import Kept
from svc.mail.providers.imap.seam_faults import as_of_mail
from svc.mail.providers.imap.session import ImapSession, Using
from svc.mail.providers.imap.submission.session import SubmissionSession
from svc.mail.providers.seam import (
    Capabilities,
    HistoryExpired,
    HistoryPage,
    Listed,
    ListPage,
    MessageGone,
    MessageRef,
    Profile,
    ProviderLabel,
    RawMessage,
    Refused,
    SendingAddress,
    SentMessage,
)
from svc.nursery import ThreadPool, open_task_group
from svc.store import Blobs, ReadTx, Store

ABLE: Final = Capabilities(
    labels=True,
    colors=False,
    server_threads=False,
    bulk_min=2,
    bulk_max=100,
    max_message_bytes=35 << 20,
    lists_late=True,
)
ABLE_OF_THREADS: Final = replace(ABLE, server_threads=True)
CHANGES_A_PAGE: Final = 1_000


@dataclass(kw_only=True)
class ImapProvider:
    """One account's mailbox. ``connect`` opens an IMAP connection, ``sign_in`` an SMTP session."""

    account_id: str
    address: str
    store: Store
    blobs: Blobs
    threads: ThreadPool
    clock: Clock
    log: Log
    connect: Callable[[], Awaitable[ImapConnection]]
    sign_in: Callable[[], Awaitable[SubmissionSession]]
    _left_out: tuple[str, ...] = ()
    _reports: bool = False
    """Whether sync follows the history: from then on no look keeps what it finds to itself."""
    _session: ImapSession = field(init=False)
    _fetching: Fetching = field(init=False)
    _leaving: Leaving = field(init=False)

    def __post_init__(self) -> None:
        self._session = ImapSession(connect=self.connect)
        self._fetching = Fetching(
            account_id=self.account_id, session=self._session, store=self.store, look=partial(self._look, tell=True)
        )
        self._leaving = Leaving(
            account_id=self.account_id,
            address=self.address,
            store=self.store,
            blobs=self.blobs,
            threads=self.threads,
            clock=self.clock,
            sign_in=self.sign_in,
        )

    @property
    def capabilities(self) -> Capabilities:
        """Whether the server has threads of its own is known only after the first connection."""
        return ABLE_OF_THREADS if self._session.keeps_labels else ABLE

    @property
    def drafts(self) -> Drafting:
        return Drafting(
            account_id=self.account_id,
            store=self.store,
            threads=self.threads,
            clock=self.clock,
            log=self.log,
            turn=partial(self._turn, writes=True),
        )

    async def profile(self, *, listed: Listed | None = None) -> Profile:
        if not self._reports and not await self.store.read(_is_known, self.account_id):
            async with self._turn() as using:
                await self._look(using, tell=False, listed=listed)
        return await self.store.read(_profile, self.account_id, self.address)

    async def addresses(self) -> tuple[SendingAddress, ...]:
        """Empty: IMAP has no list of sender addresses."""
        return ()

    async def list_messages(
        self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
    ) -> ListPage:
        try:
            before = _place_of(page_token)
        except ValueError:
            raise Refused("This page of the mailbox is not known.") from None
        if page_token is None and not await self.store.read(_is_known, self.account_id):
            async with self._turn() as using:
                await self._looking(using, tell=False).take_newest(at_most=limit)
        found = await self.store.read(
            queries.listed, account_id=self.account_id, label=label, before=before, limit=limit
        )
        token = f"{found[-1][0]} {found[-1][1]}" if len(found) == limit else None
        refs = tuple(MessageRef(id=one, thread_id=thread) for _, one, thread in found)
        return ListPage(messages=refs, next_page_token=token)

    def expect(self, message_ids: Sequence[str]) -> None:
        self._fetching.expect(message_ids)

    async def get(self, message_id: str) -> RawMessage:
        with _told():
            return await self._fetching.get(message_id)

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        if not since.isdecimal() or not (page_token or "0").isdecimal():
            raise HistoryExpired("This place in the mailbox is not known.")
        if page_token is None:
            self._reports = True
            async with self._turn() as using:
                await self._look(using, tell=True)
            await self.store.write(change_rows.forget_changes, account_id=self.account_id, until=int(since))
        after = int(page_token or since)
        found = await self.store.read(
            change_rows.changes, account_id=self.account_id, since=after, limit=CHANGES_A_PAGE
        )
        cursor = str(found[-1][0] if found else after)
        return HistoryPage(
            changes=tuple(change for _, change in found),
            next_page_token=cursor if len(found) == CHANGES_A_PAGE else None,
            cursor=cursor,
        )

    async def modify(self, message_id: str, *, add: frozenset[str], remove: frozenset[str]) -> None:
        async with self._turn(writes=True) as using:
            rows = await self.store.read(queries.kept, account_id=self.account_id, message_ids=[message_id])
            if message_id not in rows:
                raise MessageGone("The message is gone from the server.")
            await self._change(using, [rows[message_id]], add=add, remove=remove)

    async def modify_many(self, message_ids: Sequence[str], *, add: frozenset[str], remove: frozenset[str]) -> None:
        async with self._turn(writes=True) as using:
            rows = await self.store.read(queries.kept, account_id=self.account_id, message_ids=message_ids)
            await self._change(using, list(rows.values()), add=add, remove=remove)

    async def labels(self) -> tuple[ProviderLabel, ...]:
        made = await self.store.read(_made_labels, self.account_id)
        names = (*ROLES, *sorted(FLAGS), *([IMPORTANT] if self._session.keeps_labels else []))
        system = tuple(ProviderLabel(id=name, name=name, system=True) for name in names)
        return (*system, *(ProviderLabel(id=label, name=name, system=False) for label, name in made.items()))

    async def create_label(self, name: str, *, color: str | None = None) -> ProviderLabel:
        """Makes a label if the server keeps labels, or a keyword if it accepts new ones. Otherwise makes a folder; a
        message can carry only one label of this kind."""
        async with self._turn(writes=True) as using:
            known = await self.store.read(_made_labels, self.account_id)
            if any(name.casefold() == one.casefold() for one in known.values()):
                raise Refused("There is a label of this name.")
            if using.keeps_labels:
                return await self._relabelling(using).make_label(name)
            label = KEYWORD + roles.keyword_for(name)
            if not (await using.open(b"INBOX")).takes_keywords or label in known:
                folder = await self._changing(using).make_folder(name)
                return ProviderLabel(id=folder.label, name=folder.shown, system=False)
            await self.store.write(keyword_rows.make, account_id=self.account_id, label=label, name=name)
            return ProviderLabel(id=label, name=name, system=False)

    async def send(self, raw: bytes, *, thread_id: str | None = None) -> SentMessage:
        """``thread_id`` is ignored if the server has no threads: they follow from the references between mails."""
        async with self._turn() as using:
            if using.keeps_labels:
                folder = await self._relabelling(using).all_mail()
            else:
                folder = await self._changing(using).folder(SENT)
                thread_id = None
        with _told(writes=True):
            return await self._leaving.send(raw, folder=folder, thread_id=thread_id or "")

    async def listen(self, heard: Callable[[], None]) -> None:
        async with open_task_group() as nursery:
            nursery.start_soon(self._leaving.listen, heard)
            with _told():
                await idle(self.connect, heard)
            await trio.sleep_forever()  # the server sends no notifications; those after a sent mail go on

    async def aclose(self) -> None:
        await self._session.aclose()

    def quota_used(self) -> None:
        return None

    def left_out(self) -> tuple[str, ...]:
        return self._left_out

    # The parts

    async def _look(self, using: Using, *, tell: bool, listed: Listed | None = None) -> None:
        await remove_left(self.account_id, self.store, using)
        look = self._looking(using, tell=tell, listed=listed)
        await look.take()
        self._left_out = tuple(look.left_out)
        if await self._leaving.file_copies(using):
            await look.take()

    def _looking(self, using: Using, *, tell: bool, listed: Listed | None = None) -> Look:
        return Look(
            account_id=self.account_id,
            store=self.store,
            threads=self.threads,
            clock=self.clock,
            log=self.log,
            using=using,
            tell=tell,
            listed=listed,
        )

    async def _change(self, using: Using, rows: list[Kept], *, add: frozenset[str], remove: frozenset[str]) -> None:
        changing = self._relabelling(using) if using.keeps_labels else self._changing(using)
        await changing.change(rows, add=add, remove=remove)

    def _relabelling(self, using: Using) -> Relabelling:
        return Relabelling(account_id=self.account_id, store=self.store, using=using)

    def _changing(self, using: Using) -> Changing:
        return Changing(account_id=self.account_id, store=self.store, using=using)

    @asynccontextmanager
    async def _turn(self, *, writes: bool = False) -> AsyncIterator[Using]:
        """The connection of a turn. Its faults are raised as faults of the seam."""
        with _told(writes=writes):
            async with self._session.turn() as using:
                yield using


@contextmanager
def _told(*, writes: bool = False) -> Iterator[None]:
    try:
        yield
    except (MailServerFault, CommandRefused) as fault:
        raise as_of_mail(fault, writes=writes) from fault


def _is_known(tx: ReadTx, account_id: str) -> bool:
    """Whether the first look has come to its end. If it was interrupted, the next one must not report the rest as mail
    that has just arrived."""
    folders = folder_rows.folders(tx, account_id=account_id)
    return bool(folders) and all(one.was_looked_at for one in folders)


def _profile(tx: ReadTx, account_id: str, address: str) -> Profile:
    return Profile(
        address=address,
        cursor=str(change_rows.place(tx, account_id=account_id)),
        messages_total=queries.total(tx, account_id=account_id),
    )


def _made_labels(tx: ReadTx, account_id: str) -> dict[str, str]:
    """The names of a user's own folders and keywords, by their ids."""
    folders = folder_rows.folders(tx, account_id=account_id)
    own = {one.label: one.shown for one in folders if one.label.startswith(roles.OWN_FOLDER)}
    return own | keyword_rows.named(tx, account_id=account_id)


def _place_of(token: str | None) -> tuple[Millis, str] | None:
    """The position in a page token. Raises :class:`ValueError`."""
    if token is None:
        return None
    at, _, message_id = token.partition(" ")
    return int(at), message_id
