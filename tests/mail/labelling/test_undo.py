"""Taking steps back: one by one, newest first, here and at the provider, and nothing but what the step itself did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from svc import undo
from svc.clock import DAY_MS, HOUR_MS, VirtualClock
from svc.mail.labelling import actions
from svc.mail.labelling import inbox_actions as thread_actions
from svc.mail.labelling.reversals import REVERSAL
from svc.nursery import ThreadPool
from svc.principal import Principal
from svc.store import Tx
from svc.undo import TakenBack
from svc.undo.actions import hand_over
from tests.recorded_log import RecordedLog
from tests.sizes import examples
from tests.support.mailbox import MIA, MailSync, open_mail_sync, user
from tests.support.service import Service

Act = Callable[[Tx, Principal, Sequence[str]], None]

REVERSALS: Final = {REVERSAL.kind: REVERSAL}
NONE: Final[frozenset[str]] = frozenset()
MADE: Final = "Label_9"


def _labels(add: str = "", remove: str = "") -> Act:
    return lambda tx, who, ids: actions.set_labels(
        tx, who, thread_ids=ids, add=frozenset(add.split()), remove=frozenset(remove.split())
    )


EVERY_STEP: Final[dict[str, tuple[str, Act]]] = {
    "archive": ("archive", lambda tx, who, ids: thread_actions.archive(tx, who, thread_ids=ids)),
    "unarchive": ("unarchive", lambda tx, who, ids: thread_actions.unarchive(tx, who, thread_ids=ids)),
    "mark unread": ("markUnread", lambda tx, who, ids: thread_actions.mark_unread(tx, who, thread_ids=ids)),
    "star": ("labels", _labels(add="STARRED")),
    "unstar": ("labels", _labels(remove="STARRED")),
    "read": ("labels", _labels(remove="UNREAD")),
    "label": ("labels", _labels(add=MADE)),
    "unlabel": ("labels", _labels(remove=MADE)),
    "spam": ("spam", _labels(add="SPAM", remove="INBOX")),
    "trash": ("trash", _labels(add="TRASH", remove="INBOX")),
    "restore": ("labels", _labels(add="INBOX", remove="SPAM TRASH")),
    "snooze": (
        "snooze",
        lambda tx, who, ids: actions.snooze(tx, who, thread_ids=_visible(tx, ids), until=tx.now + HOUR_MS),
    ),
    "snooze longer": (
        "snooze",
        lambda tx, who, ids: actions.snooze(tx, who, thread_ids=_visible(tx, ids), until=tx.now + DAY_MS),
    ),
    "unsnooze": ("unsnooze", lambda tx, who, ids: actions.unsnooze(tx, who, thread_ids=ids)),
}


def _visible(tx: Tx, ids: Sequence[str]) -> list[str]:
    """What is all spam or trash can't be snoozed."""
    return [one for one in ids if tx.value("select visible from mail_threads where id = :id", id=one)]


async def take_back(mail_sync: MailSync) -> TakenBack | None:
    return await mail_sync.store.write(undo.take_back, mail_sync.principal, reversals=REVERSALS)


async def do(mail_sync: MailSync, name: str, *provider_ids: str) -> None:
    thread_ids = [await mail_sync.thread_id_of(provider_id) for provider_id in provider_ids]
    await mail_sync.store.write(EVERY_STEP[name][1], mail_sync.principal, thread_ids)


async def everything(mail_sync: MailSync) -> object:
    lists = await mail_sync.rows("select label_id, thread_id from mail_thread_labels order by 1, 2")
    return (
        await mail_sync.state(),
        lists,
        await mail_sync.rows("select thread_id, until from mail_snoozes order by thread_id"),
    )


async def a_mailbox(mail_sync: MailSync) -> str:
    await mail_sync.inject("mixed", thread="t", labels=frozenset({"INBOX", "STARRED", "CATEGORY_SOCIAL"}))
    await trio.sleep(60)
    await mail_sync.inject("and sent", thread="t", labels=frozenset({"SENT"}))
    await mail_sync.fake_mail.create_label(MIA, "Clients")
    await trio.sleep(60)
    await mail_sync.inject("in the trash", labels=frozenset({"TRASH", "UNREAD"}))
    return await mail_sync.synced("plain")


MESSAGES: Final = ("fake-1", "fake-3", "fake-4")  # one of each thread


@pytest.mark.parametrize("name", EVERY_STEP)
async def test_each_kind_of_step_is_taken_back_whole_here_and_at_the_provider(mail_sync: MailSync, name: str) -> None:
    account_id = await a_mailbox(mail_sync)
    await do(mail_sync, "snooze", "fake-1") if name in {"unsnooze", "snooze longer"} else None
    await do(mail_sync, "label", "fake-1") if name == "unlabel" else None
    loop = mail_sync.loop_of(account_id)
    await loop.sync_now()
    before = await everything(mail_sync)
    there = [await mail_sync.labels_at_provider(f"fake-{number}") for number in range(1, 5)]
    await do(mail_sync, name, *MESSAGES)
    assert await everything(mail_sync) != before
    await loop.sync_now()
    taken = await take_back(mail_sync)
    assert taken is not None
    assert taken.step.what == EVERY_STEP[name][0]
    assert await everything(mail_sync) == before
    await loop.sync_now()
    assert [await mail_sync.labels_at_provider(f"fake-{number}") for number in range(1, 5)] == there
    assert (await mail_sync.pending(), await mail_sync.failures(), await mail_sync.problems()) == ([], [], [])


