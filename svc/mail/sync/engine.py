"""The mail engine: starts and stops the sync loops of the accounts, and asks one to sync now.

Owns the loops by account id. Each loop is its own subsystem of the root nursery, so one account's crash or drain does
not affect another. Knows no provider by name: a table opens the mailboxes, and all calls go through the seam.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec
import trio

from svc.errors import Conflict, NotFound
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts.wire import AccountOut
from svc.mail.model import DRAFT, SENT, TRASH, Account, Incoming
from svc.mail.providers.seam import ProviderLabel, Quota
from svc.mail.providers.table import Providers
from svc.mail.sync.account_sync import AccountSync, Stored
from svc.mail.sync.fetch import Fetcher
from svc.mail.sync.steps import IngestStep
from svc.mail.sync.tasks import AccountLoop
from svc.nursery import Child, Subsystem
from svc.workspace import Workspace

WRITTEN_HERE: Final = frozenset({DRAFT, SENT, TRASH})
"""A draft that another program changed or sent carries one of these labels."""


@dataclass(kw_only=True)
class MailEngine:
    """``stored`` is called with the messages that were stored in an account, once they are durable. ``watchers`` are
    called when an account's loop began, or when a draft, or a message that may have been one, was stored."""

    workspace: Workspace
    providers: Providers
    steps: Sequence[IngestStep]
    stored: Stored
    watchers: list[Callable[[], None]] = field(default_factory=list)
    _loops: dict[str, AccountLoop] = field(default_factory=dict)
    _turn: trio.Lock = field(default_factory=trio.Lock)  # so that no disconnected account is started

    async def subsystems(self) -> Sequence[Subsystem]:
        """One subsystem for each connected account, at boot."""
        accounts = await self.workspace.store.read(account_queries.connected_accounts)
        return [self._subsystem(account) for account in accounts if self._can_run(account)]

    async def start_account(self, account_id: str) -> None:
        """Starts or restarts an account's loop, after the account was connected or connected again."""
        async with self._turn:
            account = await self.workspace.store.read(account_queries.account, account_id)
            if account is None or not self._can_run(account):
                return
            await self.stop_account(account_id)
            await self.workspace.root.add(self._subsystem(account))

    async def retire(self, account_id: str) -> None:
        """Ends the loop of an account that was disconnected, unless it is connected again by now."""
        async with self._turn:
            account = await self.workspace.store.read(account_queries.account, account_id)
            if account is None or account.state == "disconnected":
                await self.stop_account(account_id)

    async def stop_account(self, account_id: str) -> None:
        if account_id in self._loops:
            await self.workspace.root.remove(_subsystem_name(account_id))
            self._loops.pop(account_id, None)

    async def sync_now(self, account_id: str) -> None:
        """Runs one step of an account's sync. Returns when it is done. A fault goes to the account's state; it is not
        raised."""
        loop = self._loops.get(account_id)
        if loop is None:
            raise NotFound("There is no such account.")
        await loop.sync_now()

    def loop(self, account_id: str) -> AccountLoop | None:
        """The account's running loop, for other code that needs its provider; ``None`` while it has none."""
        return self._loops.get(account_id)

    def with_trouble(self, account: AccountOut) -> AccountOut:
        """The account with the problem that keeps this server from storing mail, which may not be in the database."""
        loop = self._loops.get(account.id)
        if loop is None or loop.storage_problem is None:
            return account
        return msgspec.structs.replace(account, state="waiting", problem=loop.storage_problem)

    def quota(self, account_id: str) -> Quota | None:
        """How much of its provider's quota the account used in the last minute; ``None`` without a quota or a loop."""
        loop = self._loops.get(account_id)
        return None if loop is None else loop.provider.quota_used()

    def left_out(self, account_id: str) -> tuple[str, ...]:
        """The names of folders of its mailbox that are not the account's own, so that their mail is not fetched."""
        loop = self._loops.get(account_id)
        return () if loop is None else loop.provider.left_out()

    async def make_label(self, account_id: str, name: str, *, color: str | None) -> ProviderLabel:
        """Makes a label in a connected account. Raises the provider's fault."""
        loop = self._loops.get(account_id)
        if loop is None:
            raise Conflict("This account is not connected.")
        return await loop.sync.make_label(name, color=color)

    def wake_outboxes(self) -> None:
        for loop in self._loops.values():
            loop.wake_outbox()

    def _can_run(self, account: Account) -> bool:
        """Whether the account is connected and its provider is on. An account of the fake provider does not run while
        the real providers are on, and the other way round."""
        return account.state != "disconnected" and account.provider in self.providers

    def _subsystem(self, account: Account) -> Subsystem:
        async def run(child: Child) -> None:
            # A restart after a crash gets a loop with fresh locks and pauses.
            loop = self._loops[account.id] = self._loop(account, child)
            self._tell()
            await loop.run(child)

        return Subsystem(name=_subsystem_name(account.id), run=run, independent=True)

    def _loop(self, account: Account, child: Child) -> AccountLoop:
        workspace = self.workspace
        provider = self.providers.open(account)
        log = child.log.bind(account=account.id)
        fetcher = Fetcher(
            account_id=account.id,
            provider=provider,
            blobs=workspace.blobs,
            threads=workspace.threads,
            processes=workspace.processes,
            clock=workspace.clock,
            log=log,
        )
        sync = AccountSync(
            account_id=account.id,
            provider=provider,
            store=workspace.store,
            fetcher=fetcher,
            log=log,
            steps=self.steps,
            stored=self._stored,
        )
        return AccountLoop(
            account_id=account.id,
            provider=provider,
            sync=sync,
            store=workspace.store,
            clock=workspace.clock,
            rng=workspace.rng,
            log=log,
        )

    async def _stored(self, account_id: str, incoming: Sequence[Incoming]) -> None:
        await self.stored(account_id, incoming)
        if any(not WRITTEN_HERE.isdisjoint(message.labels) for message in incoming):
            self._tell()

    def _tell(self) -> None:
        for watcher in self.watchers:
            watcher()


def _subsystem_name(account_id: str) -> str:
    return f"mail:{account_id}"
