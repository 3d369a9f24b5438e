"""One mail on its way through the state machine, where every step can be stopped, crossed by another, or killed.

The store, the fake mailbox and the delivery are the real ones; only the provider's face and two doors on the way are
wrapped, so that a test can stand at each *point* of an attempt:

    built        the bytes are made, ``transmitting`` is not committed
    leaving      ``transmitting`` is committed, nothing has left
    accepted     the provider has it, nobody has heard
    answered     the answer is here, nothing of it is written down

``SteppedSending.sent`` is what the mailbox accepted: the truth that every shown state is held to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal, cast

import trio
import trio.testing

from svc.clock import HOUR_MS, VirtualClock
from svc.errors import Refusal
from svc.formats import mime
from svc.job import Job
from svc.mail.ingest_steps import INGEST_STEPS
from svc.mail.providers.seam import (
    GrantLost,
    HistoryPage,
    LostAnswer,
    Provider,
    ProviderFault,
    RawMessage,
    Refused,
    SentMessage,
    Throttled,
    Unreachable,
)
from svc.mail.sending import actions, queries, settling
from svc.mail.sending.building import Builder, Letter
from svc.mail.sending.invariants import INVARIANTS
from svc.mail.sending.model import Outgoing, SendRequest
from svc.mail.sending.rebuilding import Rebuilder
from svc.mail.sending.tasks import Delivery
from svc.mail.sync.engine import MailEngine
from svc.mail.sync.fetch import Fetched, Fetcher
from svc.mail.sync.tasks import AccountLoop
from svc.nursery import Child
from svc.principal import UNCLAIMED
from svc.scheduler import Scheduler
from svc.store import ReadTx
from svc.workspace import Workspace
from tests.quiet import all_quiet
from tests.support.mailbox import MIA, MailSync
from tests.support.waiting import until

Outcome = Literal["ok", "lost", "lost-blind", "cut", "hung", "hung-accepted", "401", "403", "429", "unreachable"]
Point = Literal["built", "leaving", "accepted", "answered"]
Action = Literal["cancel", "reschedule", "retry", "poll", "tick", "restart", "ahead", "back"]

POINTS: Final[Sequence[Point]] = ("built", "leaving", "accepted", "answered")
LONGEST_S: Final = 86_400.0
LEAVES: Final = frozenset[Outcome]({"ok", "lost", "lost-blind", "hung-accepted"})
"""After these the provider has the mail. After ``lost-blind`` the mailbox can't be read at once either."""

_FAULTS: Final[dict[str, Callable[[], ProviderFault]]] = {
    "401": lambda: GrantLost("The grant is lost."),
    "403": lambda: Refused("Refused (403)."),
    "429": lambda: Throttled("Slow down.", retry_after_s=1),
    "unreachable": lambda: Unreachable("No connection."),
    "lost": lambda: LostAnswer("Cut after it was accepted."),
    "lost-blind": lambda: LostAnswer("Cut after it was accepted."),
    "cut": lambda: LostAnswer("Cut before it was accepted, but who knows."),
}


class Killed(Exception):
    """The process is dead here."""


@dataclass(kw_only=True)
class Script:
    """What becomes of the next attempts, and what happens beside them at which point."""

    outcomes: list[Outcome] = field(default_factory=list)
    at: dict[Point, Callable[[], Awaitable[None]]] = field(default_factory=dict)
    blind: int = 0  # how often the mailbox can't be read

    def forget(self) -> None:
        self.outcomes.clear()
        self.at.clear()
        self.blind = 0

    async def reach(self, point: Point) -> None:
        happen = self.at.pop(point, None)
        if happen is not None:
            await happen()


@dataclass(frozen=True, kw_only=True)
class _ScriptedProvider:
    """The fake mailbox, whose ``send`` goes as the script says."""

    inner: Provider
    script: Script

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        if self.script.blind:
            self.script.blind -= 1
            raise Unreachable("No connection.")
        return await self.inner.history(since=since, page_token=page_token)

    async def send(self, raw: bytes, *, thread_id: str | None = None) -> SentMessage:
        await self.script.reach("leaving")
        outcome = self.script.outcomes.pop(0) if self.script.outcomes else "ok"
        sent = await self.inner.send(raw, thread_id=thread_id) if outcome in LEAVES else None
        if sent is not None:
            await self.script.reach("accepted")
        self.script.blind += outcome == "lost-blind"
        if outcome.startswith("hung"):
            await trio.sleep_forever()
        if outcome in _FAULTS:
            raise _FAULTS[outcome]()
        assert sent is not None
        return sent


@dataclass(frozen=True, kw_only=True)
class _ScriptedBuilder(Builder):
    script: Script

    async def build(self, letter: Letter, *, max_bytes: int) -> bytes:
        raw = await super().build(letter, max_bytes=max_bytes)
        await self.script.reach("built")
        return raw


