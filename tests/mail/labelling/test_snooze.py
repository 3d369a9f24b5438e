"""Snoozes: out of the inbox until a time, back once, whatever the clock and the mailbox do meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, VirtualClock, rfc3339
from svc.errors import Invalid, NotFound
from svc.log import Log
from svc.mail.labelling import actions
from svc.mail.labelling import inbox_actions as thread_actions
from svc.nursery import ThreadPool
from svc.principal import system
from tests.support.mailbox import MIA, Rig, open_rig, user
from tests.support.service import RpcError, Service


async def snooze(rig: Rig, provider_id: str, *, ms: int = HOUR_MS) -> int:
    until = rig.clock.now() + ms
    thread_id = await rig.thread_id_of(provider_id)
    await rig.store.write(actions.snooze, rig.principal, thread_ids=[thread_id], until=until)
    return until


async def wake(rig: Rig) -> int | None:
    return await rig.store.write(actions.wake)


async def snoozes(rig: Rig) -> list[tuple[object, ...]]:
    return await rig.rows("select thread_id, until from mail_snoozes")


async def in_inbox(rig: Rig) -> list[bool]:
    return [bool(row[0]) for row in await rig.rows("select in_inbox from mail_threads order by id")]


async def test_a_snoozed_thread_leaves_the_inbox_here_and_there_and_comes_back_unread(rig: Rig) -> None:
    account_id = await rig.synced("one", "two", thread="t")
    thread_id = await rig.thread_id_of("fake-1")
    await rig.store.write(thread_actions.open_thread, rig.principal, thread_id=thread_id)
    until = await snooze(rig, "fake-1")
    assert await snoozes(rig) == [(thread_id, until)]
    await rig.loop_of(account_id).sync_now()
    assert await rig.labels_at_provider("fake-1") == await rig.labels_at_provider("fake-2") == set()
    await trio.sleep(3_599)
    assert await wake(rig) == until
    assert await in_inbox(rig) == [False]
    await trio.sleep(1)
    assert await wake(rig) is None
    assert await rig.labels_here(account_id, "fake-1") == set()
    assert await rig.labels_here(account_id, "fake-2") == {"INBOX", "UNREAD"}
    await rig.loop_of(account_id).sync_now()
    assert await rig.labels_at_provider("fake-2") == {"INBOX", "UNREAD"}
    assert await snoozes(rig) == []
    assert await rig.problems() == []


async def test_a_thread_comes_back_once_after_a_long_sleep_and_in_a_clock_that_jumps(
    rig: Rig, wall: VirtualClock
) -> None:
    account_id = await rig.synced("one")
    await snooze(rig, "fake-1")
    wall.offset_ms += 8 * HOUR_MS
    await wake(rig)
    assert await in_inbox(rig) == [True]
    await rig.store.write(thread_actions.archive, rig.principal, thread_ids=[await rig.thread_id_of("fake-1")])
    wall.offset_ms -= 9 * HOUR_MS
    await wake(rig)
    wall.offset_ms += 10 * DAY_MS
    await wake(rig)
    assert await in_inbox(rig) == [False]
    assert await rig.labels_here(account_id, "fake-1") == {"UNREAD"}


async def test_a_reply_that_comes_meanwhile_ends_the_snooze(rig: Rig) -> None:
    account_id = await rig.synced("one", thread="t")
    await snooze(rig, "fake-1")
    await rig.loop_of(account_id).sync_now()
    await rig.inject("reply", thread="t")
    await rig.sync_of(account_id).step()
    assert await snoozes(rig) == []
    assert await in_inbox(rig) == [True]


async def test_a_mail_that_a_filter_keeps_from_the_inbox_leaves_the_snooze_to_its_time(rig: Rig) -> None:
    account_id = await rig.synced("one", thread="t")
    until = await snooze(rig, "fake-1")
    await rig.inject("filtered", thread="t", labels=frozenset({"UNREAD"}))
    await rig.sync_of(account_id).step()
    assert [row[1] for row in await snoozes(rig)] == [until]


async def test_unarchiving_and_unsnoozing_end_a_snooze_and_trash_does(rig: Rig) -> None:
    account_id = await rig.synced("one")
    thread_ids = [await rig.thread_id_of("fake-1")]
    await snooze(rig, "fake-1")
    await rig.store.write(thread_actions.unarchive, rig.principal, thread_ids=thread_ids)
    assert (await snoozes(rig), await in_inbox(rig)) == ([], [True])
    await snooze(rig, "fake-1")
    await rig.store.write(actions.unsnooze, rig.principal, thread_ids=thread_ids)
    assert (await snoozes(rig), await in_inbox(rig)) == ([], [True])
    assert await rig.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD"}
    await snooze(rig, "fake-1")
    trash = frozenset({"TRASH"})
    await rig.store.write(
        actions.set_labels, rig.principal, thread_ids=thread_ids, add=trash, remove=frozenset({"INBOX"})
    )
    assert (await snoozes(rig), await in_inbox(rig)) == ([], [False])
    assert await rig.problems() == []


async def test_unsnoozing_what_is_not_snoozed_moves_nothing(rig: Rig) -> None:
    await rig.synced("one")
    thread_ids = [await rig.thread_id_of("fake-1")]
    await rig.store.write(thread_actions.archive, rig.principal, thread_ids=thread_ids)
    before = (await rig.state(), await rig.pending(), rig.store.outbox.head())
    await rig.store.write(actions.unsnooze, rig.principal, thread_ids=thread_ids)
    assert (await rig.state(), await rig.pending(), rig.store.outbox.head()) == before


async def test_a_snooze_survives_a_restart_and_a_mailbox_that_is_read_anew(
    tmp_path: Path, wall: VirtualClock, log: Log, threads: ThreadPool
) -> None:
    async with open_rig(tmp_path, clock=wall, log=log, threads=threads) as rig:
        account_id = await rig.synced("one")
        until = await snooze(rig, "fake-1")
        await rig.loop_of(account_id).sync_now()
        await rig.world.expire_history(address=MIA)
    async with open_rig(tmp_path, clock=wall, log=log, threads=threads) as rig:
        await rig.sync_of(account_id).step()
        assert [row[1] for row in await snoozes(rig)] == [until]
        assert await in_inbox(rig) == [False]
        await trio.sleep(3_600)
        await wake(rig)
        assert await in_inbox(rig) == [True]


async def test_a_snooze_due_while_the_mailbox_is_read_anew_waits_for_its_thread(rig: Rig) -> None:
    account_id = await rig.synced("one")
    await snooze(rig, "fake-1")
    await rig.loop_of(account_id).sync_now()
    await rig.store.write(_erase, account_id)
    await trio.sleep(3_600)
    await wake(rig)
    assert len(await snoozes(rig)) == 1
    await rig.sync_of(account_id).step()
    await wake(rig)
    assert (await snoozes(rig), await in_inbox(rig)) == ([], [True])


def _erase(tx: Any, account_id: str) -> None:
    """As a resync from nothing begins."""
    tx.run("delete from mail_messages where account_id = :id", id=account_id)
    tx.run("delete from mail_threads where account_id = :id", id=account_id)
    tx.run("delete from mail_thread_labels where account_id = :id", id=account_id)
    tx.run("delete from mail_filtered_threads where account_id = :id", id=account_id)
    tx.run("update mail_accounts set cursor = null, messages = 0, unread_threads = 0 where id = :id", id=account_id)


async def test_a_thread_deleted_meanwhile_is_forgotten_and_an_account_gone_keeps_its_own(rig: Rig) -> None:
    account_id = await rig.synced("one", "two")
    await snooze(rig, "fake-1")
    await snooze(rig, "fake-2", ms=2 * HOUR_MS)
    await rig.loop_of(account_id).sync_now()
    await rig.world.delete(address=MIA, message_id="fake-1")
    await rig.sync_of(account_id).step()
    await trio.sleep(3_600)
    assert await wake(rig) is not None
    await trio.sleep(3_600)
    await rig.store.write(
        lambda tx: tx.run("update mail_accounts set state = 'disconnected' where id = :id", id=account_id)
    )
    await wake(rig)
    assert len(await snoozes(rig)) == 1
    await rig.connect()
    await wake(rig)
    assert (await snoozes(rig), await in_inbox(rig)) == ([], [True])


@pytest.mark.parametrize("ms", [0, -1, 6 * 366 * DAY_MS])
async def test_a_time_that_has_passed_or_never_comes_is_refused(rig: Rig, ms: int) -> None:
    await rig.synced("one")
    with pytest.raises(Invalid):
        await snooze(rig, "fake-1", ms=ms)
    assert await in_inbox(rig) == [True]


async def test_nobody_snoozes_spam_nor_what_is_somebody_elses(rig: Rig) -> None:
    await rig.inject("spam", labels=frozenset({"SPAM"}))
    rig.principal = user("mia")
    await rig.synced()
    with pytest.raises(Invalid):
        await snooze(rig, "fake-1")
    rig.principal = user("noa")
    with pytest.raises(NotFound):
        await snooze(rig, "fake-1")


async def test_what_is_due_at_once_comes_back_with_one_update_of_the_account(rig: Rig) -> None:
    await rig.synced("one", "two")
    for provider_id in ("fake-1", "fake-2"):
        await snooze(rig, provider_id)
    await trio.sleep(3_600)
    before = rig.store.outbox.head()
    await wake(rig)
    news = await rig.news(after=before)
    assert [row.kind for row in news] == ["thread.changed", "thread.changed", "account.changed"]
    assert {row.device_id for row in news} == {system("mail-snooze").device_id}


async def test_very_many_come_back_in_transactions_of_a_bounded_size(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "WAKE_BATCH", 1)
    await rig.synced("one", "two")
    for provider_id in ("fake-1", "fake-2"):
        await snooze(rig, provider_id)
    await trio.sleep(3_600)
    assert await wake(rig) == rig.clock.now()
    assert sorted(await in_inbox(rig)) == [False, True]
    await wake(rig)
    assert await wake(rig) is None
    assert await in_inbox(rig) == [True, True]


# Over the wire


async def test_a_snooze_is_seen_listed_and_ended_by_the_service_itself(service: Service) -> None:
    first, second = await service.synced("First", "Second")
    now = service.workspace.clock.now()
    live = await service.live("mail")
    await service.mutate("mail.snooze", threadIds=[first], until=rfc3339(now + 20 * MINUTE_MS))
    await service.mutate("mail.snooze", threadIds=[second], until="2026-12-01T08:00:00+02:00")
    told = [frame["payload"]["thread"] for frame in await live.hear_all() if frame["type"] == "event"]
    assert {one["id"]: one["snoozedUntil"] for one in told} == {
        first: rfc3339(now + 20 * MINUTE_MS),
        second: "2026-12-01T06:00:00.000Z",
    }
    found = await service.query("mail.snoozed")
    assert [(one["thread"]["subject"], one["until"]) for one in found] == [
        ("First", rfc3339(now + 20 * MINUTE_MS)),
        ("Second", "2026-12-01T06:00:00.000Z"),
    ]
    assert (await service.query("mail.threads", section="inbox"))["threads"] == []
    await trio.sleep(20 * 60 + SECOND_MS / 1_000)
    (back,) = (await service.query("mail.threads", section="inbox"))["threads"]
    assert (back["id"], back["snoozedUntil"], back["unread"]) == (first, None, True)
    await service.mutate("mail.unsnooze", threadIds=[second])
    assert await service.query("mail.snoozed") == []


async def test_a_time_without_its_zone_is_refused(service: Service) -> None:
    (thread_id,) = await service.synced("One")
    for until in ("2026-12-01T08:00:00", "tomorrow", 7, None, "9999-12-31T23:59:59Z"):
        with pytest.raises(RpcError) as refused:
            await service.mutate("mail.snooze", threadIds=[thread_id], until=until)
        assert refused.value.code == "BAD_REQUEST"
