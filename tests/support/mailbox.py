"""A mailbox, a store and the sync between them, without the rest of the service."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Sequence, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import Any, cast

import trio

from svc.app import FEATURES
from svc.clock import Clock
from svc.fakes.authority import AUTHORITY
from svc.fakes.mail.provider import FakeWorld
from svc.fakes.mail.records import FakeRecords
from svc.log import Log
from svc.mail.accounts import actions as account_actions
from svc.mail.accounts import queries as account_queries
from svc.mail.authentication.checking import Authenticator
from svc.mail.authentication.keys import SigningKeys
from svc.mail.ingest_steps import INGEST_STEPS
from svc.mail.model import Account, message_id_of
from svc.mail.providers.seam import Provider
from svc.mail.providers.table import Providers
from svc.mail.reading.reader import Reader
from svc.mail.search.following import CONSUMER as SEARCH_CONSUMER
from svc.mail.search.tasks import Indexer
from svc.mail.sync.account_sync import AccountSync
from svc.mail.sync.fetch import Fetcher
from svc.mail.sync.memory_budget import MemoryBudget
from svc.mail.sync.tasks import AccountLoop
from svc.mail.threads import queries as thread_queries
from svc.mail.threads.invariants import INVARIANTS
from svc.nursery import ProcessPool, Root, Subsystem, ThreadPool, open_task_group
from svc.principal import UNCLAIMED, Principal
from svc.store import Blobs, Consumer, Following, OutboxRow, ReadTx, Store, Value, rows_after
from svc.store.consumers import register
from tests.migrated import lay_database

State = dict[str, list[tuple[Any, ...]]]

MIA = "mia@example.org"


def mail(subject: str = "Hello", *, sender: str = "Noa <noa@example.org>", text: str = "Hi.", date: str = "") -> bytes:
    message = EmailMessage()
    message["From"] = sender
    message["To"] = MIA
    message["Subject"] = subject
    if date:
        message["Date"] = date
    message.set_content(text)
    return message.as_bytes()


def user(user_id: str) -> Principal:
    return Principal(user_id=user_id, device_id=f"dev_{user_id}", is_admin=False, via="session")


@dataclass(kw_only=True)
class MailSync:
    home: Path
    store: Store
    blobs: Blobs
    fake_mail: FakeWorld
    clock: Clock
    log: Log
    threads: ThreadPool
    processes: ProcessPool
    principal: Principal = UNCLAIMED
    new_budget: Callable[[], MemoryBudget] = MemoryBudget
    records: FakeRecords = field(default_factory=FakeRecords)
    rng: random.Random = field(default_factory=lambda: random.Random(7))

    async def follow(self) -> None:
        """Let search hear of all that was stored."""
        await self.following.catch_up(SEARCH_CONSUMER.name)

    @property
    def following(self) -> Following[None]:
        rows = cast("tuple[Consumer[None], ...]", (SEARCH_CONSUMER,))
        return Following(store=self.store, clock=self.clock, rng=self.rng, log=self.log, context=None, rows=rows)

    def indexer(self) -> Indexer:
        """Not running: it works when it is told."""
        return Indexer(
            store=self.store,
            blobs=self.blobs,
            threads=self.threads,
            processes=self.processes,
            log=self.log,
            follow=self.follow,
            debounce_s=0,
        )

    async def inject(
        self,
        subject: str = "Hello",
        *,
        address: str = MIA,
        thread: str | None = None,
        labels: frozenset[str] = frozenset({"INBOX", "UNREAD"}),
        raw: bytes | None = None,
    ) -> str:
        """Put a message into the mailbox at the provider. Returns the provider's id."""
        message_id, _ = await self.fake_mail.inject(
            address=address, raw=raw if raw is not None else mail(subject), thread_key=thread, labels=labels
        )
        return message_id

    async def connect(self, address: str = MIA) -> str:
        return await self.store.write(account_actions.connect, self.principal, address=address, provider="fake")

    def sync_of(self, account_id: str, provider: Provider | None = None, *, address: str = MIA) -> AccountSync:
        provider = provider or self.fake_mail.provider(address)
        fetcher = Fetcher(
            account_id=account_id,
            provider=provider,
            blobs=self.blobs,
            threads=self.threads,
            processes=self.processes,
            clock=self.clock,
            log=self.log,
            new_budget=self.new_budget,
        )
        return AccountSync(
            account_id=account_id,
            provider=provider,
            store=self.store,
            fetcher=fetcher,
            steps=INGEST_STEPS,
            log=self.log,
        )

    def loop_of(self, account_id: str, provider: Provider | None = None, *, address: str = MIA) -> AccountLoop:
        provider = provider or self.fake_mail.provider(address)
        return AccountLoop(
            account_id=account_id,
            provider=provider,
            sync=self.sync_of(account_id, provider, address=address),
            store=self.store,
            clock=self.clock,
            rng=self.rng,
            log=self.log,
        )

    async def synced(self, *subjects: str, thread: str | None = None) -> str:
        """A mailbox with these messages, a minute apart, connected and swept. Returns the account's id."""
        for subject in subjects:
            await self.inject(subject, thread=thread)
            await trio.sleep(60)
        account_id = await self.connect()
        await self.sync_of(account_id).step()
        return account_id

    @property
    def reader(self) -> Reader:
        return Reader(
            store=self.store,
            blobs=self.blobs,
            threads=self.threads,
            processes=self.processes,
            authenticator=self.authenticator,
            log=self.log,
        )

    @property
    def authenticator(self) -> Authenticator:
        providers = Providers()
        providers.replace_all("fake", lambda account: self.fake_mail.provider(account.address), authority=AUTHORITY)
        return Authenticator(
            store=self.store,
            blobs=self.blobs,
            threads=self.threads,
            processes=self.processes,
            providers=providers,
            keys=SigningKeys(store=self.store, records=self.records),
            log=self.log,
        )

    @asynccontextmanager
    async def running(self, *loops: AccountLoop) -> AsyncIterator[Root]:
        """The loops as subsystems of a root, drained in the end."""
        root = Root(log=self.log, rng=self.rng)
        subsystems = [Subsystem(name=f"mail:{loop.account_id}", run=loop.run, independent=True) for loop in loops]
        async with open_task_group() as nursery:
            await nursery.start(root.run, subsystems)
            yield root
            if not root.draining:
                root.drain("test over")

    async def rows(self, sql: str, **params: Value) -> list[tuple[Any, ...]]:
        return await self.store.read(lambda tx: tx.all(sql, **params))

    async def news(self, *, after: int) -> Sequence[OutboxRow]:
        """What was told since."""
        return await self.store.read(rows_after, after, 10_000)

    async def thread_id_of(self, provider_message_id: str) -> str:
        (row,) = await self.rows(
            "select thread_id from mail_messages where provider_message_id = :id", id=provider_message_id
        )
        return str(row[0])

    async def labels_here(self, account_id: str, provider_message_id: str) -> Set[str] | None:
        """A message's labels in the database; ``None`` when it is not there."""
        stored = await self.store.read(
            thread_queries.message_labels, account_id=account_id, provider_message_id=provider_message_id
        )
        assert stored is None or stored[0] == message_id_of(account_id, provider_message_id)
        return None if stored is None else stored[2]

    async def pending(self) -> list[tuple[Any, ...]]:
        """The changes on their way to the provider: message, added, removed."""
        return await self.rows("select provider_message_id, add_labels, remove_labels from mail_mirror order by id")

    async def failures(self) -> list[tuple[Any, ...]]:
        return await self.rows("select provider_message_id, step, reason from mail_ledger order by 1, 2")

    async def account(self, account_id: str) -> Account:
        found = await self.store.read(account_queries.account, account_id)
        assert found is not None
        return found

    async def state(self) -> State:
        """Everything that two ways to the same mailbox must agree on."""
        return await self.store.read(state_of)

    async def labels_at_provider(self, message_id: str, *, address: str = MIA) -> Set[str]:
        return (await self.fake_mail.provider(address).get(message_id)).labels

    async def problems(self) -> list[str]:
        """What ``svc fsck`` would say of mail."""
        return await self.store.read(_problems)


