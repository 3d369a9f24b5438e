"""Local changes on their way to the provider: in order, through every fault, over restarts, not undone by sync."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
import trio

from svc.clock import DAY_MS, VirtualClock
from svc.fakes.mail.provider import FakeProvider
from svc.log import Log
from svc.mail.changes import queries as change_queries
from svc.mail.labelling import inbox_actions
from svc.mail.providers.seam import HistoryPage, RefusedForNow, Throttled, Unreachable
from svc.mail.sync import tasks
from svc.nursery import ThreadPool
from tests.recorded_log import RecordedLog
from tests.support.mailbox import MIA, MailSync, open_mail_sync

Labels = frozenset[str]

NONE: Labels = frozenset()
INBOX: Labels = frozenset({"INBOX"})
AWAY, BACK = (NONE, INBOX), (INBOX, NONE)


@dataclass(frozen=True, kw_only=True)
class Watched(FakeProvider):
    """Notes each change and when it was asked for; ``before`` runs first."""

    asked: list[tuple[float, str, Labels, Labels]] = field(default_factory=list)
    before: Callable[[], Awaitable[None]] | None = None

    async def modify(self, message_id: str, *, add: Labels, remove: Labels) -> None:
        self.asked.append((trio.current_time(), message_id, add, remove))
        if self.before is not None:
            await self.before()
        await super().modify(message_id, add=add, remove=remove)


@dataclass(frozen=True, kw_only=True)
class Odd(Watched):
    """Refuses each change of one message, for now."""

    async def modify(self, message_id: str, *, add: Labels, remove: Labels) -> None:
        if message_id == "fake-1":
            self._refuse(message_id)
        await super().modify(message_id, add=add, remove=remove)

    async def modify_many(self, message_ids: Sequence[str], *, add: Labels, remove: Labels) -> None:
        if "fake-1" in message_ids:
            self._refuse("fake-1")
        await super().modify_many(message_ids, add=add, remove=remove)

    def _refuse(self, message_id: str) -> None:
        self.asked.append((trio.current_time(), message_id, NONE, INBOX))
        raise RefusedForNow("Not now.")


@dataclass(frozen=True, kw_only=True)
class Offline(Watched):
    """Can't be reached until ``back`` is set."""

    back: trio.Event = field(default_factory=trio.Event)

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        self._refuse_offline()
        return await super().history(since=since, page_token=page_token)

    async def modify(self, message_id: str, *, add: Labels, remove: Labels) -> None:
        if not self.back.is_set():
            self.asked.append((trio.current_time(), message_id, add, remove))
        self._refuse_offline()
        await super().modify(message_id, add=add, remove=remove)

    def _refuse_offline(self) -> None:
        if not self.back.is_set():
            raise Unreachable("The provider can't be reached: no network.")


async def archive(mail_sync: MailSync, provider_message_id: str) -> None:
    thread_id = await mail_sync.thread_id_of(provider_message_id)
    await mail_sync.store.write(inbox_actions.archive, mail_sync.principal, thread_ids=[thread_id])


async def unarchive(mail_sync: MailSync, provider_message_id: str) -> None:
    thread_id = await mail_sync.thread_id_of(provider_message_id)
    await mail_sync.store.write(inbox_actions.unarchive, mail_sync.principal, thread_ids=[thread_id])


async def test_a_change_reaches_the_provider_as_soon_as_the_loop_is_woken(mail_sync: MailSync) -> None:
    loop = mail_sync.loop_of(await mail_sync.synced("one"))
    async with mail_sync.running(loop):
        await trio.sleep(1)
        await archive(mail_sync, "fake-1")
        loop.wake_outbox()
        await trio.sleep(1)
        assert await mail_sync.labels_at_provider("fake-1") == {"UNREAD"}
        assert await mail_sync.pending() == []


