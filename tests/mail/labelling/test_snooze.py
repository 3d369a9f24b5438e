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
from tests.support.mailbox import MIA, MailSync, open_mail_sync, user
from tests.support.service import RpcError, Service


async def snooze(mail_sync: MailSync, provider_id: str, *, ms: int = HOUR_MS) -> int:
    until = mail_sync.clock.now() + ms
    thread_id = await mail_sync.thread_id_of(provider_id)
    await mail_sync.store.write(actions.snooze, mail_sync.principal, thread_ids=[thread_id], until=until)
    return until


async def wake(mail_sync: MailSync) -> int | None:
    return await mail_sync.store.write(actions.wake)


async def snoozes(mail_sync: MailSync) -> list[tuple[object, ...]]:
    return await mail_sync.rows("select thread_id, until from mail_snoozes")


async def in_inbox(mail_sync: MailSync) -> list[bool]:
    return [bool(row[0]) for row in await mail_sync.rows("select in_inbox from mail_threads order by id")]


async def test_a_snoozed_thread_leaves_the_inbox_here_and_there_and_comes_back_unread(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one", "two", thread="t")
    thread_id = await mail_sync.thread_id_of("fake-1")
    await mail_sync.store.write(thread_actions.open_thread, mail_sync.principal, thread_id=thread_id)
    until = await snooze(mail_sync, "fake-1")
    assert await snoozes(mail_sync) == [(thread_id, until)]
    await mail_sync.loop_of(account_id).sync_now()
    assert await mail_sync.labels_at_provider("fake-1") == await mail_sync.labels_at_provider("fake-2") == set()
    await trio.sleep(3_599)
    assert await wake(mail_sync) == until
    assert await in_inbox(mail_sync) == [False]
    await trio.sleep(1)
    assert await wake(mail_sync) is None
    assert await mail_sync.labels_here(account_id, "fake-1") == set()
    assert await mail_sync.labels_here(account_id, "fake-2") == {"INBOX", "UNREAD"}
    await mail_sync.loop_of(account_id).sync_now()
    assert await mail_sync.labels_at_provider("fake-2") == {"INBOX", "UNREAD"}
    assert await snoozes(mail_sync) == []
    assert await mail_sync.problems() == []


async def test_a_thread_comes_back_once_after_a_long_sleep_and_in_a_clock_that_jumps(
    mail_sync: MailSync, wall: VirtualClock
) -> None:
    account_id = await mail_sync.synced("one")
    await snooze(mail_sync, "fake-1")
    wall.offset_ms += 8 * HOUR_MS
    await wake(mail_sync)
    assert await in_inbox(mail_sync) == [True]
    await mail_sync.store.write(
        thread_actions.archive, mail_sync.principal, thread_ids=[await mail_sync.thread_id_of("fake-1")]
    )
    wall.offset_ms -= 9 * HOUR_MS
    await wake(mail_sync)
    wall.offset_ms += 10 * DAY_MS
    await wake(mail_sync)
    assert await in_inbox(mail_sync) == [False]
    assert await mail_sync.labels_here(account_id, "fake-1") == {"UNREAD"}


async def test_a_reply_that_comes_meanwhile_ends_the_snooze(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one", thread="t")
    await snooze(mail_sync, "fake-1")
    await mail_sync.loop_of(account_id).sync_now()
    await mail_sync.inject("reply", thread="t")
    await mail_sync.sync_of(account_id).step()
    assert await snoozes(mail_sync) == []
    assert await in_inbox(mail_sync) == [True]


async def test_a_mail_that_a_filter_keeps_from_the_inbox_leaves_the_snooze_to_its_time(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one", thread="t")
    until = await snooze(mail_sync, "fake-1")
    await mail_sync.inject("filtered", thread="t", labels=frozenset({"UNREAD"}))
    await mail_sync.sync_of(account_id).step()
    assert [row[1] for row in await snoozes(mail_sync)] == [until]


async def test_unarchiving_and_unsnoozing_end_a_snooze_and_trash_does(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    thread_ids = [await mail_sync.thread_id_of("fake-1")]
    await snooze(mail_sync, "fake-1")
    await mail_sync.store.write(thread_actions.unarchive, mail_sync.principal, thread_ids=thread_ids)
    assert (await snoozes(mail_sync), await in_inbox(mail_sync)) == ([], [True])
    await snooze(mail_sync, "fake-1")
    await mail_sync.store.write(actions.unsnooze, mail_sync.principal, thread_ids=thread_ids)
    assert (await snoozes(mail_sync), await in_inbox(mail_sync)) == ([], [True])
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD"}
    await snooze(mail_sync, "fake-1")
    trash = frozenset({"TRASH"})
    await mail_sync.store.write(
        actions.set_labels, mail_sync.principal, thread_ids=thread_ids, add=trash, remove=frozenset({"INBOX"})
    )
    assert (await snoozes(mail_sync), await in_inbox(mail_sync)) == ([], [False])
    assert await mail_sync.problems() == []


async def test_unsnoozing_what_is_not_snoozed_moves_nothing(mail_sync: MailSync) -> None:
    await mail_sync.synced("one")
    thread_ids = [await mail_sync.thread_id_of("fake-1")]
    await mail_sync.store.write(thread_actions.archive, mail_sync.principal, thread_ids=thread_ids)
    before = (await mail_sync.state(), await mail_sync.pending(), mail_sync.store.outbox.head())
    await mail_sync.store.write(actions.unsnooze, mail_sync.principal, thread_ids=thread_ids)
    assert (await mail_sync.state(), await mail_sync.pending(), mail_sync.store.outbox.head()) == before


async def test_a_snooze_survives_a_restart_and_a_mailbox_that_is_read_anew(
    tmp_path: Path, wall: VirtualClock, log: Log, threads: ThreadPool
) -> None:
    async with open_mail_sync(tmp_path, clock=wall, log=log, threads=threads) as mail_sync:
        account_id = await mail_sync.synced("one")
        until = await snooze(mail_sync, "fake-1")
        await mail_sync.loop_of(account_id).sync_now()
        await mail_sync.fake_mail.expire_history(address=MIA)
    async with open_mail_sync(tmp_path, clock=wall, log=log, threads=threads) as mail_sync:
        await mail_sync.sync_of(account_id).step()
        assert [row[1] for row in await snoozes(mail_sync)] == [until]
        assert await in_inbox(mail_sync) == [False]
        await trio.sleep(3_600)
        await wake(mail_sync)
        assert await in_inbox(mail_sync) == [True]


async def test_a_snooze_due_while_the_mailbox_is_read_anew_waits_for_its_thread(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    await snooze(mail_sync, "fake-1")
    await mail_sync.loop_of(account_id).sync_now()
    await mail_sync.store.write(_erase, account_id)
    await trio.sleep(3_600)
    await wake(mail_sync)
    assert len(await snoozes(mail_sync)) == 1
    await mail_sync.sync_of(account_id).step()
    await wake(mail_sync)
    assert (await snoozes(mail_sync), await in_inbox(mail_sync)) == ([], [True])


def _erase(tx: Any, account_id: str) -> None:
    """As a resync from nothing begins."""
    tx.run("delete from mail_messages where account_id = :id", id=account_id)
    tx.run("delete from mail_threads where account_id = :id", id=account_id)
    tx.run("delete from mail_thread_labels where account_id = :id", id=account_id)
    tx.run("delete from mail_filtered_threads where account_id = :id", id=account_id)
    tx.run("update mail_accounts set cursor = null, messages = 0, unread_threads = 0 where id = :id", id=account_id)


async def test_a_thread_deleted_meanwhile_is_forgotten_and_an_account_gone_keeps_its_own(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one", "two")
    await snooze(mail_sync, "fake-1")
    await snooze(mail_sync, "fake-2", ms=2 * HOUR_MS)
    await mail_sync.loop_of(account_id).sync_now()
    await mail_sync.fake_mail.delete(address=MIA, message_id="fake-1")
    await mail_sync.sync_of(account_id).step()
    await trio.sleep(3_600)
    assert await wake(mail_sync) is not None
    await trio.sleep(3_600)
    await mail_sync.store.write(
        lambda tx: tx.run("update mail_accounts set state = 'disconnected' where id = :id", id=account_id)
    )
    await wake(mail_sync)
    assert len(await snoozes(mail_sync)) == 1
    await mail_sync.connect()
    await wake(mail_sync)
    assert (await snoozes(mail_sync), await in_inbox(mail_sync)) == ([], [True])


@pytest.mark.parametrize("ms", [0, -1, 6 * 366 * DAY_MS])
async def test_a_time_that_has_passed_or_never_comes_is_refused(mail_sync: MailSync, ms: int) -> None:
    await mail_sync.synced("one")
    with pytest.raises(Invalid):
        await snooze(mail_sync, "fake-1", ms=ms)
    assert await in_inbox(mail_sync) == [True]


async def test_nobody_snoozes_spam_nor_what_is_somebody_elses(mail_sync: MailSync) -> None:
    await mail_sync.inject("spam", labels=frozenset({"SPAM"}))
    mail_sync.principal = user("mia")
    await mail_sync.synced()
    with pytest.raises(Invalid):
        await snooze(mail_sync, "fake-1")
    mail_sync.principal = user("noa")
    with pytest.raises(NotFound):
        await snooze(mail_sync, "fake-1")


async def test_what_is_due_at_once_comes_back_with_one_update_of_the_account(mail_sync: MailSync) -> None:
    await mail_sync.synced("one", "two")
    for provider_id in ("fake-1", "fake-2"):
        await snooze(mail_sync, provider_id)
    await trio.sleep(3_600)
    before = mail_sync.store.outbox.head()
    await wake(mail_sync)
    news = await mail_sync.news(after=before)
    assert [row.kind for row in news] == ["thread.changed", "thread.changed", "account.changed"]
    assert {row.device_id for row in news} == {system("mail-snooze").device_id}


async def test_very_many_come_back_in_transactions_of_a_bounded_size(
    mail_sync: MailSync, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "WAKE_BATCH", 1)
    await mail_sync.synced("one", "two")
    for provider_id in ("fake-1", "fake-2"):
        await snooze(mail_sync, provider_id)
    await trio.sleep(3_600)
    assert await wake(mail_sync) == mail_sync.clock.now()
    assert sorted(await in_inbox(mail_sync)) == [False, True]
    await wake(mail_sync)
    assert await wake(mail_sync) is None
    assert await in_inbox(mail_sync) == [True, True]


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
