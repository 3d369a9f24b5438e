"""Delivery: sends due mail to the provider and records the outcome. The part of sending that waits for providers.

The promise depends on the order. The bytes are built and durable, then ``transmitting`` is committed, then the first
byte leaves; our own copy and ``sent`` are one transaction. So after a crash at any point the row says what is known:
nothing left, it is uncertain, or it is sent. A send without an answer is never repeated here. Instead the mailbox is
read at once, because it contains what was sent.

One mail per account at a time; the accounts run concurrently. The scheduler's tick starts them and repairs what a dead
task, a sleep or a jump of the clock left behind. During drain nothing new begins, and a send in flight has the drain's
time to end.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec
import trio

from svc.backoff import Retries
from svc.clock import SECOND_MS, Clock, Millis
from svc.errors import Refusal
from svc.mail.accounts import progress
from svc.mail.model import SENT, Incoming
from svc.mail.providers.seam import GrantLost, ProviderFault, RawMessage, Refused, SentMessage, ThreadGone
from svc.mail.sending import queries, settling
from svc.mail.sending.building import Builder, CannotBuild, letter_of
from svc.mail.sending.model import Outgoing
from svc.mail.sync import ingest
from svc.mail.sync.engine import MailEngine
from svc.mail.sync.steps import IngestStep
from svc.mail.sync.tasks import AccountLoop
from svc.mail.threads import queries as thread_queries
from svc.nursery import Child
from svc.scheduler import Scheduler
from svc.store import Blobs, ReadTx, Store, Tx
from svc.workspace import Workspace

JOB: Final = "mail-sending"

ACCOUNTS_AT_A_TIME: Final = 8
SEND_DEADLINE_S: Final = 600.0
"""For one whole attempt. The provider's own deadlines are shorter; this one ends what they miss."""
ANSWER_WITHIN_S: Final = 60.0
"""How long a caller who asked for the outcome waits for it."""
RETRIES: Final = Retries(first_s=30.0, cap_s=3_600.0)
NO_ROOM_PAUSE_S: Final = 60.0
"""The pause after a full disk: long enough for the person to see why the mail waits."""

_TIMED_OUT: Final = "The provider did not answer in time. It is not known whether this mail was sent."
_UNEXPECTED: Final = "Something unexpected happened while this mail was on its way; the log says what."
_GONE: Final = "The account this mail was to be sent from is no longer connected."


@dataclass(frozen=True, kw_only=True)
class Agenda:
    """What a tick finds: whether rows need repair, the accounts with due mail, and when the next mail is due."""

    needs_care: bool
    accounts: tuple[str, ...]
    next_at: Millis | None