a_step = st.tuples(
    st.sampled_from(sorted(EVERY_STEP)), st.lists(st.sampled_from(MESSAGES), min_size=1, max_size=3), st.booleans()
)


@pytest.mark.thorough
@settings(max_examples=examples(25))
@given(st.lists(a_step, max_size=12), st.booleans())
async def test_any_steps_and_as_many_undos_end_where_they_began(
    steps: Sequence[tuple[str, Sequence[str], bool]], flushed_at_the_end: bool
) -> None:
    with TemporaryDirectory() as home:
        clock = VirtualClock()
        threads = ThreadPool(limit=8, name="test")
        async with open_mail_sync(Path(home), clock=clock, log=RecordedLog(clock), threads=threads) as mail_sync:
            account_id = await a_mailbox(mail_sync)
            loop = mail_sync.loop_of(account_id)
            before = await everything(mail_sync)
            there = [await mail_sync.labels_at_provider(f"fake-{number}") for number in range(1, 5)]
            for name, messages, flush in steps:
                await do(mail_sync, name, *messages)
                if flush:
                    await loop.sync_now()
            if flushed_at_the_end:
                await loop.sync_now()
            while await take_back(mail_sync):
                pass
            assert await everything(mail_sync) == before
            await loop.sync_now()
            assert [await mail_sync.labels_at_provider(f"fake-{number}") for number in range(1, 5)] == there
            assert (await mail_sync.pending(), await mail_sync.failures(), await mail_sync.problems()) == ([], [], [])