@dataclass(frozen=True, kw_only=True)
class _ScriptedFetcher(Fetcher):
    script: Script

    async def prepare(self, raws: Sequence[RawMessage]) -> Fetched:
        fetched = await super().prepare(raws)
        await self.script.reach("answered")
        return fetched


@dataclass
class _OneAccount:
    """As much of the engine as delivery asks for."""

    running: AccountLoop

    def loop(self, account_id: str) -> AccountLoop | None:
        return self.running if account_id == self.running.account_id else None


@dataclass(kw_only=True)
class SteppedSending:
    mail_sync: MailSync
    wall: VirtualClock
    account_id: str
    script: Script = field(default_factory=Script)
    delivery: Delivery = field(init=False)
    loop: AccountLoop = field(init=False)
    outgoing_id: str = ""
    doubted_retries: int = 0
    held_back: bool = False
    _life: trio.CancelScope = field(default_factory=trio.CancelScope)
    _nursery: trio.Nursery | None = None
    _work: trio.Nursery | None = None

    # The life of a process

    async def start(self) -> None:
        """A process starts: what its boot does, then delivery."""
        await self.mail_sync.store.write(settling.recover)
        self.loop = self._new_loop()
        self.delivery = self._new_delivery()
        self._life = trio.CancelScope()
        assert self._nursery is not None
        await self._nursery.start(self._live)

    async def kill(self) -> None:
        """It dies here: nothing that has not been committed happens any more."""
        self._life.cancel()
        await all_quiet()

    async def restart(self) -> None:
        await self.kill()
        await self.start()

    # One mail

    async def accept(self) -> None:
        request = SendRequest(
            account_id=self.account_id,
            to=("noa@example.org",),
            cc=(),
            bcc=(),
            subject="Hello",
            html="<p>Hi.</p>",
            attachments=(),
            thread_id=None,
            quote=None,
        )
        row = await self.mail_sync.store.write(
            actions.accept, UNCLAIMED, request=request, send_at=None, draft_id=None, hold_ms=0
        )
        self.outgoing_id = row.id
        self.doubted_retries = 0
        self.held_back = False
        self.script.forget()

    async def row(self) -> Outgoing:
        row = await self.mail_sync.store.read(queries.outgoing, self.outgoing_id)
        assert row is not None
        return row

    def sent(self) -> int:
        """How often the mailbox accepted this mail."""
        return sum(_mark_of(one.raw) == self.outgoing_id for one in self.mail_sync.fake_mail.mailbox(MIA).sent)

    # What may happen

    async def attempt(self, outcome: Outcome, *, beside: tuple[Point, Action] | None = None) -> None:
        """Time passes until it is due, if it ever is, and an attempt ends so."""
        self.script.outcomes[:] = [outcome]
        if beside is not None:
            point, action = beside
            self.script.at[point] = lambda: self.do(action)
        await self._when_due()
        await self.delivery.tick()
        await self.settled()
        self.script.forget()

    async def deliver(self) -> None:
        """The steps of one attempt by themselves, in the caller's task."""
        child = Child(
            name="alone", log=self.mail_sync.log, work=self._open(), ready=lambda: None, drain_asked=trio.Event()
        )
        await self.delivery._send_all(self.account_id, child)

    async def attempt_killed(self, point: Point) -> None:
        """An attempt under which the process dies, and a new one starts."""
        dead = trio.Event()

        async def die() -> None:
            dead.set()
            await trio.sleep_forever()

        self.script.outcomes[:] = ["ok"]
        self.script.at[point] = die
        await self._when_due()
        await self.delivery.tick()
        with trio.move_on_after(1):
            await dead.wait()
        await self.kill()
        self.script.forget()
        await self.start()

    async def do(self, action: Action) -> None:
        """One thing that may happen at any time. What is refused changes nothing."""
        try:
            await self._do(action)
        except Refusal:
            return

    async def settled(self) -> None:
        """Until nothing of an attempt is under way any more, the look into the mailbox after it included."""
        work = self._open()
        await until(  # a nursery has no event for that
            lambda: not work.child_tasks, what="the attempt to end", within_s=LONGEST_S, longest_pause_s=60
        )

    async def _do(self, action: Action) -> None:
        store = self.mail_sync.store
        if action == "cancel":
            row = await store.write(actions.cancel, UNCLAIMED, outgoing_id=self.outgoing_id)
            self.held_back = row.state == "cancelled"
        elif action == "reschedule":
            now = self.wall.now()
            await store.write(actions.reschedule, UNCLAIMED, outgoing_id=self.outgoing_id, send_at=now)
        elif action == "retry":
            doubted = (await self.row()).state == "uncertain"
            await store.write(actions.retry, UNCLAIMED, outgoing_id=self.outgoing_id)
            self.doubted_retries += doubted
        elif action == "poll":
            await self.loop.sync.step()
        elif action == "tick":
            await self.delivery.tick()
        elif action == "restart":
            await self.restart()
        else:
            self.wall.offset_ms += 13 * HOUR_MS if action == "ahead" else -13 * HOUR_MS

    # What must always be true

    async def check(self, story: object, *, at_rest: bool = True) -> None:
        row, sent = await self.row(), self.sent()
        told = f"{story}: {row.state}, doubt {row.doubt}, accepted {sent} times"
        assert sent <= 1 + self.doubted_retries, told
        if self.held_back:
            assert (row.state, sent) == ("cancelled", 0), told
        if row.state == "sent":
            assert sent >= 1, told
        if row.state in {"failed", "cancelled"}:
            assert sent == 0, told
        if row.state in {"scheduled", "held", "overdue"} and not row.doubt:
            assert sent == 0, told
        if at_rest:
            assert row.state != "transmitting", told
        (events,) = await self.mail_sync.rows(
            "select count(*) from events where type = 'mail-sent' and json_extract(payload, '$.outgoingId') = :id",
            id=self.outgoing_id,
        )
        assert events == (int(row.state == "sent"),), told

    async def check_in_the_end(self, story: object) -> None:
        """Once the mailbox was read nothing that it holds is doubted, and each copy stands here once."""
        await self.loop.sync.step()
        await self.check(story)
        row, sent = await self.row(), self.sent()
        if sent:
            assert row.state == "sent", f"{story}: {row.state} while it stands among sent mail"
        copies = await self.mail_sync.rows(
            "select id from mail_messages where message_id_header = :header", header=row.message_id_header
        )
        assert len(copies) == sent, story
        assert await self.mail_sync.store.read(_problems) == [], story
        assert await self.mail_sync.problems() == [], story

    # The parts

    def _open(self) -> trio.Nursery:
        assert self._work is not None
        return self._work

    async def _when_due(self) -> None:
        row = await self.row()
        if row.next_at is not None:
            await trio.sleep(max(0.0, (row.next_at - self.wall.now()) / 1_000))

    async def _live(self, task_status: trio.TaskStatus[None]) -> None:
        with self._life:
            async with trio.open_nursery() as work:
                self._work = work
                child = Child(
                    name="sending",
                    log=self.mail_sync.log,
                    work=work,
                    ready=task_status.started,
                    drain_asked=trio.Event(),
                )
                await self.delivery.run(child)

    def _new_loop(self) -> AccountLoop:
        provider = cast(Provider, _ScriptedProvider(inner=self.mail_sync.fake_mail.provider(MIA), script=self.script))
        loop = self.mail_sync.loop_of(self.account_id, provider)
        fetcher = loop.sync.fetcher
        scripted = _ScriptedFetcher(
            account_id=fetcher.account_id,
            provider=fetcher.provider,
            blobs=fetcher.blobs,
            threads=fetcher.threads,
            processes=fetcher.processes,
            clock=fetcher.clock,
            log=fetcher.log,
            script=self.script,
        )
        object.__setattr__(loop.sync, "fetcher", scripted)
        return loop

    def _new_delivery(self) -> Delivery:
        mail_sync = self.mail_sync
        scheduler = Scheduler(clock=mail_sync.clock, context=cast(Workspace, None))
        rebuilder = Rebuilder(
            blobs=mail_sync.blobs, threads=mail_sync.threads, processes=mail_sync.processes, log=mail_sync.log
        )
        delivery = Delivery(
            store=mail_sync.store,
            blobs=mail_sync.blobs,
            engine=cast(MailEngine, _OneAccount(self.loop)),
            steps=INGEST_STEPS,
            builder=_ScriptedBuilder(
                store=mail_sync.store,
                blobs=mail_sync.blobs,
                threads=mail_sync.threads,
                rebuilder=rebuilder,
                clock=mail_sync.clock,
                script=self.script,
            ),
            scheduler=scheduler,
            clock=mail_sync.clock,
            rng=mail_sync.rng,
            hold_ms=0,
        )
        scheduler.add(Job(name="mail-sending", summary="", run=lambda context: delivery.tick()))
        return delivery


def _problems(tx: ReadTx) -> list[str]:
    return [problem for one in INVARIANTS if one.yields == "problems" for problem in one.check(tx)]


@asynccontextmanager
async def open_stepped(mail_sync: MailSync, wall: VirtualClock) -> AsyncIterator[SteppedSending]:
    """An account, caught up, and a process that delivers."""
    stepped = SteppedSending(mail_sync=mail_sync, wall=wall, account_id=await mail_sync.synced("Welcome"))
    async with trio.open_nursery() as nursery:
        stepped._nursery = nursery
        await stepped.start()
        yield stepped
        nursery.cancel_scope.cancel()


@cache
def _mark_of(raw: bytes) -> str | None:
    """Asked for each mail of a test again and again."""
    return mime.parse_message(raw).outgoing_mark
