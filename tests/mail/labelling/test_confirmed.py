"""A change made here is not taken back by an answer that the provider gave before it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import trio

from svc.fakes.mail.provider import FakeProvider
from svc.mail.labelling import actions
from svc.mail.providers.seam import HistoryPage, ListPage, RawMessage
from svc.mail.sync.tasks import AccountLoop
from tests.support.mailbox import MIA, MailSync

NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Slow(FakeProvider):
    """Answers as things were when it was asked, once ``go`` is set."""

    slow: str
    asked: trio.Event = field(default_factory=trio.Event)
    go: trio.Event = field(default_factory=trio.Event)

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        page = await super().history(since=since, page_token=page_token)
        await self._dawdle("history")
        return page

    async def get(self, message_id: str) -> RawMessage:
        message = await super().get(message_id)
        await self._dawdle("get")
        return message

    async def list_messages(
        self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
    ) -> ListPage:
        page = await super().list_messages(label=label, page_token=page_token, limit=limit)
        await self._dawdle(f"list {label}")
        return page

    async def _dawdle(self, call: str) -> None:
        if call == self.slow:
            self.asked.set()
            await self.go.wait()


async def unstar_meanwhile(mail_sync: MailSync, loop: AccountLoop, provider: Slow) -> None:
    """The star is taken away, here and at the provider, while a step works on an answer from before."""
    thread_id = await mail_sync.thread_id_of("fake-1")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(loop.sync.step)
        await provider.asked.wait()
        await mail_sync.store.write(
            actions.set_labels, mail_sync.principal, thread_ids=[thread_id], add=NONE, remove=frozenset({"STARRED"})
        )
        await loop._flush_outbox()
        assert await mail_sync.pending() == []
        provider.go.set()


@pytest.fixture
async def account_id(mail_sync: MailSync) -> str:
    """Of a mailbox whose one message got its star after the watermark of the next poll."""
    await mail_sync.inject(labels=frozenset({"INBOX"}))
    account_id = await mail_sync.synced()
    ((watermark,),) = await mail_sync.rows("select cursor from mail_accounts")
    await mail_sync.fake_mail.set_labels(address=MIA, message_id="fake-1", labels=frozenset({"INBOX", "STARRED"}))
    await mail_sync.sync_of(account_id).step()
    await mail_sync.store.write(lambda tx: tx.run("update mail_accounts set cursor = :id", id=watermark))
    return account_id


async def test_history_from_before_a_change_does_not_take_it_back(mail_sync: MailSync, account_id: str) -> None:
    provider = Slow(world=mail_sync.fake_mail, address=MIA, slow="history")
    await unstar_meanwhile(mail_sync, mail_sync.loop_of(account_id, provider), provider)
    assert (
        await mail_sync.labels_here(account_id, "fake-1") == await mail_sync.labels_at_provider("fake-1") == {"INBOX"}
    )


async def test_a_message_fetched_before_a_change_does_not_take_it_back(mail_sync: MailSync, account_id: str) -> None:
    await mail_sync.fake_mail.set_labels(address=MIA, message_id="fake-1", labels=frozenset({"INBOX"}))
    await mail_sync.fake_mail.set_labels(address=MIA, message_id="fake-1", labels=frozenset({"INBOX", "STARRED"}))
    provider = Slow(world=mail_sync.fake_mail, address=MIA, slow="get")  # came and went: it is asked for as it is now
    await unstar_meanwhile(mail_sync, mail_sync.loop_of(account_id, provider), provider)
    assert (
        await mail_sync.labels_here(account_id, "fake-1") == await mail_sync.labels_at_provider("fake-1") == {"INBOX"}
    )


async def test_a_list_from_before_a_change_does_not_take_it_back(mail_sync: MailSync, account_id: str) -> None:
    await mail_sync.fake_mail.expire_history(address=MIA)
    provider = Slow(world=mail_sync.fake_mail, address=MIA, slow="list STARRED")
    thread_id = await mail_sync.thread_id_of("fake-1")
    before = mail_sync.store.outbox.head()
    await unstar_meanwhile(mail_sync, mail_sync.loop_of(account_id, provider), provider)
    told = [row for row in await mail_sync.news(after=before) if row.id == thread_id]
    assert [b'"starred":true' in row.payload for row in told] == [False]
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX"}


async def test_what_the_provider_changes_after_a_confirmed_change_counts(mail_sync: MailSync, account_id: str) -> None:
    provider = Slow(world=mail_sync.fake_mail, address=MIA, slow="history")
    loop = mail_sync.loop_of(account_id, provider)
    await unstar_meanwhile(mail_sync, loop, provider)
    await mail_sync.fake_mail.set_labels(address=MIA, message_id="fake-1", labels=frozenset({"INBOX", "STARRED"}))
    await loop.sync.step()
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX", "STARRED"}
