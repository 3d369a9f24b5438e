"""What a person does to threads: labels, counters, live updates and the provider's queue move together."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from svc.errors import NotFound
from svc.mail.ingest_steps import INGEST_STEPS
from svc.mail.labelling import inbox_actions
from svc.mail.sync import ingest
from svc.principal import Principal
from svc.store import Tx
from tests.support.mailbox import MIA, MailSync, user

OWNER = user("mia")
STRANGER = user("noa")

Act = Callable[[Tx, Principal, str], None]

EVERY_ACTION: dict[str, Act] = {
    "open": lambda tx, who, thread: inbox_actions.open_thread(tx, who, thread_id=thread),
    "mark_unread": lambda tx, who, thread: inbox_actions.mark_unread(tx, who, thread_ids=[thread]),
    "archive": lambda tx, who, thread: inbox_actions.archive(tx, who, thread_ids=[thread]),
    "unarchive": lambda tx, who, thread: inbox_actions.unarchive(tx, who, thread_ids=[thread]),
}


async def test_opening_a_thread_reads_each_of_its_messages_and_lowers_the_badge(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one", "two", thread="t")
    thread_id = await mail_sync.thread_id_of("fake-1")
    assert (await mail_sync.account(account_id)).unread_threads == 1
    await mail_sync.store.write(inbox_actions.open_thread, mail_sync.principal, thread_id=thread_id)
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX"}
    assert await mail_sync.labels_here(account_id, "fake-2") == {"INBOX"}
    assert (await mail_sync.account(account_id)).unread_threads == 0
    assert await mail_sync.pending() == [("fake-1", "[]", '["UNREAD"]'), ("fake-2", "[]", '["UNREAD"]')]
    assert await mail_sync.problems() == []


async def test_marking_unread_marks_the_newest_message_only(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one", "two", thread="t")
    thread_id = await mail_sync.thread_id_of("fake-1")
    await mail_sync.store.write(inbox_actions.open_thread, mail_sync.principal, thread_id=thread_id)
    await mail_sync.store.write(inbox_actions.mark_unread, mail_sync.principal, thread_ids=[thread_id])
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX"}
    assert await mail_sync.labels_here(account_id, "fake-2") == {"INBOX", "UNREAD"}
    assert (await mail_sync.account(account_id)).unread_threads == 1
    assert await mail_sync.problems() == []


async def test_archiving_moves_a_thread_to_skipped_and_unarchiving_brings_it_back(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one", "two", thread="t")
    thread_id = await mail_sync.thread_id_of("fake-1")
    await mail_sync.store.write(inbox_actions.archive, mail_sync.principal, thread_ids=[thread_id])
    assert await _sections(mail_sync) == [(0, 2, 2)]
    assert (await mail_sync.account(account_id)).unread_threads == 0
    await mail_sync.store.write(inbox_actions.unarchive, mail_sync.principal, thread_ids=[thread_id])
    assert await _sections(mail_sync) == [(1, 2, 2)]
    assert await mail_sync.labels_here(account_id, "fake-1") == {"UNREAD"}
    assert await mail_sync.labels_here(account_id, "fake-2") == {"UNREAD", "INBOX"}
    assert (await mail_sync.account(account_id)).unread_threads == 1
    assert await mail_sync.problems() == []


async def test_neither_spam_nor_trash_comes_back_to_the_inbox_instead_of_the_newest_good_message(
    mail_sync: MailSync,
) -> None:
    await mail_sync.inject("good", thread="t", labels=frozenset())
    await mail_sync.inject("spam", thread="t", labels=frozenset({"SPAM"}))
    account_id = await mail_sync.synced()
    await mail_sync.store.write(
        inbox_actions.unarchive, mail_sync.principal, thread_ids=[await mail_sync.thread_id_of("fake-1")]
    )
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX"}
    assert await mail_sync.labels_here(account_id, "fake-2") == {"SPAM"}


async def test_one_action_tells_the_clients_of_the_thread_and_of_the_account(mail_sync: MailSync) -> None:
    mail_sync.principal = OWNER
    account_id = await mail_sync.synced("one")
    thread_id = await mail_sync.thread_id_of("fake-1")
    before = mail_sync.store.outbox.head()
    await mail_sync.store.write(inbox_actions.open_thread, OWNER, thread_id=thread_id)
    thread, account = await mail_sync.news(after=before)
    assert (thread.topic, thread.kind, thread.id) == ("mail", "thread.changed", thread_id)
    assert (account.topic, account.kind, account.id) == ("accounts", "account.changed", account_id)
    assert {thread.audience, account.audience} == {OWNER.user_id}
    assert {thread.device_id, account.device_id} == {OWNER.device_id}
    assert msgspec.json.decode(thread.payload)["thread"]["unread"] is False
    told = msgspec.json.decode(account.payload)["account"]
    assert (told["unread"], told["pending"]) == (0, 1)


@pytest.mark.parametrize("name", EVERY_ACTION)
async def test_an_action_repeated_writes_nothing(mail_sync: MailSync, name: str) -> None:
    await mail_sync.synced("one", "two", thread="t")
    thread_id = await mail_sync.thread_id_of("fake-1")
    await mail_sync.store.write(EVERY_ACTION[name], mail_sync.principal, thread_id)
    before = (await mail_sync.state(), await mail_sync.pending(), mail_sync.store.outbox.head())
    await mail_sync.store.write(EVERY_ACTION[name], mail_sync.principal, thread_id)
    assert (await mail_sync.state(), await mail_sync.pending(), mail_sync.store.outbox.head()) == before


@pytest.mark.parametrize("name", EVERY_ACTION)
async def test_a_foreign_thread_is_as_missing_as_one_that_never_was(mail_sync: MailSync, name: str) -> None:
    mail_sync.principal = OWNER
    await mail_sync.synced("one")
    before = (await mail_sync.state(), await mail_sync.pending(), mail_sync.store.outbox.head())
    refusals = []
    for thread_id in (await mail_sync.thread_id_of("fake-1"), "thr_neverwas"):
        with pytest.raises(NotFound) as caught:
            await mail_sync.store.write(EVERY_ACTION[name], STRANGER, thread_id)
        refusals.append((caught.type, str(caught.value), vars(caught.value)))
    assert refusals[0] == refusals[1]
    assert (await mail_sync.state(), await mail_sync.pending(), mail_sync.store.outbox.head()) == before


@pytest.mark.parametrize("act", [inbox_actions.archive, inbox_actions.unarchive, inbox_actions.mark_unread])
async def test_several_threads_change_together_or_not_at_all(mail_sync: MailSync, act: Callable[..., None]) -> None:
    await mail_sync.inject("archived", labels=frozenset())
    await mail_sync.synced("in the inbox")
    thread_ids = [await mail_sync.thread_id_of("fake-1"), await mail_sync.thread_id_of("fake-2")]
    before = (await mail_sync.state(), await mail_sync.pending(), mail_sync.store.outbox.head())
    with pytest.raises(NotFound):
        await mail_sync.store.write(act, mail_sync.principal, thread_ids=[*thread_ids, "thr_neverwas"])
    assert (await mail_sync.state(), await mail_sync.pending(), mail_sync.store.outbox.head()) == before
    await mail_sync.store.write(act, mail_sync.principal, thread_ids=thread_ids)
    assert await mail_sync.pending() != before[1]
    assert await mail_sync.problems() == []


async def test_a_thread_named_twice_in_one_call_is_changed_once(mail_sync: MailSync) -> None:
    await mail_sync.synced("one")
    thread_id = await mail_sync.thread_id_of("fake-1")
    await mail_sync.store.write(inbox_actions.archive, mail_sync.principal, thread_ids=[thread_id, thread_id])
    assert await mail_sync.pending() == [("fake-1", "[]", '["INBOX"]')]


async def test_labels_news_and_the_providers_queue_are_one_transaction(mail_sync: MailSync) -> None:
    await mail_sync.synced("one")
    thread_id = await mail_sync.thread_id_of("fake-1")

    def fails_afterwards(tx: Tx) -> None:
        inbox_actions.archive(tx, mail_sync.principal, thread_ids=[thread_id])
        assert tx.value("select count(*) from mail_mirror") == 1
        raise OSError("the power went")

    before = (await mail_sync.state(), await mail_sync.pending(), mail_sync.store.outbox.head())
    with pytest.raises(OSError, match="the power went"):
        await mail_sync.store.write(fails_afterwards)
    assert (await mail_sync.state(), await mail_sync.pending(), mail_sync.store.outbox.head()) == before


async def test_a_message_deleted_takes_its_pending_changes_along(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one", "two")
    for provider_id in ("fake-1", "fake-2"):
        thread_id = await mail_sync.thread_id_of(provider_id)
        await mail_sync.store.write(inbox_actions.archive, mail_sync.principal, thread_ids=[thread_id])
    await mail_sync.fake_mail.delete(address=MIA, message_id="fake-1")
    await mail_sync.sync_of(account_id).step()
    assert await mail_sync.pending() == [("fake-2", "[]", '["INBOX"]')]
    assert await mail_sync.problems() == []


async def test_nothing_is_written_after_an_account_was_disconnected(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    await mail_sync.inject("two")
    listed = await mail_sync.fake_mail.provider(MIA).list_messages()
    fetched = await mail_sync.sync_of(account_id).fetcher.fetch(listed.messages)
    await mail_sync.store.write(_disconnect, account_id)
    before = (await mail_sync.state(), mail_sync.store.outbox.head())
    for message in fetched.incoming:
        await mail_sync.store.write(ingest.store_one, account_id=account_id, message=message, steps=INGEST_STEPS)
    await mail_sync.sync_of(account_id).step()
    assert (await mail_sync.state(), mail_sync.store.outbox.head()) == before


def _disconnect(tx: Tx, account_id: str) -> None:
    tx.run("update mail_accounts set state = 'disconnected' where id = :id", id=account_id)


async def _sections(mail_sync: MailSync) -> list[tuple[object, ...]]:
    return await mail_sync.rows("select in_inbox, unread, visible from mail_threads order by id")
