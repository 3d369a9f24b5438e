"""Labels as a person sets them: where they go, what they mean together, and what nobody may set."""

from __future__ import annotations

from collections.abc import Set

import pytest
import trio

from svc.errors import Invalid, NotFound
from svc.mail.labelling import actions
from svc.mail.labelling import inbox_actions as thread_actions
from svc.mail.threads import queries as thread_queries
from svc.mail.threads import wire as thread_wire
from svc.mail.threads.wire import ThreadOut
from tests.support.mailbox import MIA, MailSync, user

NOA = "noa@example.org"


async def put(
    mail_sync: MailSync, *provider_ids: str, add: Set[str] = frozenset(), remove: Set[str] = frozenset()
) -> None:
    thread_ids = [await mail_sync.thread_id_of(provider_id) for provider_id in provider_ids]
    await mail_sync.store.write(
        actions.set_labels, mail_sync.principal, thread_ids=thread_ids, add=frozenset(add), remove=frozenset(remove)
    )


async def shown(mail_sync: MailSync, provider_id: str) -> ThreadOut:
    row = await mail_sync.store.read(thread_queries.thread, await mail_sync.thread_id_of(provider_id))
    assert row is not None
    return (await mail_sync.store.read(thread_wire.thread_summaries, [row]))[0]


async def test_a_star_goes_on_the_newest_visible_message_and_comes_off_every_one(mail_sync: MailSync) -> None:
    await mail_sync.inject("one", thread="t")
    await trio.sleep(60)
    await mail_sync.inject("two", thread="t", labels=frozenset({"INBOX", "STARRED"}))
    await trio.sleep(60)
    await mail_sync.inject("spam", thread="t", labels=frozenset({"SPAM"}))
    account_id = await mail_sync.synced()
    await put(mail_sync, "fake-1", remove={"STARRED"})
    assert not (await shown(mail_sync, "fake-1")).starred
    await put(mail_sync, "fake-1", add={"STARRED"})
    assert (await shown(mail_sync, "fake-1")).starred
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD"}
    assert await mail_sync.labels_here(account_id, "fake-2") == {"INBOX", "STARRED"}
    assert await mail_sync.labels_here(account_id, "fake-3") == {"SPAM"}
    assert await mail_sync.problems() == []


async def test_a_label_of_ones_own_goes_on_each_message(mail_sync: MailSync) -> None:
    await mail_sync.inject("one", thread="t")
    label = await mail_sync.fake_mail.create_label(MIA, "Clients/Harbour", color="#16a766")
    account_id = await mail_sync.synced("two", thread="t")
    await put(mail_sync, "fake-1", add={label.id})
    assert label.id in (await mail_sync.labels_here(account_id, "fake-1") or ())
    assert label.id in (await mail_sync.labels_here(account_id, "fake-2") or ())
    chips = {one.name: one.color for one in (await shown(mail_sync, "fake-1")).labels}
    assert chips["Clients/Harbour"] == "#16a766"
    await mail_sync.loop_of(account_id).sync_now()
    assert label.id in await mail_sync.labels_at_provider("fake-2")
    assert await mail_sync.failures() == []


@pytest.mark.parametrize("away", ["SPAM", "TRASH"])
async def test_spam_and_trash_leave_the_lists_and_come_back_whole(mail_sync: MailSync, away: str) -> None:
    account_id = await mail_sync.synced("one", "two", thread="t")
    await put(mail_sync, "fake-1", add={away}, remove={"INBOX"})
    thread = await shown(mail_sync, "fake-1")
    assert (thread.hidden, thread.in_inbox, thread.unread) == (True, False, False)
    assert (await mail_sync.account(account_id)).unread_threads == 0
    await mail_sync.loop_of(account_id).sync_now()
    assert await mail_sync.labels_at_provider("fake-1") == {away, "UNREAD"}
    await put(mail_sync, "fake-1", add={"INBOX"}, remove={away})
    thread = await shown(mail_sync, "fake-1")
    assert (thread.hidden, thread.in_inbox, thread.unread) == (False, True, True)
    assert await mail_sync.labels_here(account_id, "fake-1") == {"UNREAD"}
    assert await mail_sync.labels_here(account_id, "fake-2") == {"INBOX", "UNREAD"}
    assert await mail_sync.problems() == []