@dataclass(kw_only=True)
class Delivery:
    """The delivery service. ``hold_ms``: the length of the undo pause."""

    store: Store
    blobs: Blobs
    engine: MailEngine
    steps: Sequence[IngestStep]
    builder: Builder
    scheduler: Scheduler[Workspace]
    clock: Clock
    rng: random.Random
    hold_ms: int
    untold: dict[str, str] = field(default_factory=dict)
    """Maps outgoing ids to the reason why the mail waits, if the disk has no room to store even the reason."""
    before_forgetting: list[settling.BeforeForgetting] = field(default_factory=list)
    _child: Child | None = None
    _serving: dict[str, trio.Event] = field(default_factory=dict)  # by account: set when it is done
    _asked_again: set[str] = field(default_factory=set)  # accounts with news while they were served
    _in_flight: set[str] = field(default_factory=set)  # mails whose outcome a task awaits
    _limiter: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(ACCOUNTS_AT_A_TIME))

    async def run(self, child: Child) -> None:
        """The subsystem: its tasks are the sends in flight."""
        self._serving.clear()
        self._in_flight.clear()
        self._child = child
        child.started()
        self.look()
        await trio.sleep_forever()

    def look(self) -> None:
        """Wakes the job: a mail may be due earlier than the next tick."""
        self.scheduler.nudge(JOB)

    async def tick(self) -> Millis | None:
        """The scheduler's job. Starts the accounts that have due mail, and returns the time of the next one."""
        agenda = await self.store.read_small(_agenda, in_flight=frozenset(self._in_flight), hold_ms=self.hold_ms)
        if agenda.needs_care:
            await self.store.write(
                _take_care,
                in_flight=frozenset(self._in_flight),
                hold_ms=self.hold_ms,
                before_forgetting=self.before_forgetting,
            )
            agenda = await self.store.read_small(_agenda, in_flight=frozenset(self._in_flight), hold_ms=self.hold_ms)
        for account_id in agenda.accounts:
            self._start(account_id)
        return agenda.next_at

    async def finish(self, account_id: str) -> None:
        """Send what the account has to send now; return when that is over, or after a minute."""
        self._start(account_id)
        with trio.move_on_after(ANSWER_WITHIN_S):
            while account_id in self._serving:
                await self._serving[account_id].wait()

    async def was_sent(self, row: Outgoing, *, within_s: float) -> bool:
        """Sync the mailbox, and return whether the uncertain mail was found among the sent mail."""
        loop = self.engine.loop(row.account_id)
        if loop is not None:
            with trio.move_on_after(within_s):
                await loop.sync_now()
        found = await self.store.read(queries.outgoing, row.id)
        return found is not None and found.state == "sent"

    # One account

    def _start(self, account_id: str) -> None:
        child = self._child
        if account_id in self._serving:
            self._asked_again.add(account_id)
        elif child is not None and not child.draining:
            self._serving[account_id] = trio.Event()
            child.work.start_soon(self._serve, account_id, child, name=f"sending {account_id}")

    async def _serve(self, account_id: str, child: Child) -> None:
        try:
            async with self._limiter:
                while True:
                    self._asked_again.discard(account_id)
                    await self._send_all(account_id, child)
                    if account_id not in self._asked_again or child.draining:
                        return
        except Exception as error:  # an edge: one account's fault does not affect others; the next tick tries again
            child.log.error("mail.sending_failed", error, account=account_id)
        finally:
            self._serving.pop(account_id).set()

    async def _send_all(self, account_id: str, child: Child) -> None:
        """Everything due, one after the other."""
        while not child.draining:
            loop = self.engine.loop(account_id)
            row = await self.store.read(queries.due_of, account_id)
            if loop is None or row is None:
                return  # without a loop the account is being restarted: a later tick finds it
            try:
                await self._deliver(loop, row, child)
            except Refusal as refusal:  # a full disk, most likely: no byte has left
                await self._wait_for_room(row, refusal, child)
                return

    # One mail

    async def _deliver(self, loop: AccountLoop, row: Outgoing, child: Child) -> None:
        try:
            raw = await self.builder.build(letter_of(row), max_bytes=loop.provider.capabilities.max_message_bytes)
        except CannotBuild as fault:
            child.log.error("mail.cannot_build", fault.__cause__ or fault, outgoing=row.id)
            await self.store.write(settling.failed, row, reason=str(fault))
            return
        blob = await self.blobs.put(raw)
        self._in_flight.add(row.id)
        try:
            begun = await self.store.write(
                settling.begin, outgoing_id=row.id, version=row.version, raw_sha256=blob.sha256
            )
            self.untold.pop(row.id, None)
            if begun is not None:
                await self._transmit(loop, begun, raw, child)
        finally:
            self._in_flight.discard(row.id)

    async def _wait_for_room(self, row: Outgoing, refusal: Refusal, child: Child) -> None:
        """The mail stays as before, shows the reason, and is tried again. If not even that can be written, the reason
        is kept in memory.

        A row whose version has changed, because its first byte may have left, is not changed here.
        """
        reason = f"This mail is not on its way yet: {refusal.detail} It is tried again by itself."
        child.log.warning("mail.no_room_to_send", outgoing=row.id, reason=refusal.detail)
        try:
            next_at = self.clock.now() + round(NO_ROOM_PAUSE_S * SECOND_MS)
            await self.store.write(settling.wait, row, next_at=next_at, reason=reason)
        except Refusal:
            self.untold[row.id] = reason

    async def _transmit(self, loop: AccountLoop, begun: Outgoing, raw: bytes, child: Child) -> None:
        """One attempt. Every way out of the ``try`` must end in a write to the row."""
        answer: SentMessage | None = None
        try:
            with trio.move_on_after(SEND_DEADLINE_S):
                thread_id = begun.provider_thread_id if loop.provider.capabilities.server_threads else None
                answer = await loop.provider.send(raw, thread_id=thread_id)
        except ProviderFault as fault:
            child.log.warning("mail.send_fault", outgoing=begun.id, fault=type(fault).__name__, reason=fault.detail)
            await self._settle_fault(loop, begun, fault, child)
            return
        except Exception as error:  # an edge: the provider's code failed, and this mail may have left
            child.log.error("mail.send_crashed", error, outgoing=begun.id)
            await self._doubt(loop, begun, _UNEXPECTED, child)
            return
        if answer is None:
            await self._doubt(loop, begun, _TIMED_OUT, child)
            return
        copy = await self._own_copy(loop, answer, raw, child)
        await self.store.write(
            _store_sent,
            outgoing_id=begun.id,
            account_id=begun.account_id,
            answer=answer,
            copy=copy,
            steps=self.steps,
        )

    async def _settle_fault(self, loop: AccountLoop, begun: Outgoing, fault: ProviderFault, child: Child) -> None:
        if isinstance(fault, Refused):
            await self.store.write(
                settling.failed, begun, reason=fault.detail, drop_thread=isinstance(fault, ThreadGone)
            )
        elif fault.may_have_happened:
            await self._doubt(loop, begun, fault.detail, child)
        else:
            if isinstance(fault, GrantLost):
                await loop.note_lost_grant(fault)
            next_at = self.clock.now() + round(self._pause_s(begun, fault) * SECOND_MS)
            await self.store.write(settling.put_off, begun, next_at=next_at, reason=fault.detail)

    async def _doubt(self, loop: AccountLoop, begun: Outgoing, reason: str, child: Child) -> None:
        """Mark the mail as uncertain, and look for it in the mailbox at once. Every later poll looks again."""
        await self.store.write(settling.uncertain, begun, reason=reason)
        if not child.draining:
            child.work.start_soon(self._look_for_it, loop, child)

    async def _look_for_it(self, loop: AccountLoop, child: Child) -> None:
        try:
            await loop.sync_now()
        except Exception as error:  # an edge: the account's own loop keeps polling
            child.log.error("mail.search_failed", error, account=loop.account_id)

    async def _own_copy(self, loop: AccountLoop, answer: SentMessage, raw: bytes, child: Child) -> Incoming | None:
        """Prepare our own bytes for ingest, like fetched mail. ``None`` on a fault: the mail is sent all the same, and
        sync fetches the copy."""
        message = RawMessage(
            id=answer.id,
            thread_id=answer.thread_id,
            labels=answer.labels | {SENT},
            received_at=self.clock.now(),
            raw=raw,
        )
        try:
            fetched = await loop.sync.fetcher.prepare([message])
        except Exception as error:  # an edge: a full disk, most likely
            child.log.error("mail.own_copy_failed", error, account=loop.account_id)
            return None
        return _known_as(fetched.incoming[0], answer.names) if fetched.incoming else None

    def _pause_s(self, begun: Outgoing, fault: ProviderFault) -> float:
        """Exponential with jitter, and never shorter than the provider's own ``Retry-After``."""
        return fault.pause_s(RETRIES.pause_s(begun.attempts, self.rng))