async def test_changes_wait_through_a_restart(
    tmp_path: Path, wall: VirtualClock, log: Log, threads: ThreadPool
) -> None:
    async with open_mail_sync(tmp_path, clock=wall, log=log, threads=threads) as mail_sync:
        account_id = await mail_sync.synced("one", "two")
        await archive(mail_sync, "fake-1")
        await archive(mail_sync, "fake-2")
    async with open_mail_sync(tmp_path, clock=wall, log=log, threads=threads) as mail_sync:
        assert [row[0] for row in await mail_sync.pending()] == ["fake-1", "fake-2"]
        async with mail_sync.running(mail_sync.loop_of(account_id)):
            await trio.sleep(1)
        assert (
            await mail_sync.labels_at_provider("fake-1") == await mail_sync.labels_at_provider("fake-2") == {"UNREAD"}
        )


async def test_the_changes_of_one_message_arrive_in_their_order(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    provider = Watched(world=mail_sync.fake_mail, address=MIA)
    for act in (archive, unarchive, archive, unarchive):
        await act(mail_sync, "fake-1")
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=500, times=3)
    await mail_sync.loop_of(account_id, provider).sync_now()
    async with mail_sync.running(mail_sync.loop_of(account_id, provider)):
        await trio.sleep(3_600)
    done = [(add, remove) for _, _, add, remove in provider.asked[3:]]
    assert done == [AWAY, BACK, AWAY, BACK]
    assert (
        await mail_sync.labels_at_provider("fake-1")
        == await mail_sync.labels_here(account_id, "fake-1")
        == {"INBOX", "UNREAD"}
    )


async def test_who_asks_for_a_sync_while_the_loop_sends_doubles_and_reorders_nothing(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")

    async def dawdle() -> None:
        await trio.sleep(mail_sync.rng.uniform(0, 5))

    slow = Watched(world=mail_sync.fake_mail, address=MIA, before=dawdle)
    loop = mail_sync.loop_of(account_id, slow)
    await archive(mail_sync, "fake-1")
    await unarchive(mail_sync, "fake-1")
    async with mail_sync.running(loop), trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(loop.sync_now)
    assert [(add, remove) for _, _, add, remove in slow.asked] == [AWAY, BACK]


async def test_a_change_behind_one_that_waits_has_no_time_of_its_own(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    provider = Watched(world=mail_sync.fake_mail, address=MIA)
    loop = mail_sync.loop_of(account_id, provider)
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=500, times=1)
    await archive(mail_sync, "fake-1")
    await loop.sync_now()
    await unarchive(mail_sync, "fake-1")
    next_at = await mail_sync.store.read(change_queries.next_change_at, account_id)
    assert next_at is not None
    assert next_at > mail_sync.clock.now()  # else the loop would spin until the first may go
    async with mail_sync.running(loop):
        await trio.sleep(60)
    assert len(provider.asked) == 3
    assert provider.asked[1][0] - provider.asked[0][0] >= tasks.FIRST_PAUSE_S / 2
    assert await mail_sync.pending() == []


async def test_a_change_whose_answer_was_lost_is_repeated_without_harm(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    provider = Watched(world=mail_sync.fake_mail, address=MIA)
    await archive(mail_sync, "fake-1")
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault="lost-answer", times=1)
    async with mail_sync.running(mail_sync.loop_of(account_id, provider)):
        await trio.sleep(60)
    assert len(provider.asked) == 2
    assert (
        await mail_sync.labels_at_provider("fake-1") == await mail_sync.labels_here(account_id, "fake-1") == {"UNREAD"}
    )
    assert await mail_sync.pending() == await mail_sync.failures() == []


@pytest.mark.parametrize("gone_by", ["fault", "deletion"])
async def test_a_change_to_a_message_that_is_gone_there_is_done_with(mail_sync: MailSync, gone_by: str) -> None:
    account_id = await mail_sync.synced("one")
    await archive(mail_sync, "fake-1")
    if gone_by == "fault":
        mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=404, times=1)
    else:
        await mail_sync.fake_mail.delete(address=MIA, message_id="fake-1")
    await mail_sync.loop_of(account_id).sync_now()
    assert await mail_sync.pending() == await mail_sync.failures() == []
    assert (await mail_sync.account(account_id)).state == "caught-up"