async def test_trash_takes_a_thread_out_of_the_inbox_also_when_nobody_says_so(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    await put(mail_sync, "fake-1", add={"TRASH"})
    assert await mail_sync.labels_here(account_id, "fake-1") == {"TRASH", "UNREAD"}


async def test_what_goes_back_to_the_inbox_is_no_trash_any_more(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    await put(mail_sync, "fake-1", add={"TRASH"})
    await mail_sync.store.write(
        thread_actions.unarchive, mail_sync.principal, thread_ids=[await mail_sync.thread_id_of("fake-1")]
    )
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD"}
    await put(mail_sync, "fake-1", add={"SPAM"})
    await put(mail_sync, "fake-1", add={"INBOX"})
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD"}


async def test_a_draft_at_the_provider_is_left_alone(mail_sync: MailSync) -> None:
    await mail_sync.inject("mail", thread="t")
    await mail_sync.inject("draft", thread="t", labels=frozenset({"DRAFT"}))
    account_id = await mail_sync.synced()
    await put(mail_sync, "fake-1", add={"TRASH", "STARRED"})
    assert await mail_sync.labels_here(account_id, "fake-2") == {"DRAFT"}
    assert (await shown(mail_sync, "fake-1")).hidden


@pytest.mark.parametrize("label", ["SENT", "DRAFT", "CATEGORY_SOCIAL", "CHAT", "Label_404", ""])
async def test_what_is_no_label_of_the_account_or_follows_from_the_message_is_refused(
    mail_sync: MailSync, label: str
) -> None:
    await mail_sync.synced("one")
    before = (await mail_sync.state(), await mail_sync.pending())
    for wanted in ({"add": {label}}, {"remove": {label}}):
        with pytest.raises(Invalid):
            await put(mail_sync, "fake-1", **wanted)
    assert (await mail_sync.state(), await mail_sync.pending()) == before


async def test_another_accounts_label_is_refused_for_all_threads_of_the_call(mail_sync: MailSync) -> None:
    await mail_sync.inject("his", address=NOA)
    await mail_sync.fake_mail.create_label(NOA, "Private")
    noa = await mail_sync.connect(NOA)
    await mail_sync.sync_of(noa, address=NOA).step()
    await mail_sync.inject("filler", address=MIA)
    await mail_sync.synced("hers")
    before = await mail_sync.state()
    his, hers = [
        row[0] for row in await mail_sync.rows("select id from mail_threads order by account_id = :noa desc", noa=noa)
    ][:2]
    with pytest.raises(Invalid, match=MIA):
        await mail_sync.store.write(
            actions.set_labels,
            mail_sync.principal,
            thread_ids=[his, hers],
            add=frozenset({"Label_9"}),
            remove=frozenset(),
        )
    assert await mail_sync.state() == before


@pytest.mark.parametrize(("add", "remove"), [({"STARRED"}, {"STARRED"}), ({"INBOX", "TRASH"}, set())])
async def test_what_contradicts_itself_is_refused(mail_sync: MailSync, add: Set[str], remove: Set[str]) -> None:
    await mail_sync.synced("one")
    with pytest.raises(Invalid):
        await put(mail_sync, "fake-1", add=add, remove=remove)


async def test_a_foreign_thread_is_as_missing_as_one_that_never_was(mail_sync: MailSync) -> None:
    mail_sync.principal = user("mia")
    await mail_sync.synced("one")
    thread_id = await mail_sync.thread_id_of("fake-1")
    for wanted in (thread_id, "thr_neverwas"):
        with pytest.raises(NotFound, match="There is no such thread"):
            await mail_sync.store.write(
                actions.set_labels, user("noa"), thread_ids=[wanted], add=frozenset({"STARRED"}), remove=frozenset()
            )


async def test_labels_already_there_write_nothing(mail_sync: MailSync) -> None:
    await mail_sync.synced("one")
    await put(mail_sync, "fake-1", add={"STARRED"})
    before = (
        await mail_sync.state(),
        await mail_sync.pending(),
        mail_sync.store.outbox.head(),
        await mail_sync.rows("select id from undo_steps"),
    )
    await put(mail_sync, "fake-1", add={"STARRED"}, remove={"TRASH"})
    assert before == (
        await mail_sync.state(),
        await mail_sync.pending(),
        mail_sync.store.outbox.head(),
        await mail_sync.rows("select id from undo_steps"),
    )