def state_of(tx: ReadTx) -> State:
    return {
        "messages": tx.all(
            """
            select provider_message_id, provider_thread_id, m.subject, m.labels, m.in_inbox, m.unread, m.visible
            from mail_messages m join mail_threads t on t.id = m.thread_id order by provider_message_id
            """
        ),
        "threads": tx.all(
            """
            select provider_thread_id, subject, snippet, messages, in_inbox, unread, visible, last_message_at, labels
            from mail_threads order by provider_thread_id
            """
        ),
        "accounts": tx.all("select address, messages, unread_threads from mail_accounts order by address"),
    }


def _problems(tx: ReadTx) -> list[str]:
    return [problem for one in INVARIANTS if one.yields == "problems" for problem in one.check(tx)]


@asynccontextmanager
async def open_mail_sync(
    home: Path, *, clock: Clock, log: Log, threads: ThreadPool, journal: Path | None = None
) -> AsyncIterator[MailSync]:
    """Open (or reopen, as after a crash) the store and the fake mailboxes under ``home``, or another journal's."""
    (home / "blobs").mkdir(parents=True, exist_ok=True)
    lay_database(home / "svc.sqlite3")
    store = Store.open(
        home / "svc.sqlite3",
        clock=clock,
        threads=threads,
        migrations=[feature.migrations for feature in FEATURES if feature.migrations],
    )
    store.write_now(register, names=[SEARCH_CONSUMER.name])
    fake_mail = FakeWorld(journal=journal or home / "fake.jsonl", clock=clock, threads=threads)
    fake_mail.load()
    try:
        async with (
            ProcessPool(limit=1, name="test") as processes,
            open_task_group() as nursery,
        ):
            started = trio.Event()
            nursery.start_soon(lambda: store.run_writer(started=started.set))
            await started.wait()
            yield MailSync(
                home=home,
                store=store,
                blobs=Blobs.open(home / "blobs", threads=threads),
                fake_mail=fake_mail,
                clock=clock,
                log=log,
                threads=threads,
                processes=processes,
            )
            nursery.cancel_scope.cancel()
    finally:
        store.close_now()