async def test_a_refused_change_stands_on_the_ledger_and_holds_up_nobody(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one", "two")
    await archive(mail_sync, "fake-1")
    await archive(mail_sync, "fake-2")
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=403, times=1)
    await mail_sync.loop_of(account_id).sync_now()
    assert await mail_sync.pending() == []
    assert await mail_sync.failures() == [("fake-1", "change", "The provider refuses this (403).")]
    assert await mail_sync.labels_at_provider("fake-2") == {"UNREAD"}
    assert (await mail_sync.account(account_id)).state == "caught-up"


async def test_a_provider_that_asks_for_a_pause_gets_it(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    waits = iter([Throttled("Slow down.", retry_after_s=400.0)])

    async def throttled_once() -> None:
        for fault in waits:
            raise fault

    provider = Watched(world=mail_sync.fake_mail, address=MIA, before=throttled_once)
    await archive(mail_sync, "fake-1")
    loop = mail_sync.loop_of(account_id, provider)
    async with mail_sync.running(loop):
        for _ in range(100):
            await trio.sleep(10)
            loop.wake_outbox()  # however often somebody is impatient
    first, second = [at for at, *_ in provider.asked]
    assert 400 <= second - first < 411
    assert await mail_sync.pending() == []


async def test_a_change_that_is_refused_for_now_again_and_again_is_given_up_soon_and_holds_up_nobody(
    mail_sync: MailSync,
) -> None:
    account_id = await mail_sync.synced("one", "two")
    provider = Odd(world=mail_sync.fake_mail, address=MIA)
    await archive(mail_sync, "fake-1")
    await archive(mail_sync, "fake-2")
    async with mail_sync.running(mail_sync.loop_of(account_id, provider)):
        await trio.sleep(600)
    assert [at for at, message_id, *_ in provider.asked if message_id == "fake-1"][1] >= tasks.FIRST_PAUSE_S / 2
    assert await mail_sync.pending() == []
    assert await mail_sync.failures() == [("fake-1", "change", "Not now.")]
    assert await mail_sync.labels_at_provider("fake-2") == {"UNREAD"}


async def test_pauses_grow_while_the_provider_fails_and_end_when_it_is_back(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    provider = Watched(world=mail_sync.fake_mail, address=MIA)
    await archive(mail_sync, "fake-1")
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=500, times=12)
    async with mail_sync.running(mail_sync.loop_of(account_id, provider)):
        await trio.sleep(5_000)
    times = [at for at, *_ in provider.asked]
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert len(pauses) == 12
    assert pauses[0] <= tasks.FIRST_PAUSE_S
    assert max(pauses) <= tasks.LONGEST_PAUSE_S + 1
    assert min(pauses[8:]) >= tasks.LONGEST_PAUSE_S / 2
    assert await mail_sync.pending() == await mail_sync.failures() == []


async def test_a_day_offline_loses_no_change(mail_sync: MailSync, log: RecordedLog) -> None:
    account_id = await mail_sync.synced("one", "two")
    provider = Offline(world=mail_sync.fake_mail, address=MIA)
    loop = mail_sync.loop_of(account_id, provider)
    async with mail_sync.running(loop):
        for provider_id in ("fake-1", "fake-2"):
            await archive(mail_sync, provider_id)
            loop.wake_outbox()
            await trio.sleep(12 * 3_600)
        assert [row[0] for row in await mail_sync.pending()] == ["fake-1", "fake-2"]
        assert (
            await mail_sync.labels_here(account_id, "fake-1")
            == await mail_sync.labels_here(account_id, "fake-2")
            == {"UNREAD"}
        )
        assert (await mail_sync.account(account_id)).state == "waiting"
        assert len(provider.asked) < 400
        provider.back.set()
        await trio.sleep(3_600)
    assert await mail_sync.labels_at_provider("fake-1") == await mail_sync.labels_at_provider("fake-2") == {"UNREAD"}
    assert await mail_sync.pending() == await mail_sync.failures() == []
    assert (await mail_sync.account(account_id)).state == "caught-up"
    assert log.events("error") == []


@pytest.mark.thorough
async def test_a_change_that_failed_often_and_for_a_week_is_given_up_and_shown(
    mail_sync: MailSync, wall: VirtualClock
) -> None:
    account_id = await mail_sync.synced("one")
    await archive(mail_sync, "fake-1")
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault="timeout", times=100)
    async with mail_sync.running(mail_sync.loop_of(account_id)):
        await trio.sleep(60)
        wall.offset_ms += 8 * DAY_MS  # the laptop was closed: that alone is no reason
        await trio.sleep(3_600)
        assert len(await mail_sync.pending()) == 1
        await trio.sleep(4 * 3_600)
    assert await mail_sync.pending() == []
    assert await mail_sync.failures() == [("fake-1", "change", "The provider did not answer in time.")]


