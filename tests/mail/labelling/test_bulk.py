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
from tests.support.mailbox import MIA, MailSync, open_mail_sync

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


async def a_mailbox(mail_sync: MailSync, count: int = MANY) -> tuple[str, list[str]]:
    """The account, and its threads' ids."""
    for number in range(count):
        await mail_sync.inject(f"Mail {number}")
    account_id = await mail_sync.synced()
    return account_id, [str(row[0]) for row in await mail_sync.rows("select id from mail_threads order by id")]


async def archive(mail_sync: MailSync, thread_ids: Sequence[str]) -> None:
    await mail_sync.store.write(thread_actions.archive, mail_sync.principal, thread_ids=thread_ids)


async def still_in_the_inbox(mail_sync: MailSync) -> int:
    return len((await mail_sync.fake_mail.provider(MIA).list_messages(label="INBOX", limit=500)).messages)


async def test_the_same_change_of_many_messages_is_one_call(mail_sync: MailSync) -> None:
    account_id, thread_ids = await a_mailbox(mail_sync)
    provider = Watched(world=mail_sync.fake_mail, address=MIA)
    await archive(mail_sync, thread_ids)
    before = mail_sync.store.outbox.head()
    await mail_sync.loop_of(account_id, provider).sync_now()
    assert provider.asked == [(MANY, frozenset(), frozenset({"INBOX"}))]
    assert await still_in_the_inbox(mail_sync) == 0
    assert await mail_sync.pending() == []
    assert [row.kind for row in await mail_sync.news(after=before)].count("account.changed") == 1


async def test_a_few_go_one_by_one_because_that_is_cheaper(mail_sync: MailSync) -> None:
    few = FakeProvider.capabilities.bulk_min - 1
    account_id, thread_ids = await a_mailbox(mail_sync, few)
    provider = Watched(world=mail_sync.fake_mail, address=MIA)
    await archive(mail_sync, thread_ids)
    await mail_sync.loop_of(account_id, provider).sync_now()
    assert [count for count, *_ in provider.asked] == [1] * few


async def test_each_messages_own_changes_stay_in_their_order(mail_sync: MailSync) -> None:
    account_id, thread_ids = await a_mailbox(mail_sync)
    provider = Watched(world=mail_sync.fake_mail, address=MIA)
    await archive(mail_sync, thread_ids)
    await mail_sync.store.write(thread_actions.unarchive, mail_sync.principal, thread_ids=thread_ids[:20])
    await archive(mail_sync, thread_ids[:15])
    await mail_sync.loop_of(account_id, provider).sync_now()
    assert [(count, sorted(add), sorted(remove)) for count, add, remove in provider.asked] == [
        (25, [], ["INBOX"]),
        (20, ["INBOX"], []),
        (15, [], ["INBOX"]),
    ]
    assert await still_in_the_inbox(mail_sync) == 5


async def test_messages_deleted_meanwhile_do_not_hold_up_the_others(mail_sync: MailSync) -> None:
    account_id, thread_ids = await a_mailbox(mail_sync)
    await archive(mail_sync, thread_ids)
    await mail_sync.fake_mail.delete(address=MIA, message_id="fake-7")
    await mail_sync.loop_of(account_id).sync_now()
    assert await still_in_the_inbox(mail_sync) == 0
    assert (await mail_sync.pending(), await mail_sync.failures(), await mail_sync.problems()) == ([], [], [])


@pytest.mark.parametrize("fault", [500, "timeout", "lost-answer", 429])
async def test_a_call_that_fails_is_repeated_as_a_whole_and_harms_nothing(mail_sync: MailSync, fault: object) -> None:
    account_id, thread_ids = await a_mailbox(mail_sync)
    provider = Watched(world=mail_sync.fake_mail, address=MIA)
    await archive(mail_sync, thread_ids)
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=fault, times=1)  # type: ignore[arg-type]
    loop = mail_sync.loop_of(account_id, provider)
    async with mail_sync.running(loop):
        await trio.sleep(120)
    assert [count for count, *_ in provider.asked] == [MANY, MANY]
    assert await still_in_the_inbox(mail_sync) == 0
    assert await mail_sync.pending() == await mail_sync.failures() == []


async def test_what_was_done_before_a_crash_is_done_again_without_harm(
    tmp_path: Path, wall: VirtualClock, log: Log, threads: ThreadPool
) -> None:
    async with open_mail_sync(tmp_path, clock=wall, log=log, threads=threads) as mail_sync:
        account_id, thread_ids = await a_mailbox(mail_sync)
        await archive(mail_sync, thread_ids)
        ids = [f"fake-{number}" for number in range(1, MANY + 1)]
        await mail_sync.fake_mail.modify_many(MIA, ids, add=frozenset(), remove=frozenset({"INBOX"}))
        assert len(await mail_sync.pending()) == MANY  # the answer was never written down
    async with open_mail_sync(tmp_path, clock=wall, log=log, threads=threads) as mail_sync:
        await mail_sync.loop_of(account_id).sync_now()
        assert (await mail_sync.pending(), await mail_sync.failures(), await mail_sync.problems()) == ([], [], [])
        assert await still_in_the_inbox(mail_sync) == 0


