"""The loops of one account: sync every 30 seconds, and the outbox that sends local changes to the provider.

This module turns a fault into a state that the user can read, and into a time for the next try: the account waits with
growing pauses (:mod:`svc.backoff`), or asks to be connected again. No retry goes on for ever without being shown.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import trio

from svc.backoff import Retries
from svc.clock import DAY_MS, SECOND_MS, Clock, Millis
from svc.errors import Refusal
from svc.log import Log
from svc.mail.accounts import progress
from svc.mail.changes import outbox as change_outbox
from svc.mail.changes import queries as change_queries
from svc.mail.model import LabelChange
from svc.mail.providers.seam import (
    GrantLost,
    MessageGone,
    Provider,
    ProviderFault,
    Refused,
    RefusedForNow,
)
from svc.mail.sync.account_sync import AccountSync
from svc.mail.sync.listening import Listening
from svc.mail.threads.wire import SYSTEM_LABEL_NAMES
from svc.nursery import Backoff, Child, Wake, open_task_group
from svc.store import Store

POLL_INTERVAL_S: Final = 30.0
HINT_GAP_S: Final = 2.0
"""The shortest time between a poll and the next one that a notification starts: many changes may come at once."""
FIRST_PAUSE_S: Final = 5.0
LONGEST_PAUSE_S: Final = 15 * 60.0
CLOSE_S: Final = 2.0
OUTBOX_RETRIES: Final = Retries(first_s=FIRST_PAUSE_S, cap_s=LONGEST_PAUSE_S)
OUTBOX_MIN_ATTEMPTS: Final = 20
OUTBOX_GIVES_UP_MS: Final = 7 * DAY_MS
"""A change that failed both this often and for this long becomes a failure that is shown. Days, since a laptop may be
offline that long."""
REFUSED_TRIES: Final = 6
"""A change that the provider refuses "for now" more often than this is a failure: about five minutes."""
DISK_FULL: Final = "The disk of this server is full, so no mail can be stored. It goes on by itself once there is room."


@dataclass(kw_only=True)
class AccountLoop:
    """Runs one account. ``sync_now`` and ``wake_outbox`` may be called from any task while it runs."""

    account_id: str
    provider: Provider
    sync: AccountSync
    store: Store
    clock: Clock
    rng: random.Random
    log: Log
    _pauses: Backoff = field(init=False)
    _turn: trio.Lock = field(default_factory=trio.Lock)  # one step at a time, from any task
    _outbox_turn: trio.Lock = field(default_factory=trio.Lock)
    _wake_outbox: Wake = field(default_factory=Wake)
    _due_s: float = 0.0  # on trio's clock: when the next poll begins; infinite while the user must act first
    _due_moved: Wake = field(default_factory=Wake)
    _listening: Listening = field(init=False)
    _hinted: bool = False  # a notification came since the last step began
    _hint_due_s: float = math.inf  # when a notification may start a step; infinite during one and while in trouble
    _retry: trio.Event | None = None  # a request to fetch the failures again; set when that is done
    storage_problem: str | None = None
    """The problem that keeps this server from storing mail. Kept in memory, because the database may be full."""

    def __post_init__(self) -> None:
        self._pauses = Backoff(first_s=FIRST_PAUSE_S, cap_s=LONGEST_PAUSE_S, rng=self.rng)
        self._listening = Listening(provider=self.provider, heard=self._hint, rng=self.rng, log=self.log)

    async def run(self, child: Child) -> None:
        child.started()
        try:
            async with open_task_group() as nursery:
                nursery.start_soon(self._poll_for_ever)
                nursery.start_soon(self._send_for_ever)
                nursery.start_soon(self._listening.run)
        finally:
            with trio.move_on_after(CLOSE_S, shield=True):
                await self.provider.aclose()

    async def sync_now(self) -> None:
        """Runs one full step for a waiting caller: sends changes first, then reads the mailbox. Returns when done."""
        await self._flush_outbox()
        await self._step()

    def hurry(self) -> None:
        """Starts the next step now."""
        self._due_s = trio.current_time()
        self._due_moved.call()

    async def retry_failures(self) -> None:
        """Fetches the failures again, then runs a step. Goes on even if the caller is cancelled while it waits."""
        done = self._retry = self._retry or trio.Event()
        self.hurry()
        await done.wait()

    @property
    def next_attempt_at(self) -> Millis | None:
        """When the next step begins; ``None`` while one runs, or while the user must act first."""
        left_s = self._due_s - trio.current_time()
        return self.clock.now() + round(left_s * SECOND_MS) if 0 < left_s < math.inf else None

    def wake_outbox(self) -> None:
        self._wake_outbox.call()

    async def note_lost_grant(self, fault: GrantLost) -> None:
        """Shows a lost grant that another call of this account met, as if this loop had met it."""
        await self._trouble(fault)

    # Reading

    async def _poll_for_ever(self) -> None:
        while True:
            await self._step()
            while (left_s := self._due_s - trio.current_time()) > 0:
                await self._due_moved.wait(at_most_s=left_s)

    async def _step(self) -> None:
        """Runs one step and decides when the next one is due. Also used for a step outside the schedule."""
        async with self._turn:
            retry, self._retry = self._retry, None
            self._hinted, self._hint_due_s = False, math.inf
            try:
                pause_s = await self._try(retry_failures=retry is not None)
            except Refusal as refusal:
                pause_s = await self._no_room(refusal)
            finally:
                if retry is not None:
                    retry.set()
            is_well, now_s = pause_s == POLL_INTERVAL_S, trio.current_time()
            self._hint_due_s = now_s + HINT_GAP_S if is_well else math.inf
            self._due_s = self._hint_due_s if is_well and self._hinted else now_s + pause_s
            if self._is_asked():
                self._due_s = now_s  # requested during this step, perhaps too late for it
            self._listening.account_is(well=is_well)
            self._due_moved.call()

    def _is_asked(self) -> bool:
        return self._retry is not None

    def _hint(self) -> None:
        """The provider notified us: something may have changed there."""
        self._hinted = True
        self._due_s = min(self._due_s, max(self._hint_due_s, trio.current_time()))
        self._due_moved.call()

    async def _try(self, *, retry_failures: bool) -> float:
        """Returns the pause before the next step."""
        try:
            if retry_failures:
                await self.sync.retry_failures()
            await self.sync.step()
            self.wake_outbox()  # for changes that the step queued: new mail of a muted thread leaves the inbox there
        except ProviderFault as fault:
            return await self._trouble(fault)
        self._pauses.reset()
        self.storage_problem = None
        return POLL_INTERVAL_S

    async def _no_room(self, refusal: Refusal) -> float:
        """Handles a full disk: the account waits and shows the problem. Stores it in the database if there is room."""
        if refusal.code != "insufficient_storage":
            raise refusal
        self.log.warning("mail.disk_full", account=self.account_id)
        self.storage_problem = DISK_FULL
        with suppress(Refusal):
            await self.store.write(
                progress.set_trouble, account_id=self.account_id, event="wait", problem=DISK_FULL, cause="other"
            )
        return self._pauses.next_s()

    async def _trouble(self, fault: ProviderFault) -> float:
        """Writes the fault to the account's state, for the user. Returns the pause before the next try."""
        self.log.warning("mail.sync_fault", account=self.account_id, fault=type(fault).__name__, reason=fault.detail)
        lost = isinstance(fault, GrantLost)
        await self.store.write(
            progress.set_trouble,
            account_id=self.account_id,
            event="lose_grant" if lost else "wait",
            problem=fault.detail,
            cause=fault.trouble or ("revoked" if lost else "other"),
        )
        return math.inf if lost else fault.pause_s(self._pauses.next_s())

    # Writing

    async def _send_for_ever(self) -> None:
        while True:
            try:
                pause_s = await self._flush_outbox()
            except Refusal as refusal:
                pause_s = await self._no_room(refusal)
            await self._wake_outbox.wait(at_most_s=pause_s)

    async def _flush_outbox(self) -> float:
        """Sends the changes that are due, oldest first. Returns the seconds until the next may be due."""
        async with self._outbox_turn:
            able = self.provider.capabilities
            while rows := await self.store.read_small(change_queries.due_changes, self.account_id, limit=able.bulk_max):
                pause_s = await self._send(rows if len(rows) >= able.bulk_min else rows[:1])
                if pause_s is not None:
                    return pause_s
            next_at = await self.store.read_small(change_queries.next_change_at, self.account_id)
        return LONGEST_PAUSE_S if next_at is None else max(0.0, (next_at - self.clock.now()) / 1_000)

    async def _send(self, rows: Sequence[LabelChange]) -> float | None:
        """Sends one change of one or many messages to the provider. Returns a pause if the outbox must wait now.

        It may be repeated after a crash: a change of labels is idempotent.
        """
        try:
            async with self.sync.changing:
                await self._modify(rows)
        except GrantLost as fault:
            await self._trouble(fault)
            return LONGEST_PAUSE_S
        except ProviderFault as fault:
            return await self._put_off(rows, fault)
        return None

    async def _modify(self, rows: Sequence[LabelChange]) -> None:
        """Handles final faults (refused, gone); raises the temporary ones."""
        first = rows[0]
        try:
            if len(rows) == 1:
                await self.provider.modify(first.provider_message_id, add=first.add, remove=first.remove)
            else:
                ids = [row.provider_message_id for row in rows]
                await self.provider.modify_many(ids, add=first.add, remove=first.remove)
        except ProviderFault as fault:
            if not _is_final(fault, first):
                raise
            if _is_made(first.add | first.remove) and await self.sync.refresh_labels():
                return  # changes that name a deleted label left the queue just now, and are failures that are shown
            if len(rows) == 1:
                await self._end(first, fault)
            else:
                for row in rows:  # perhaps only one of them is the cause
                    await self._modify_alone(row)
        else:
            await self._confirm(rows)

    async def _modify_alone(self, row: LabelChange) -> None:
        try:
            await self.provider.modify(row.provider_message_id, add=row.add, remove=row.remove)
        except ProviderFault as fault:
            if not _is_final(fault, row):
                raise
            await self._end(row, fault)
        else:
            await self._confirm([row])

    async def _end(self, row: LabelChange, fault: ProviderFault) -> None:
        """Gives up a change that can never succeed: shows the provider's labels again, and notes the reason."""
        there: frozenset[str] | None = None
        if isinstance(fault, MessageGone) and not _is_made(row.add | row.remove):
            await self._confirm([row])  # deleted at the provider: nothing is left to change
            return
        try:
            there = (await self.provider.get(row.provider_message_id)).labels
        except MessageGone:
            await self._confirm([row])
            return
        except Refused:
            pass  # the message can't be fetched at all
        await self._take_back(row, fault, there)

    async def _confirm(self, rows: Sequence[LabelChange]) -> None:
        self.sync.confirmed.note(rows)
        await self.store.write(change_outbox.confirm, account_id=self.account_id, row_ids=[row.id for row in rows])

    async def _take_back(self, row: LabelChange, fault: ProviderFault, there: frozenset[str] | None) -> None:
        await self.store.write(
            change_outbox.take_back, account_id=self.account_id, row=row, there=there, reason=fault.detail
        )

    async def _put_off(self, rows: Sequence[LabelChange], fault: ProviderFault) -> float:
        """After a temporary fault, makes these rows wait, and the whole outbox: the cause is rarely one message."""
        pause_s = fault.pause_s(OUTBOX_RETRIES.pause_s(rows[0].attempts + 1, self.rng))
        now = self.clock.now()
        for row in rows:
            if _is_hopeless(row, now):
                await self._take_back(row, fault, None)
        await self.store.write(
            change_outbox.put_off,
            row_ids=[row.id for row in rows if not _is_hopeless(row, now)],
            next_at=now + round(pause_s * 1_000),
            reason=fault.detail,
        )
        return pause_s


def _is_hopeless(row: LabelChange, now: Millis) -> bool:
    return row.attempts >= OUTBOX_MIN_ATTEMPTS and now - row.created_at > OUTBOX_GIVES_UP_MS


def _is_final(fault: ProviderFault, row: LabelChange) -> bool:
    if isinstance(fault, RefusedForNow):
        return row.attempts >= REFUSED_TRIES
    return isinstance(fault, Refused | MessageGone)


def _is_made(labels: Iterable[str]) -> bool:
    """Whether one of the labels was made by a user, who may have deleted it."""
    return any(label_id not in SYSTEM_LABEL_NAMES for label_id in labels)