async def test_only_what_the_step_changed_goes_back_when_the_provider_changed_more(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    await do(mail_sync, "star", "fake-1")
    await do(mail_sync, "archive", "fake-1")
    loop = mail_sync.loop_of(account_id)
    await loop.sync_now()
    await mail_sync.fake_mail.set_labels(address=MIA, message_id="fake-1", labels=frozenset({"IMPORTANT", "STARRED"}))
    await loop.sync_now()
    await take_back(mail_sync)
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX", "IMPORTANT", "STARRED"}
    await loop.sync_now()
    assert await mail_sync.labels_at_provider("fake-1") == {"INBOX", "IMPORTANT", "STARRED"}


async def test_what_is_gone_meanwhile_is_passed_over(mail_sync: MailSync) -> None:
    account_id = await a_mailbox(mail_sync)
    await do(mail_sync, "label", "fake-1")
    await do(mail_sync, "unlabel", "fake-1")
    loop = mail_sync.loop_of(account_id)
    await loop.sync_now()
    await mail_sync.fake_mail.delete(address=MIA, message_id="fake-2")
    await mail_sync.fake_mail.delete_label(address=MIA, label_id=MADE)
    await loop.sync.refresh_labels()
    await loop.sync_now()
    taken = await take_back(mail_sync)
    assert taken is not None
    assert MADE not in (await mail_sync.labels_here(account_id, "fake-1") or ())
    await mail_sync.fake_mail.delete(address=MIA, message_id="fake-1")
    await loop.sync_now()
    assert await take_back(mail_sync) is not None
    assert await take_back(mail_sync) is None
    assert (await mail_sync.pending(), await mail_sync.problems()) == ([], [])


async def test_reading_a_thread_and_taking_back_are_no_steps(mail_sync: MailSync) -> None:
    await mail_sync.synced("one")
    thread_id = await mail_sync.thread_id_of("fake-1")
    await mail_sync.store.write(thread_actions.open_thread, mail_sync.principal, thread_id=thread_id)
    assert await take_back(mail_sync) is None
    await do(mail_sync, "archive", "fake-1")
    assert await take_back(mail_sync) is not None
    assert await take_back(mail_sync) is None


async def test_the_log_keeps_fifty_steps_and_a_day(mail_sync: MailSync, wall: VirtualClock) -> None:
    await mail_sync.synced("one")
    for _ in range(undo.KEEP_STEPS):
        await do(mail_sync, "star", "fake-1")
        await do(mail_sync, "unstar", "fake-1")
    assert await mail_sync.rows("select count(*) from undo_steps") == [(undo.KEEP_STEPS,)]
    wall.offset_ms += DAY_MS + 1
    assert await mail_sync.store.read(undo.undoable, mail_sync.principal, reversals=REVERSALS) == []
    assert await take_back(mail_sync) is None
    await do(mail_sync, "star", "fake-1")
    assert await mail_sync.rows("select count(*) from undo_steps") == [(1,)]


async def test_each_person_takes_back_their_own_steps_and_the_first_admin_those_before_the_claim(
    mail_sync: MailSync,
) -> None:
    await mail_sync.synced("one")
    await do(mail_sync, "star", "fake-1")
    assert await mail_sync.store.write(undo.take_back, user("noa"), reversals=REVERSALS) is None
    await mail_sync.store.write(hand_over, "mia")
    assert await mail_sync.store.read(undo.undoable, mail_sync.principal, reversals=REVERSALS) == []
    assert [row.what for row in await mail_sync.store.read(undo.undoable, user("mia"), reversals=REVERSALS)] == [
        "labels"
    ]


async def test_an_account_that_became_somebody_elses_is_not_touched(mail_sync: MailSync) -> None:
    mail_sync.principal = user("mia")
    account_id = await mail_sync.synced("one")
    await do(mail_sync, "star", "fake-1")
    await mail_sync.store.write(lambda tx: tx.run("update mail_accounts set owner_id = 'noa'"))
    assert await take_back(mail_sync) is not None
    assert "STARRED" in (await mail_sync.labels_here(account_id, "fake-1") or ())


async def test_many_threads_are_one_step_and_one_update_of_the_account(mail_sync: MailSync) -> None:
    for number in range(20):
        await mail_sync.inject(f"Mail {number}")
    await mail_sync.synced()
    before = mail_sync.store.outbox.head()
    await do(mail_sync, "archive", *(f"fake-{number}" for number in range(1, 21)))
    kinds = [row.kind for row in await mail_sync.news(after=before)]
    assert kinds.count("account.changed") == 1
    assert kinds.count("thread.changed") == 20
    before = mail_sync.store.outbox.head()
    await take_back(mail_sync)
    kinds = [row.kind for row in await mail_sync.news(after=before)]
    assert (kinds.count("account.changed"), kinds.count("thread.changed")) == (1, 20)
    assert await mail_sync.rows("select count(*) from mail_threads where in_inbox > 0") == [(20,)]


# Over the wire


async def test_undo_goes_back_step_by_step_over_a_reload(service: Service) -> None:
    first, second = await service.synced("First", "Second")
    await service.mutate("mail.archive", threadIds=[first])
    await service.mutate("mail.setLabels", threadIds=[second], add=["TRASH"], remove=["INBOX"])
    assert [one["what"] for one in await service.query("mail.undoable")] == ["trash", "archive"]
    undone = (await service.mutate("mail.undo"))["undone"]
    assert (undone["what"], undone["threadIds"], undone["draftId"]) == ("trash", [second], None)
    assert (await service.mutate("mail.undo"))["undone"]["threadIds"] == [first]
    assert (await service.mutate("mail.undo"))["undone"] is None
    assert len((await service.query("mail.threads", section="inbox"))["threads"]) == 2


async def test_a_mail_that_is_held_is_held_back_and_one_that_has_left_is_not_offered(service: Service) -> None:
    (thread_id,) = await service.synced("First")
    (account,) = await service.query("mail.accounts")
    wanted = {"accountId": account["id"], "to": ["noa@example.org"], "subject": "Hi", "html": "<p>Hi</p>"}
    await service.mutate("mail.archive", threadIds=[thread_id])
    await service.mutate("mail.send", **wanted, replyTo=thread_id)
    assert [one["what"] for one in await service.query("mail.undoable")] == ["send", "archive"]
    undone = (await service.mutate("mail.undo"))["undone"]
    assert (undone["what"], undone["threadIds"]) == ("send", [thread_id])
    assert (await service.query("mail.draft", id=undone["draftId"]))["subject"] == "Hi"
    await service.mutate("mail.send", **wanted)
    await trio.sleep(60)
    assert [one["what"] for one in await service.query("mail.undoable")] == ["archive"]
    assert (await service.mutate("mail.undo"))["undone"]["what"] == "archive"
    assert len(await service.query("fake.mail.sent", address=MIA)) == 1


async def test_a_mail_sent_and_its_thread_archived_are_one_step_that_is_taken_back_whole(service: Service) -> None:
    (thread_id,) = await service.synced("First")
    (account,) = await service.query("mail.accounts")
    wanted = {"accountId": account["id"], "to": ["noa@example.org"], "subject": "Hi", "html": "<p>Hi</p>"}
    await service.mutate("mail.send", **wanted, replyTo=thread_id, group="one")
    await service.mutate("mail.archive", threadIds=[thread_id], group="one")
    undone = (await service.mutate("mail.undo"))["undone"]
    assert (undone["what"], undone["threadIds"]) == ("archive", [thread_id])
    assert (await service.query("mail.draft", id=undone["draftId"]))["subject"] == "Hi"
    assert [row["id"] for row in (await service.query("mail.threads", section="inbox"))["threads"]] == [thread_id]
    assert (await service.mutate("mail.undo"))["undone"] is None
    assert await service.query("fake.mail.sent", address=MIA) == []
