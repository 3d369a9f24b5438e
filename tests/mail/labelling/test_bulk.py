"""Many changes at once on their way to the provider: in few calls, and as safe as one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trio

from svc.clock import DAY_MS, VirtualClock
from svc.fakes.mail.provider import FakeProvider
from svc.log import Log
from svc.mail.labelling import actions
from svc.mail.labelling import inbox_actions as thread_actions
from svc.nursery import ThreadPool
from tests.support.mailbox import MIA, Rig, open_rig

Labels = frozenset[str]
MANY = 25


@dataclass(frozen=True, kw_only=True)
class Watched(FakeProvider):
    """Notes each call: how many messages, added, removed."""

    asked: list[tuple[int, Labels, Labels]] = field(default_factory=list)
    faults: list[Exception] = field(default_factory=list)

    async def modify(self, message_id: str, *, add: Labels, remove: Labels) -> None:
        self.asked.append((1, add, remove))
        await super().modify(message_id, add=add, remove=remove)

    async def modify_many(self, message_ids: Sequence[str], *, add: Labels, remove: Labels) -> None:
        self.asked.append((len(message_ids), add, remove))
        if self.faults:
            raise self.faults.pop(0)
        await super().modify_many(message_ids, add=add, remove=remove)


async def a_mailbox(rig: Rig, count: int = MANY) -> tuple[str, list[str]]:
    """The account, and its threads' ids."""
    for number in range(count):
        await rig.inject(f"Mail {number}")
    account_id = await rig.synced()
    return account_id, [str(row[0]) for row in await rig.rows("select id from mail_threads order by id")]


async def archive(rig: Rig, thread_ids: Sequence[str]) -> None:
    await rig.store.write(thread_actions.archive, rig.principal, thread_ids=thread_ids)


async def still_in_the_inbox(rig: Rig) -> int:
    return len((await rig.world.provider(MIA).list_messages(label="INBOX", limit=500)).messages)


async def test_the_same_change_of_many_messages_is_one_call(rig: Rig) -> None:
    account_id, thread_ids = await a_mailbox(rig)
    provider = Watched(world=rig.world, address=MIA)
    await archive(rig, thread_ids)
    before = rig.store.outbox.head()
    await rig.loop_of(account_id, provider).sync_now()
    assert provider.asked == [(MANY, frozenset(), frozenset({"INBOX"}))]
    assert await still_in_the_inbox(rig) == 0
    assert await rig.pending() == []
    assert [row.kind for row in await rig.news(after=before)].count("account.changed") == 1


async def test_a_few_go_one_by_one_because_that_is_cheaper(rig: Rig) -> None:
    few = FakeProvider.capabilities.bulk_min - 1
    account_id, thread_ids = await a_mailbox(rig, few)
    provider = Watched(world=rig.world, address=MIA)
    await archive(rig, thread_ids)
    await rig.loop_of(account_id, provider).sync_now()
    assert [count for count, *_ in provider.asked] == [1] * few


async def test_each_messages_own_changes_stay_in_their_order(rig: Rig) -> None:
    account_id, thread_ids = await a_mailbox(rig)
    provider = Watched(world=rig.world, address=MIA)
    await archive(rig, thread_ids)
    await rig.store.write(thread_actions.unarchive, rig.principal, thread_ids=thread_ids[:20])
    await archive(rig, thread_ids[:15])
    await rig.loop_of(account_id, provider).sync_now()
    assert [(count, sorted(add), sorted(remove)) for count, add, remove in provider.asked] == [
        (25, [], ["INBOX"]),
        (20, ["INBOX"], []),
        (15, [], ["INBOX"]),
    ]
    assert await still_in_the_inbox(rig) == 5


async def test_messages_deleted_meanwhile_do_not_hold_up_the_others(rig: Rig) -> None:
    account_id, thread_ids = await a_mailbox(rig)
    await archive(rig, thread_ids)
    await rig.world.delete(address=MIA, message_id="fake-7")
    await rig.loop_of(account_id).sync_now()
    assert await still_in_the_inbox(rig) == 0
    assert (await rig.pending(), await rig.failures(), await rig.problems()) == ([], [], [])


@pytest.mark.parametrize("fault", [500, "timeout", "lost-answer", 429])
async def test_a_call_that_fails_is_repeated_as_a_whole_and_harms_nothing(rig: Rig, fault: object) -> None:
    account_id, thread_ids = await a_mailbox(rig)
    provider = Watched(world=rig.world, address=MIA)
    await archive(rig, thread_ids)
    rig.world.fault(address=MIA, operation="modify", fault=fault, times=1)  # type: ignore[arg-type]
    loop = rig.loop_of(account_id, provider)
    async with rig.running(loop):
        await trio.sleep(120)
    assert [count for count, *_ in provider.asked] == [MANY, MANY]
    assert await still_in_the_inbox(rig) == 0
    assert await rig.pending() == await rig.failures() == []


async def test_what_was_done_before_a_crash_is_done_again_without_harm(
    tmp_path: Path, wall: VirtualClock, log: Log, threads: ThreadPool
) -> None:
    async with open_rig(tmp_path, clock=wall, log=log, threads=threads) as rig:
        account_id, thread_ids = await a_mailbox(rig)
        await archive(rig, thread_ids)
        ids = [f"fake-{number}" for number in range(1, MANY + 1)]
        await rig.world.modify_many(MIA, ids, add=frozenset(), remove=frozenset({"INBOX"}))
        assert len(await rig.pending()) == MANY  # the answer was never written down
    async with open_rig(tmp_path, clock=wall, log=log, threads=threads) as rig:
        await rig.loop_of(account_id).sync_now()
        assert (await rig.pending(), await rig.failures(), await rig.problems()) == ([], [], [])
        assert await still_in_the_inbox(rig) == 0