async def test_a_pending_change_is_not_undone_by_what_the_provider_tells_meanwhile(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    await archive(mail_sync, "fake-1")
    await mail_sync.fake_mail.set_labels(address=MIA, message_id="fake-1", labels=frozenset())
    await mail_sync.fake_mail.set_labels(address=MIA, message_id="fake-1", labels=frozenset({"INBOX", "STARRED"}))
    await mail_sync.sync_of(account_id).step()
    assert await mail_sync.labels_here(account_id, "fake-1") == {"STARRED"}
    await mail_sync.fake_mail.expire_history(address=MIA)
    await mail_sync.sync_of(account_id).step()
    assert await mail_sync.labels_here(account_id, "fake-1") == {"STARRED"}
    await mail_sync.loop_of(account_id).sync_now()
    assert (
        await mail_sync.labels_at_provider("fake-1") == await mail_sync.labels_here(account_id, "fake-1") == {"STARRED"}
    )


@pytest.mark.parametrize("act", [archive, unarchive])
async def test_a_pending_change_stays_on_top_of_each_delta_that_says_otherwise(
    mail_sync: MailSync, act: Callable[[MailSync, str], Awaitable[None]]
) -> None:
    before = INBOX if act is archive else NONE
    await mail_sync.inject(labels=before)
    account_id = await mail_sync.synced()
    await act(mail_sync, "fake-1")
    wanted = await mail_sync.labels_here(account_id, "fake-1")
    assert wanted == INBOX - before
    for labels in (wanted, before, wanted | {"STARRED"}, before):
        await mail_sync.fake_mail.set_labels(address=MIA, message_id="fake-1", labels=frozenset(labels))
        await mail_sync.sync_of(account_id).step()
        here = await mail_sync.labels_here(account_id, "fake-1")
        assert here is not None
        assert here - {"STARRED"} == wanted


async def test_an_account_whose_grant_is_lost_keeps_its_changes_for_the_next_connection(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    await archive(mail_sync, "fake-1")
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=401, times=2)
    mail_sync.fake_mail.fault(address=MIA, operation="history", fault=401, times=2)
    async with mail_sync.running(mail_sync.loop_of(account_id)):
        await trio.sleep(60)
        assert (await mail_sync.account(account_id)).state == "reconnect"
        assert len(await mail_sync.pending()) == 1
    await mail_sync.connect()
    async with mail_sync.running(mail_sync.loop_of(account_id)):
        await trio.sleep(60)
    assert await mail_sync.pending() == []
    assert await mail_sync.labels_at_provider("fake-1") == {"UNREAD"}