def _known_as(copy: Incoming, names: Sequence[str]) -> Incoming:
    """Add the other Message-IDs of the mail to its references: a recipient may answer one of them, and the answer must
    find the thread."""
    references = tuple(dict.fromkeys((*copy.headers.references, *names)))
    return replace(copy, headers=msgspec.structs.replace(copy.headers, references=references))


def _agenda(tx: ReadTx, *, in_flight: frozenset[str], hold_ms: int) -> Agenda:
    return Agenda(
        needs_care=bool(
            any(row.id not in in_flight for row in queries.transmitting(tx))
            or queries.late(tx)
            or queries.far_away(tx, hold_ms=hold_ms)
            or queries.not_late_after_all(tx)
            or queries.orphans(tx)
            or queries.forgettable(tx)
        ),
        accounts=tuple(queries.due_accounts(tx)),
        next_at=queries.next_due_at(tx),
    )


def _take_care(
    tx: Tx,
    *,
    in_flight: frozenset[str],
    hold_ms: int,
    before_forgetting: Sequence[settling.BeforeForgetting] = (),
) -> None:
    settling.recover(tx, in_flight=in_flight)
    for account_id in queries.orphans(tx):
        settling.fail_waiting(tx, account_id=account_id, reason=_GONE)
    settling.mark_overdue(tx)
    settling.mend_dates(tx, hold_ms=hold_ms)
    settling.forget_old(tx, before=before_forgetting)


def _store_sent(
    tx: Tx,
    *,
    outgoing_id: str,
    account_id: str,
    answer: SentMessage,
    copy: Incoming | None,
    steps: Sequence[IngestStep],
) -> None:
    """Store our own copy and the state ``sent`` in one transaction. A later poll that finds the mail changes
    nothing."""
    if thread_queries.message_labels(tx, account_id=account_id, provider_message_id=answer.id) is None:
        progress.one_more_there(tx, account_id=account_id)
    if copy is not None:
        ingest.store_one(tx, account_id=account_id, message=copy, steps=steps)
    stored = thread_queries.message_labels(tx, account_id=account_id, provider_message_id=answer.id)
    settling.sent(
        tx,
        outgoing_id=outgoing_id,
        provider_message_id=answer.id,
        message_id=None if stored is None else stored[0],
    )
