"""The running part of mail: which accounts have a loop, how one is started, stopped and asked to sync now.

Owns the loops by account id; each is a subsystem of the root nursery of its own, so one account's crash or drain is not
another's. Knows no provider by name: a table opens the mailboxes, and everything here speaks the seam.
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
"""What another program makes of a draft lies under one of these."""


@dataclass(kw_only=True)
class MailEngine:
    """``stored`` is told what was stored in an account, once it is durable; ``watchers`` that an account's loop began,
    or that a draft, or what may have been one, was stored."""

    workspace: Workspace
    providers: Providers
    steps: Sequence[IngestStep]
    stored: Stored
    watchers: list[Callable[[], None]] = field(default_factory=list)
    _loops: dict[str, AccountLoop] = field(default_factory=dict)
    _turn: trio.Lock = field(default_factory=trio.Lock)  # what is started was not disconnected a moment ago

    async def subsystems(self) -> Sequence[Subsystem]:
        """One for each connected account, at boot."""
        accounts = await self.workspace.store.read(account_queries.connected_accounts)
        return [self._subsystem(account) for account in accounts if self._can_run(account)]

    async def start_account(self, account_id: str) -> None:
        """Start an account's loop, or start it anew: after it was connected, or connected again."""
        async with self._turn:
            account = await self.workspace.store.read(account_queries.account, account_id)
            if account is None or not self._can_run(account):
                return
            await self.stop_account(account_id)
            await self.workspace.root.add(self._subsystem(account))

    async def retire(self, account_id: str) -> None:
        """End the loop of an account that was disconnected, unless it is connected again by now."""
        async with self._turn:
            account = await self.workspace.store.read(account_queries.account, account_id)
            if account is None or account.state == "disconnected":
                await self.stop_account(account_id)

    async def stop_account(self, account_id: str) -> None:
        if account_id in self._loops:
            await self.workspace.root.remove(_subsystem_name(account_id))
            self._loops.pop(account_id, None)

    async def sync_now(self, account_id: str) -> None:
        """One full step of an account's sync. Returns when it is done; a fault is in the account's state, not here."""
        loop = self._loops.get(account_id)
        if loop is None:
            raise NotFound("There is no such account.")
        await loop.sync_now()

    def loop(self, account_id: str) -> AccountLoop | None:
        """The account's running loop, for what else wants its provider; ``None`` while it has none."""
        return self._loops.get(account_id)

    def with_trouble(self, account: AccountOut) -> AccountOut:
        """With what keeps this server from storing mail, which may not be in the database."""
        loop = self._loops.get(account.id)
        if loop is None or loop.storage_problem is None:
            return account
        return msgspec.structs.replace(account, state="waiting", problem=loop.storage_problem)

    def quota(self, account_id: str) -> Quota | None:
        """How much of the provider's quota the account used in the last minute; ``None`` where there is none."""
        loop = self._loops.get(account_id)
        return None if loop is None else loop.provider.quota_used()

    async def make_label(self, account_id: str, name: str, *, color: str | None) -> ProviderLabel:
        """A new label in an account that is connected. Raises the provider's fault."""
        loop = self._loops.get(account_id)
        if loop is None:
            raise Conflict("This account is not connected.")
        return await loop.sync.make_label(name, color=color)

    def wake_outboxes(self) -> None:
        for loop in self._loops.values():
            loop.wake_outbox()

    def _can_run(self, account: Account) -> bool:
        """A fake account sleeps while the real providers are on, and the other way round."""
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