async def test_one_message_that_spoils_the_call_does_not_spoil_the_change(rig: Rig) -> None:
    account_id, thread_ids = await a_mailbox(rig)
    await archive(rig, thread_ids)
    rig.world.fault(address=MIA, operation="modify", fault=403, times=2)  # the call for all, and the first one alone
    await rig.loop_of(account_id).sync_now()
    assert await still_in_the_inbox(rig) == 1
    (told,) = await rig.failures()
    spoilt = str(told[0])
    assert await rig.labels_here(account_id, spoilt) == await rig.labels_at_provider(spoilt) == {"INBOX", "UNREAD"}
    assert (await rig.pending(), await rig.problems()) == ([], [])


async def test_many_changes_to_a_label_that_is_gone_end_at_once(rig: Rig) -> None:
    account_id, thread_ids = await a_mailbox(rig)
    provider = Watched(world=rig.world, address=MIA)
    loop = rig.loop_of(account_id, provider)
    label = await loop.sync.make_label("Clients", color=None)
    await rig.store.write(
        actions.set_labels, rig.principal, thread_ids=thread_ids, add=frozenset({label.id}), remove=frozenset()
    )
    await rig.world.delete_label(address=MIA, label_id=label.id)
    await loop.sync_now()
    assert len(provider.asked) == 1
    assert await rig.pending() == []
    assert len(await rig.failures()) == MANY
    assert await rig.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD"}


async def test_a_provider_that_falls_silent_halfway_keeps_the_rest_for_later(rig: Rig) -> None:
    account_id, thread_ids = await a_mailbox(rig)
    await archive(rig, thread_ids)
    rig.world.fault(address=MIA, operation="modify", fault=403, times=1)
    rig.world.fault(address=MIA, operation="modify", fault=403, times=1)
    rig.world.fault(address=MIA, operation="modify", fault=500, times=1)
    loop = rig.loop_of(account_id)
    await loop.sync_now()
    assert len(await rig.pending()) == MANY - 1
    async with rig.running(loop):
        await trio.sleep(60)
    assert await rig.pending() == []
    assert await still_in_the_inbox(rig) == 1


# What is refused is taken back


async def test_a_refused_change_is_taken_back_at_once_and_told(rig: Rig) -> None:
    account_id = await rig.synced("one")
    thread_id = await rig.thread_id_of("fake-1")
    await archive(rig, [thread_id])
    await rig.store.write(
        actions.set_labels, rig.principal, thread_ids=[thread_id], add=frozenset({"STARRED"}), remove=frozenset()
    )
    await rig.world.set_labels(address=MIA, message_id="fake-1", labels=frozenset({"INBOX", "IMPORTANT"}))
    rig.world.fault(address=MIA, operation="modify", fault=403, times=1)
    before = rig.store.outbox.head()
    loop = rig.loop_of(account_id)
    await loop._flush_outbox()
    assert await rig.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD", "STARRED"}  # IMPORTANT: history tells
    assert [row[0] for row in await rig.failures()] == ["fake-1"]
    assert "thread.changed" in [row.kind for row in await rig.news(after=before)]
    assert await rig.problems() == []
    await loop.sync_now()
    assert await rig.labels_here(account_id, "fake-1") == await rig.labels_at_provider("fake-1")


async def test_a_refusal_of_a_message_that_can_not_be_read_takes_the_change_back_too(rig: Rig) -> None:
    account_id = await rig.synced("one")
    await archive(rig, [await rig.thread_id_of("fake-1")])
    rig.world.fault(address=MIA, operation="modify", fault=403, times=1)
    rig.world.fault(address=MIA, operation="get", fault=403, times=1)
    await rig.loop_of(account_id).sync_now()
    assert await rig.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD"}
    assert await rig.pending() == []


@pytest.mark.thorough
async def test_a_change_given_up_after_a_week_is_taken_back_too(rig: Rig, wall: VirtualClock) -> None:
    account_id = await rig.synced("one")
    await archive(rig, [await rig.thread_id_of("fake-1")])
    rig.world.fault(address=MIA, operation="modify", fault=500, times=100)
    async with rig.running(rig.loop_of(account_id)):
        await trio.sleep(60)
        wall.offset_ms += 8 * DAY_MS
        await trio.sleep(6 * 3_600)
    assert await rig.pending() == []
    assert await rig.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD"}


async def test_a_message_deleted_at_the_provider_takes_its_failures_along(rig: Rig) -> None:
    account_id = await rig.synced("one")
    await archive(rig, [await rig.thread_id_of("fake-1")])
    rig.world.fault(address=MIA, operation="modify", fault=403, times=1)
    rig.world.fault(address=MIA, operation="get", fault=403, times=3)
    loop = rig.loop_of(account_id)
    await loop.sync_now()
    await rig.inject("never fetched")
    await loop.sync_now()
    assert [row[:2] for row in await rig.failures()] == [("fake-1", "change"), ("fake-2", "fetch")]
    await rig.world.delete(address=MIA, message_id="fake-1")
    await rig.world.delete(address=MIA, message_id="fake-2")
    await loop.sync_now()
    assert await rig.failures() == []


async def test_what_a_sweep_finds_deleted_takes_its_failures_along(rig: Rig) -> None:
    account_id = await rig.synced("one")
    rig.world.fault(address=MIA, operation="get", fault=403, times=3)
    await rig.inject("never fetched")
    loop = rig.loop_of(account_id)
    await loop.sync_now()
    assert len(await rig.failures()) == 1
    await rig.world.delete(address=MIA, message_id="fake-2")
    await rig.world.expire_history(address=MIA)
    await loop.sync_now()
    assert await rig.failures() == []
