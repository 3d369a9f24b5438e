"""When the index follows what is stored, and in which batches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from svc.clock import VirtualClock
from svc.formats.words.entries import Entries
from svc.mail.search.actions import Words
from svc.mail.search.queries import Waiting
from svc.mail.search.tasks import A_PAGE, BATCH
from svc.nursery import Child
from tests.mail.search.test_index import problems
from tests.recorded_log import RecordedLog
from tests.support.mailbox import MIA, MailSync, mail
from tests.support.service import open_service


async def test_with_a_debounce_the_index_follows_a_moment_later(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, clock: MockClock
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_INDEX_DEBOUNCE_MS="1500") as service:
        await service.synced("Harbour")
        assert (await service.query("mail.search", query="harbour"))["threads"] == []
        await trio.sleep(1.4)
        assert (await service.query("mail.search", query="harbour"))["threads"] == []
        await trio.sleep(0.2)
        assert len((await service.query("mail.search", query="harbour"))["threads"]) == 1
        assert (await service.query("mail.search", query="harbour"))["notices"] == []


async def test_pages_that_come_one_after_the_other_are_indexed_once_they_pause_or_after_ten_seconds(
    mail_sync: MailSync, log: RecordedLog
) -> None:
    await mail_sync.inject(raw=mail("Harbour"))
    account_id = await mail_sync.connect()
    listed = await mail_sync.fake_mail.provider(MIA).list_messages()
    one = (await mail_sync.sync_of(account_id).fetcher.fetch(listed.messages)).incoming[0]
    indexer = mail_sync.indexer()
    begun = trio.current_time()
    turns: list[float] = []

    async def noted() -> None:
        turns.append(round(trio.current_time() - begun, 1))

    async def arrive(count: int) -> None:
        await indexer.stored(account_id, [one] * count)
        indexer.wake.call()

    indexer.debounce_s, indexer.follow = 1.5, noted
    async with trio.open_nursery() as nursery:
        child = Child(name="index", log=log, work=nursery, ready=lambda: None, drain_asked=trio.Event())
        nursery.start_soon(indexer.run, child)
        await wait_all_tasks_blocked()
        assert turns == [0.0]
        await arrive(A_PAGE - 1)
        await trio.sleep(2)
        assert turns == [0.0, 1.5], "less than a page waits no longer than ever"
        for _ in range(30):  # until 14 s
            await arrive(A_PAGE)
            await trio.sleep(0.4)
        await trio.sleep(5)
        # What woke it during a pause causes one more turn, which finds nothing.
        assert turns[:4] == [0.0, 1.5, 12.0, 14.1], "ten seconds from the first, and half a second from the last"
        nursery.cancel_scope.cancel()


async def test_the_batches_that_wait_are_all_taken_and_each_message_once(mail_sync: MailSync) -> None:
    await mail_sync.synced(*(f"Harbour {number}" for number in range(2 * BATCH + 1)))
    indexer = mail_sync.indexer()
    taken: list[str] = []
    words = indexer.words

    async def noted(messages: Sequence[Waiting]) -> list[tuple[Words, Entries]]:
        taken.extend(message.message_id for message in messages)
        return await words(messages)

    indexer.words = noted  # type: ignore[method-assign]
    await indexer.catch_up()
    assert len(taken) == len(set(taken)) == 2 * BATCH + 1
    assert await mail_sync.rows("select count(*) from mail_search_queue") == [(0,)]
    assert await problems(mail_sync) == []
