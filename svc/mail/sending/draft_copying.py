"""Copies the drafts that are written here to the mail servers, in the background: typing never waits for a server.

One draft per account at a time; the accounts run concurrently. Each copy is idempotent, so after any fault the copier
pauses and tries again. Only a draft that a server refuses waits for its next change, also one that it refuses "for now"
again and again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import trio

from svc.backoff import Retries
from svc.clock import SECOND_MS, Clock, Millis
from svc.job import Job
from svc.mail.model import TRASH
from svc.mail.providers.seam import (
    Drafts,
    GrantLost,
    MessageGone,
    Provider,
    ProviderFault,
    Refused,
    RefusedForNow,
    Unreachable,
)
from svc.mail.sending import draft_copies, drafts, elsewhere, queries
from svc.mail.sending.building import Builder, CannotBuild
from svc.mail.sending.draft_copies import DraftCopy
from svc.mail.sending.elsewhere import Found
from svc.mail.sending.following import Following
from svc.mail.sync.engine import MailEngine
from svc.mail.sync.tasks import REFUSED_TRIES, AccountLoop
from svc.nursery import Child, Subsystem
from svc.principal import system
from svc.scheduler import Scheduler
from svc.settings import DRAIN_S
from svc.store import Store, Tx
from svc.workspace import Workspace

NAME: Final = "mail-drafts"
DEADLINE_S: Final = 300.0
"""For one draft; the provider's own deadlines are shorter."""
_DEVICE_ID: Final = system(NAME).device_id
RETRIES: Final = Retries(first_s=5.0, cap_s=3_600.0)


@dataclass(kw_only=True)
class DraftCopier:
    store: Store
    engine: MailEngine
    builder: Builder
    following: Following
    scheduler: Scheduler[Workspace]
    clock: Clock
    rng: random.Random
    _child: Child | None = None
    _serving: set[str] = field(default_factory=set)

    async def run(self, child: Child) -> None:
        """The subsystem: its tasks copy drafts to the servers."""
        self._serving.clear()
        self._child = child
        child.started()
        self.look()
        await trio.sleep_forever()

    def look(self) -> None:
        """Called when a draft was changed: wakes the job."""
        self.scheduler.nudge(NAME)

    async def tick(self) -> Millis | None:
        """The scheduler's job. Starts the accounts that have due drafts, and returns the time of the next one."""
        agenda = await self.store.read_small(draft_copies.agenda)
        child = self._child
        for account_id in agenda.accounts:
            if child is not None and not child.draining and account_id not in self._serving:
                self._serving.add(account_id)
                child.work.start_soon(self._serve, account_id, child, name=f"drafts of {account_id}")
        return agenda.next_at

    async def _serve(self, account_id: str, child: Child) -> None:
        try:
            while not child.draining:
                loop = self.engine.loop(account_id)
                if loop is None:
                    return  # the account is being restarted: a later tick finds it
                found = await self.store.read(elsewhere.due_of, account_id)
                copy = None if found else await self.store.read(draft_copies.due_of, account_id)
                if found is not None:
                    await self._follow(loop, found, child)
                elif copy is not None:
                    await self._tell(loop, copy, child)
                else:
                    return
        except Exception as error:  # an edge: one account's fault does not affect others; the next tick tries again
            child.log.error("mail.drafts_failed", error, account=account_id)
        finally:
            self._serving.discard(account_id)

    async def _follow(self, loop: AccountLoop, found: Found, child: Child) -> None:
        """Decide about a find; the decision is written to the database. If the server can't be asked, try later."""
        try:
            with trio.fail_after(DEADLINE_S):
                await self.following.follow(loop.provider, found, child.log)
        except (ProviderFault, trio.TooSlowError) as fault:
            if isinstance(fault, GrantLost):
                await loop.note_lost_grant(fault)
            pause_s = RETRIES.pause_s(1, self.rng)
            pause_s = fault.pause_s(pause_s) if isinstance(fault, ProviderFault) else pause_s
            next_at = self.clock.now() + round(pause_s * SECOND_MS)
            await self.store.write(elsewhere.look_again, found, next_at=next_at)

    async def _tell(self, loop: AccountLoop, copy: DraftCopy, child: Child) -> None:
        try:
            with trio.fail_after(DEADLINE_S):
                is_there = await self._told(loop, copy)
        except (Refused, CannotBuild) as fault:
            await self._refused(copy, fault, child)
            return
        except trio.TooSlowError:
            await self._put_off(copy, Unreachable("The provider did not answer in time."), child)
            return
        except ProviderFault as fault:
            if isinstance(fault, GrantLost):
                await loop.note_lost_grant(fault)
            if isinstance(fault, RefusedForNow) and copy.attempts >= REFUSED_TRIES:
                await self._refused(copy, fault, child)
            else:
                await self._put_off(copy, fault, child)
            return
        await self.store.write(_settle, copy, there=is_there)
        if copy.originals:
            loop.hurry()  # sync soon: the originals that the server removed are still shown here as messages

    async def _told(self, loop: AccountLoop, copy: DraftCopy) -> bool:
        """Copy the draft to the server, or remove its copy. Returns whether the server has a copy now."""
        kept: Drafts | None = loop.provider.drafts
        if kept is None:
            for one in copy.originals:
                await _throw_away(loop.provider, one)
            return False
        letter = await self.store.read(draft_copies.letter_of, copy)
        if letter is None:
            await kept.drop(copy.draft_id, instead_of=copy.originals)
            return False
        raw = await self.builder.build(letter, max_bytes=loop.provider.capabilities.max_message_bytes)
        able = loop.provider.capabilities
        thread_id = await self.store.read(draft_copies.thread_of, copy) if able.server_threads else None
        await kept.keep(raw, mark=copy.draft_id, instead_of=copy.originals, thread_id=thread_id)
        return True

    async def _refused(self, copy: DraftCopy, fault: Exception, child: Child) -> None:
        child.log.warning("mail.draft_not_copied", draft=copy.draft_id, reason=str(fault.__cause__ or fault))
        await self.store.write(_settle, copy, there=True, refused=str(fault))

    async def _put_off(self, copy: DraftCopy, fault: ProviderFault, child: Child) -> None:
        child.log.info("mail.draft_put_off", draft=copy.draft_id, reason=fault.detail)
        pause_s = fault.pause_s(RETRIES.pause_s(copy.attempts + 1, self.rng))
        next_at = self.clock.now() + round(pause_s * SECOND_MS)
        await self.store.write(_put_off, copy, next_at=next_at, reason=fault.detail)


