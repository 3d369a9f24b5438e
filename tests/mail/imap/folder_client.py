"""A mailbox at a server with folders, behind the seam and without a service: killed at any step, and started anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import trio
import trio.testing

from svc.clock import VirtualClock
from svc.mail.providers.imap.answers import Answer
from svc.mail.providers.imap.connection import ImapConnection
from svc.mail.providers.imap.protocol.writing import Words
from svc.mail.providers.imap.provider import ImapProvider
from svc.mail.providers.seam import HistoryChange
from svc.nursery import ThreadPool
from svc.store import Store, Tx
from tests.mail.bare import bare_tx
from tests.mail.dying import Steps, Transactions
from tests.mail.imap.folder_server import FolderServer
from tests.mail.imap.scripted_server import SERVER, Wire
from tests.recorded_log import RecordedLog


@dataclass(kw_only=True)
class Connection(ImapConnection):
    """Each command is done at the server or not, and heard of or not."""

    steps: Steps

    async def command(self, *words: Words | str, when_asked: str | None = None) -> Answer:
        self.steps.step()
        answer = await super().command(*words, when_asked=when_asked)
        self.steps.step()
        return answer


@dataclass(kw_only=True)
class FolderClient:
    """The service, as often as it is started anew. ``told``: what it heard of the mailbox in all its lives."""

    wall: VirtualClock
    nursery: trio.Nursery
    server: FolderServer
    tx: Tx = field(default_factory=bare_tx)
    told: list[HistoryChange] = field(default_factory=list)
    cursor: str = ""
    log: RecordedLog = field(init=False)

    def __post_init__(self) -> None:
        self.log = RecordedLog(self.wall)
        self.tx.run(
            """
            insert or ignore into mail_accounts (id, owner_id, address, provider, state, created_at)
            values ('acc', 'usr', 'mia@example.org', 'imap', 'caught-up', 0)
            """
        )

    def started(self, *, last: int | None = None) -> tuple[ImapProvider, Steps]:
        steps = Steps(last)

        async def connect() -> ImapConnection:
            ours, theirs = trio.testing.memory_stream_pair()
            self.nursery.start_soon(self.server.serve, Wire(stream=theirs))
            connection = Connection(server=SERVER, _stream=ours, steps=steps)
            await connection.greeted()
            return connection

        provider = ImapProvider(
            account_id="acc",
            address="mia@example.org",
            store=cast(Store, Transactions(self.tx, steps)),
            blobs=cast(Any, None),
            threads=ThreadPool(limit=1, name="test"),
            clock=self.wall,
            log=self.log,
            connect=connect,
            sign_in=cast(Any, None),
        )
        return provider, steps

    async def look(self, provider: ImapProvider | None = None) -> Sequence[HistoryChange]:
        page = await (provider or self.started()[0]).history(since=self.cursor)
        self.told += page.changes
        self.cursor = page.cursor
        return page.changes

    def places(self) -> dict[str, str]:
        """The folder of each message that is known here, by its id."""
        rows = self.tx.all("select p.id, f.name from mail_imap_places p join mail_imap_folders f on f.id = p.folder_id")
        return {str(message_id): cast(bytes, name).decode() for message_id, name in rows}