async def test_one_message_that_spoils_the_call_does_not_spoil_the_change(mail_sync: MailSync) -> None:
    account_id, thread_ids = await a_mailbox(mail_sync)
    await archive(mail_sync, thread_ids)
    mail_sync.fake_mail.fault(
        address=MIA, operation="modify", fault=403, times=2
    )  # the call for all, and the first one alone
    await mail_sync.loop_of(account_id).sync_now()
    assert await still_in_the_inbox(mail_sync) == 1
    (told,) = await mail_sync.failures()
    spoilt = str(told[0])
    assert (
        await mail_sync.labels_here(account_id, spoilt)
        == await mail_sync.labels_at_provider(spoilt)
        == {"INBOX", "UNREAD"}
    )
    assert (await mail_sync.pending(), await mail_sync.problems()) == ([], [])


async def test_many_changes_to_a_label_that_is_gone_end_at_once(mail_sync: MailSync) -> None:
    account_id, thread_ids = await a_mailbox(mail_sync)
    provider = Watched(world=mail_sync.fake_mail, address=MIA)
    loop = mail_sync.loop_of(account_id, provider)
    label = await loop.sync.make_label("Clients", color=None)
    await mail_sync.store.write(
        actions.set_labels, mail_sync.principal, thread_ids=thread_ids, add=frozenset({label.id}), remove=frozenset()
    )
    await mail_sync.fake_mail.delete_label(address=MIA, label_id=label.id)
    await loop.sync_now()
    assert len(provider.asked) == 1
    assert await mail_sync.pending() == []
    assert len(await mail_sync.failures()) == MANY
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD"}


async def test_a_provider_that_falls_silent_halfway_keeps_the_rest_for_later(mail_sync: MailSync) -> None:
    account_id, thread_ids = await a_mailbox(mail_sync)
    await archive(mail_sync, thread_ids)
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=403, times=1)
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=403, times=1)
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=500, times=1)
    loop = mail_sync.loop_of(account_id)
    await loop.sync_now()
    assert len(await mail_sync.pending()) == MANY - 1
    async with mail_sync.running(loop):
        await trio.sleep(60)
    assert await mail_sync.pending() == []
    assert await still_in_the_inbox(mail_sync) == 1


# What is refused is taken back


async def test_a_refused_change_is_taken_back_at_once_and_told(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    thread_id = await mail_sync.thread_id_of("fake-1")
    await archive(mail_sync, [thread_id])
    await mail_sync.store.write(
        actions.set_labels, mail_sync.principal, thread_ids=[thread_id], add=frozenset({"STARRED"}), remove=frozenset()
    )
    await mail_sync.fake_mail.set_labels(address=MIA, message_id="fake-1", labels=frozenset({"INBOX", "IMPORTANT"}))
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=403, times=1)
    before = mail_sync.store.outbox.head()
    loop = mail_sync.loop_of(account_id)
    await loop._flush_outbox()
    assert await mail_sync.labels_here(account_id, "fake-1") == {
        "INBOX",
        "UNREAD",
        "STARRED",
    }  # IMPORTANT: history tells
    assert [row[0] for row in await mail_sync.failures()] == ["fake-1"]
    assert "thread.changed" in [row.kind for row in await mail_sync.news(after=before)]
    assert await mail_sync.problems() == []
    await loop.sync_now()
    assert await mail_sync.labels_here(account_id, "fake-1") == await mail_sync.labels_at_provider("fake-1")


async def test_a_refusal_of_a_message_that_can_not_be_read_takes_the_change_back_too(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    await archive(mail_sync, [await mail_sync.thread_id_of("fake-1")])
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=403, times=1)
    mail_sync.fake_mail.fault(address=MIA, operation="get", fault=403, times=1)
    await mail_sync.loop_of(account_id).sync_now()
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD"}
    assert await mail_sync.pending() == []


@pytest.mark.thorough
async def test_a_change_given_up_after_a_week_is_taken_back_too(mail_sync: MailSync, wall: VirtualClock) -> None:
    account_id = await mail_sync.synced("one")
    await archive(mail_sync, [await mail_sync.thread_id_of("fake-1")])
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=500, times=100)
    async with mail_sync.running(mail_sync.loop_of(account_id)):
        await trio.sleep(60)
        wall.offset_ms += 8 * DAY_MS
        await trio.sleep(6 * 3_600)
    assert await mail_sync.pending() == []
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD"}


async def test_a_message_deleted_at_the_provider_takes_its_failures_along(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    await archive(mail_sync, [await mail_sync.thread_id_of("fake-1")])
    mail_sync.fake_mail.fault(address=MIA, operation="modify", fault=403, times=1)
    mail_sync.fake_mail.fault(address=MIA, operation="get", fault=403, times=3)
    loop = mail_sync.loop_of(account_id)
    await loop.sync_now()
    await mail_sync.inject("never fetched")
    await loop.sync_now()
    assert [row[:2] for row in await mail_sync.failures()] == [("fake-1", "change"), ("fake-2", "fetch")]
    await mail_sync.fake_mail.delete(address=MIA, message_id="fake-1")
    await mail_sync.fake_mail.delete(address=MIA, message_id="fake-2")
    await loop.sync_now()
    assert await mail_sync.failures() == []


async def test_what_a_sweep_finds_deleted_takes_its_failures_along(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    mail_sync.fake_mail.fault(address=MIA, operation="get", fault=403, times=3)
    await mail_sync.inject("never fetched")
    loop = mail_sync.loop_of(account_id)
    await loop.sync_now()
    assert len(await mail_sync.failures()) == 1
    await mail_sync.fake_mail.delete(address=MIA, message_id="fake-2")
    await mail_sync.fake_mail.expire_history(address=MIA)
    await loop.sync_now()
    assert await mail_sync.failures() == []