async def _throw_away(provider: Provider, message_id: str) -> None:
    """For a provider without stored drafts: move the message that is continued here to the trash there."""
    with suppress(MessageGone):
        await provider.modify(message_id, add=frozenset({TRASH}), remove=frozenset())


def _settle(tx: Tx, copy: DraftCopy, *, there: bool, refused: str | None = None) -> None:
    with _telling(tx, copy.draft_id):
        draft_copies.settle(tx, copy, there=there, refused=refused)


def _put_off(tx: Tx, copy: DraftCopy, *, next_at: Millis, reason: str) -> None:
    with _telling(tx, copy.draft_id):
        draft_copies.put_off(tx, copy, next_at=next_at, reason=reason)


@contextmanager
def _telling(tx: Tx, draft_id: str) -> Iterator[None]:
    """Notify the writer if the draft's notes are different afterwards."""
    before = queries.draft(tx, draft_id)
    yield
    after = queries.draft(tx, draft_id)
    if before is not None and after is not None and before.notes != after.notes:
        drafts.tell(tx, draft_id, device_id=_DEVICE_ID)


async def _tick(workspace: Workspace) -> Millis | None:
    return await workspace.service(DraftCopier).tick()


JOB: Final = Job(name=NAME, summary="Keeps copies of drafts among those of their accounts' servers.", run=_tick)


def subsystem(workspace: Workspace) -> Subsystem:
    """Stops before the accounts' loops do, because it uses their providers."""
    copier = workspace.service(DraftCopier)
    return Subsystem(name=NAME, run=copier.run, drain_s=float(workspace.config[DRAIN_S]))
