"""A step on all that match: what it changes, what it leaves alone, and how it is taken back as one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

import pytest
import trio

from svc.clock import DAY_MS
from svc.errors import Conflict, Invalid, NotFound
from svc.mail.bulk import actions
from svc.mail.bulk.actions import CHOSEN_FOR_MS, KEPT_MS
from svc.mail.bulk.model import BulkAct, Do
from svc.mail.bulk.wire import SelectAllInput
from svc.mail.labelling import actions as labelling
from svc.store import Tx
from tests.mail.bulk.doing import do, select, start, take_back, work_off
from tests.support.mailbox import MIA, MailSync, mail, user

INBOX: Final = SelectAllInput(section="inbox")
ARCHIVE: Final = BulkAct(do="archive")
LABELS: Final = ("INBOX", "UNREAD", "STARRED", "SPAM", "TRASH", "IMPORTANT")


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few mails are many."""
    monkeypatch.setattr(actions, "BATCH", 4)


async def mailbox(mail_sync: MailSync, count: int = 10) -> str:
    return await mail_sync.synced(*(f"Mail {number}" for number in range(count)))


async def in_inbox(mail_sync: MailSync) -> list[str]:
    return [
        str(one) for (one,) in await mail_sync.rows("select subject from mail_threads where in_inbox > 0 order by 1")
    ]


async def step_row(mail_sync: MailSync) -> tuple[Any, ...]:
    (row,) = await mail_sync.rows("select state, total, taken, passed from mail_bulk_steps where state <> 'dropped'")
    return row


async def test_all_are_archived_as_one_step_and_one_undo_brings_all_back(mail_sync: MailSync) -> None:
    account_id = await mailbox(mail_sync)
    before = await mail_sync.state()
    chosen = await do(mail_sync, INBOX, ARCHIVE)
    assert (chosen.count, chosen.complete, chosen.account_ids) == (10, True, (account_id,))
    assert await in_inbox(mail_sync) == []
    assert await step_row(mail_sync) == ("done", 10, 10, 0)
    assert len(await mail_sync.rows("select 1 from undo_steps")) == 1
    taken = await take_back(mail_sync)
    assert taken is not None
    assert taken.step.what == "archive"
    assert await mail_sync.state() == before
    assert await step_row(mail_sync) == ("undone", 10, 0, 0)
    assert await take_back(mail_sync) is None


async def test_the_provider_hears_of_all_of_it_and_of_its_end(mail_sync: MailSync) -> None:
    account_id = await mailbox(mail_sync)
    await do(mail_sync, INBOX, ARCHIVE)
    await mail_sync.loop_of(account_id).sync_now()
    assert (await mail_sync.fake_mail.provider(MIA).list_messages(label="INBOX", limit=50)).messages == ()
    await take_back(mail_sync)
    await mail_sync.loop_of(account_id).sync_now()
    assert len((await mail_sync.fake_mail.provider(MIA).list_messages(label="INBOX", limit=50)).messages) == 10
    assert await mail_sync.pending() == []


async def test_what_came_after_the_count_is_left_alone(mail_sync: MailSync) -> None:
    """A new thread, and one that got new mail: nobody saw that when they said all."""
    account_id = await mailbox(mail_sync, 3)
    answered = await mail_sync.inject("Re: Mail", thread="talk")
    await mail_sync.sync_of(account_id).step()
    chosen = await select(mail_sync, INBOX)
    assert chosen.count == 4
    await trio.sleep(60)
    await mail_sync.inject("Re: Re: Mail", thread="talk")
    await mail_sync.inject("Brand new")
    await mail_sync.sync_of(account_id).step()
    await start(mail_sync, chosen, ARCHIVE)
    await work_off(mail_sync)
    assert await in_inbox(mail_sync) == ["Brand new", "Re: Re: Mail"]
    assert await step_row(mail_sync) == ("done", 4, 4, 1)
    assert await mail_sync.labels_here(account_id, answered) == {"INBOX", "UNREAD"}


async def test_an_older_mail_that_comes_late_keeps_its_thread_where_it_is(mail_sync: MailSync) -> None:
    account_id = await mail_sync.connect()
    await mail_sync.inject(raw=mail("Talk", date="Sat, 21 Nov 2026 10:00:00 +0000"), thread="talk")
    await mail_sync.sync_of(account_id).step()
    chosen = await select(mail_sync, INBOX)
    await mail_sync.inject(raw=mail("Talk", date="Sat, 21 Nov 2026 09:00:00 +0000"), thread="talk")
    await mail_sync.sync_of(account_id).step()
    await start(mail_sync, chosen, ARCHIVE)
    assert await in_inbox(mail_sync) == ["Talk"]


async def test_a_draft_that_is_begun_meanwhile_is_no_new_mail(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("Talk", thread="talk")
    chosen = await select(mail_sync, INBOX)
    await mail_sync.inject(
        raw=mail("Re: Talk", date="Sat, 21 Nov 2020 09:00:00 +0000"), thread="talk", labels=frozenset({"DRAFT"})
    )
    await mail_sync.sync_of(account_id).step()
    await start(mail_sync, chosen, ARCHIVE)
    assert await in_inbox(mail_sync) == []


async def test_a_step_that_is_taken_back_at_work_stops_and_leaves_the_rest_as_it_was(mail_sync: MailSync) -> None:
    await mailbox(mail_sync)
    before = await mail_sync.state()
    chosen = await select(mail_sync, INBOX)
    step = await start(mail_sync, chosen, ARCHIVE)
    assert (step.state, step.taken) == ("working", 4)
    await mail_sync.store.write(actions.go_on)
    assert len(await in_inbox(mail_sync)) == 2
    await take_back(mail_sync)
    assert await mail_sync.state() == before


async def test_a_step_that_is_stopped_keeps_what_it_did_and_that_can_be_taken_back(mail_sync: MailSync) -> None:
    await mailbox(mail_sync)
    before = await mail_sync.state()
    chosen = await select(mail_sync, INBOX)
    await start(mail_sync, chosen, ARCHIVE)
    stopped = await mail_sync.store.write(actions.stop, mail_sync.principal, step_id=chosen.id)
    assert (stopped.state, stopped.taken) == ("stopped", 4)
    await work_off(mail_sync)
    assert len(await in_inbox(mail_sync)) == 6
    await take_back(mail_sync)
    assert await mail_sync.state() == before


async def test_what_was_done_meanwhile_stays_when_it_is_taken_back(mail_sync: MailSync) -> None:
    account_id = await mailbox(mail_sync, 5)
    await do(mail_sync, INBOX, ARCHIVE)
    (first, *_) = [
        str(one) for (one,) in await mail_sync.rows("select provider_message_id from mail_messages order by id")
    ]
    await mail_sync.fake_mail.set_labels(address=MIA, message_id=first, labels=frozenset({"STARRED"}))
    loop = mail_sync.loop_of(account_id)
    await loop.sync_now()
    await take_back(mail_sync)
    assert await mail_sync.labels_here(account_id, first) == {"INBOX", "STARRED"}
    assert len(await in_inbox(mail_sync)) == 5


def acts() -> Iterator[BulkAct]:
    plain: tuple[Do, ...] = ("archive", "inbox", "read", "unread", "star", "unstar", "mute", "unmute", "spam", "trash")
    yield from (BulkAct(do=one) for one in plain)


async def scatter(mail_sync: MailSync, chance: random.Random, account_id: str) -> None:
    """Threads of one to three messages, each with labels by chance."""
    for number in range(12):
        for _ in range(chance.randint(1, 3)):
            labels = frozenset(chance.sample(LABELS, chance.randint(0, 3)))
            if {"SPAM", "TRASH"} & labels:
                labels -= {"INBOX"}
            await mail_sync.inject(f"Mail {number}", thread=f"thread {number}", labels=labels)
            await trio.sleep(60)
    await mail_sync.sync_of(account_id).step()


LISTS: Final = (
    INBOX,
    SelectAllInput(section="all"),
    SelectAllInput(section="skipped", only="unread"),
    SelectAllInput(label_name="Spam"),
    SelectAllInput(label_name="Starred"),
    SelectAllInput(label_name="Trash"),
    SelectAllInput(query="mail"),
)


@pytest.mark.thorough
async def test_any_step_on_any_list_and_its_undo_give_the_state_before(
    mail_sync: MailSync, chance: random.Random
) -> None:
    """And the provider is where it was."""
    account_id = await mail_sync.connect()
    await scatter(mail_sync, chance, account_id)
    loop = mail_sync.loop_of(account_id)
    until = BulkAct(do="snooze", until=mail_sync.clock.now() + 30 * DAY_MS)
    for act in (*acts(), until):
        before = await mail_sync.state()
        for wanted in LISTS:
            chosen = await select(mail_sync, wanted)
            if not chosen.count:
                continue
            await start(mail_sync, chosen, act)
            if chance.random() < 0.5:  # at any place of it
                await work_off(mail_sync)
            if chance.random() < 0.5:
                await loop.sync_now()
            await take_back(mail_sync)
            await loop.sync_now()
            assert await mail_sync.state() == before, (act, wanted)
            assert await mail_sync.rows("select * from mail_snoozes") == []
            assert await mail_sync.rows("select * from mail_mutes") == []
    assert await mail_sync.problems() == []


async def test_a_step_that_meets_sync_ends_as_if_they_had_come_one_after_the_other(
    mail_sync: MailSync, chance: random.Random
) -> None:
    account_id = await mail_sync.connect()
    await scatter(mail_sync, chance, account_id)
    sync, loop = mail_sync.sync_of(account_id), mail_sync.loop_of(account_id)
    chosen = await select(mail_sync, SelectAllInput(section="all"))
    await start(mail_sync, chosen, BulkAct(do="star"))
    late = []
    while (await step_row(mail_sync))[0] == "working":
        await trio.sleep(60)
        number = chance.randrange(12)
        late.append(await mail_sync.inject(f"Late {number}", thread=f"thread {number}"))
        await sync.step()
        await mail_sync.store.write(actions.go_on)
    await loop.sync_now()
    for provider_id in late:
        assert "STARRED" not in (await mail_sync.labels_here(account_id, provider_id) or ())
    here = {
        one: set(_labels(labels))
        for one, labels in await mail_sync.rows("select provider_message_id, labels from mail_messages")
    }
    there = {one: await mail_sync.labels_at_provider(one) for one in here}
    assert here == there
    assert await mail_sync.problems() == []


def _labels(encoded: str) -> list[str]:
    return [one for one in encoded.strip("[]").replace('"', "").split(",") if one]


async def test_a_label_goes_to_the_accounts_that_have_it(mail_sync: MailSync) -> None:
    account_id = await mailbox(mail_sync, 2)
    await mail_sync.store.write(_make_label, account_id)
    other = "mia@work.example"
    await mail_sync.inject("Elsewhere", address=other)
    await mail_sync.sync_of(await mail_sync.connect(other), address=other).step()
    chosen = await do(mail_sync, INBOX, BulkAct(do="file", label="Clients"))
    assert chosen.count == 3
    assert await step_row(mail_sync) == ("done", 3, 3, 1)
    assert await in_inbox(mail_sync) == ["Elsewhere"]
    assert (await select(mail_sync, SelectAllInput(label_name="Clients"))).count == 2


def _make_label(tx: Tx, account_id: str) -> None:
    tx.run(
        "insert into mail_labels (account_id, label_id, name, system) values (:id, 'Label_9', 'Clients', 0)",
        id=account_id,
    )


async def test_what_one_address_sent_is_put_away_and_the_answers_of_others_stay(mail_sync: MailSync) -> None:
    account_id = await mail_sync.connect()
    pest = await mail_sync.inject(raw=mail("Offer", sender="Pest <Pest@shop.example>"), thread="talk")
    other = await mail_sync.inject(raw=mail("Re: Offer"), thread="talk")
    await mail_sync.inject(raw=mail("Other"))
    await mail_sync.sync_of(account_id).step()
    chosen = await select(mail_sync, SelectAllInput(sender="PEST@shop.example"))
    assert chosen.count == 1
    await start(mail_sync, chosen, BulkAct(do="trash", sender="pest@shop.example"))
    assert await mail_sync.labels_here(account_id, pest) == {"TRASH", "UNREAD"}
    assert await mail_sync.labels_here(account_id, other) == {"INBOX", "UNREAD"}
    assert (await select(mail_sync, SelectAllInput(sender="pest@shop.example"))).count == 0


async def test_the_same_mail_in_two_accounts_counts_once_and_both_are_changed(mail_sync: MailSync) -> None:
    other = "mia@work.example"
    raw = mail("For both").replace(b"Subject:", b"Message-ID: <one@example.org>\r\nSubject:")
    for address in (MIA, other):
        await mail_sync.inject(raw=raw, address=address)
        await mail_sync.sync_of(await mail_sync.connect(address), address=address).step()
    chosen = await do(mail_sync, INBOX, ARCHIVE)
    assert chosen.count == 1
    assert await in_inbox(mail_sync) == []
    assert await step_row(mail_sync) == ("done", 1, 1, 0)


async def test_all_that_is_snoozed_comes_back_at_once_and_is_snoozed_again_when_that_is_taken_back(
    mail_sync: MailSync,
) -> None:
    account_id = await mailbox(mail_sync, 6)
    await mail_sync.inject("Not snoozed")
    await mail_sync.inject("Read", labels=frozenset({"INBOX"}))
    other = "mia@work.example"
    raw = mail("For both").replace(b"Subject:", b"Message-ID: <one@example.org>\r\nSubject:")
    for address in (MIA, other):
        await mail_sync.inject(raw=raw, address=address)
    await mail_sync.sync_of(account_id).step()
    await mail_sync.sync_of(await mail_sync.connect(other), address=other).step()
    ids = await mail_sync.rows("select id from mail_threads where subject <> 'Not snoozed' order by id")
    until = mail_sync.clock.now() + DAY_MS
    await mail_sync.store.write(
        labelling.snooze, mail_sync.principal, thread_ids=[str(one) for (one,) in ids], until=until
    )
    before = await mail_sync.state()
    counts = [
        (await select(mail_sync, wanted)).count
        for wanted in (
            SelectAllInput(snoozed=True),
            SelectAllInput(snoozed=True, only="unread"),
            SelectAllInput(snoozed=True, only="starred"),
            SelectAllInput(snoozed=True, account_id=account_id),
        )
    ]
    assert counts == [8, 7, 0, 8]
    await do(mail_sync, SelectAllInput(snoozed=True), BulkAct(do="inbox"))
    assert await mail_sync.rows("select 1 from mail_snoozes") == []
    assert len(await in_inbox(mail_sync)) == 10, "both of the mail that came twice"
    await take_back(mail_sync)
    assert await mail_sync.state() == before
    assert await mail_sync.rows("select thread_id from mail_snoozes order by 1") == ids


async def test_of_shared_accounts_only_those_count_in_which_one_may_act(mail_sync: MailSync) -> None:
    ben, account_id = user("ben"), await mailbox(mail_sync, 3)
    await mail_sync.store.write(_own, account_id, "mia")
    await mail_sync.store.write(_share, account_id, access="read")
    chosen = await select(mail_sync, INBOX, ben)
    assert (chosen.count, chosen.left_out) == (0, True)
    await mail_sync.store.write(_share, account_id, access="act")
    chosen = await select(mail_sync, INBOX, ben)
    assert (chosen.count, chosen.left_out) == (3, False)
    await mail_sync.store.write(_share, account_id, access="read")
    await start(mail_sync, chosen, ARCHIVE, ben)
    assert len(await in_inbox(mail_sync)) == 3, "they might act when they chose, and may not any more"


def _own(tx: Tx, account_id: str, owner: str) -> None:
    for name in ("mia", "ben"):
        tx.run(
            "insert into users (id, email, name, role, created_at) values (:id, :email, '', 'member', 0)",
            id=name,
            email=f"{name}@example.org",
        )
    tx.run("update mail_accounts set owner_id = :owner where id = :id", owner=owner, id=account_id)


def _share(tx: Tx, account_id: str, *, access: str) -> None:
    tx.run("delete from mail_shares where account_id = :id", id=account_id)
    tx.run(
        """
        insert into mail_shares (account_id, user_id, access, since) values (:id, 'ben', :access, 0)
        """,
        id=account_id,
        access=access,
    )


async def test_somebody_elses_choice_is_not_there(mail_sync: MailSync) -> None:
    await mailbox(mail_sync, 2)
    chosen = await select(mail_sync, INBOX)
    with pytest.raises(NotFound):
        await start(mail_sync, chosen, ARCHIVE, user("ben"))


async def test_a_choice_is_for_one_step_and_to_ask_twice_is_to_ask_once(mail_sync: MailSync) -> None:
    await mailbox(mail_sync, 2)
    chosen = await select(mail_sync, INBOX)
    await start(mail_sync, chosen, ARCHIVE)
    again = await start(mail_sync, chosen, ARCHIVE)
    assert (again.state, again.taken) == ("done", 2)
    with pytest.raises(Conflict):
        await start(mail_sync, chosen, BulkAct(do="trash"))
    assert len(await mail_sync.rows("select 1 from undo_steps")) == 1


@pytest.mark.parametrize(
    "act", [BulkAct(do="snooze"), BulkAct(do="snooze", until=0), BulkAct(do="label"), BulkAct(do="file")]
)
async def test_what_lacks_a_time_or_a_label_is_refused(mail_sync: MailSync, act: BulkAct) -> None:
    await mailbox(mail_sync, 1)
    chosen = await select(mail_sync, INBOX)
    with pytest.raises(Invalid):
        await start(mail_sync, chosen, act)


async def test_each_persons_step_has_its_turn(mail_sync: MailSync) -> None:
    await mailbox(mail_sync, 12)
    first = await start(mail_sync, await select(mail_sync, INBOX), BulkAct(do="star"))
    await trio.sleep(1)
    second = await start(mail_sync, await select(mail_sync, INBOX), BulkAct(do="read"))
    await trio.sleep(1)
    seen = []
    for _ in range(4):
        await mail_sync.store.write(actions.go_on)
        await trio.sleep(1)
        seen.append(dict(await mail_sync.rows("select id, taken from mail_bulk_steps")))
    assert [(one[first.id], one[second.id]) for one in seen] == [(8, 4), (8, 8), (12, 8), (12, 12)]


async def test_what_is_old_is_forgotten_a_piece_at_a_time(mail_sync: MailSync) -> None:
    await mailbox(mail_sync)
    await do(mail_sync, INBOX, ARCHIVE)
    await select(mail_sync, SelectAllInput(section="all"))
    await trio.sleep(CHOSEN_FOR_MS / 1_000 + 1)
    await work_off(mail_sync)
    assert await mail_sync.rows("select 1 from mail_bulk_threads") == []
    assert len(await mail_sync.rows("select 1 from mail_bulk_steps")) == 1
    await trio.sleep(KEPT_MS / 1_000 + 1)
    await work_off(mail_sync)
    assert await mail_sync.rows("select 1 from mail_bulk_changes") == []
    assert await mail_sync.rows("select 1 from mail_bulk_steps") == []


async def test_of_choices_that_nobody_uses_the_newest_are_kept(mail_sync: MailSync) -> None:
    await mailbox(mail_sync, 2)
    for _ in range(actions.CHOICES_KEPT + 3):
        last = await select(mail_sync, INBOX)
        await trio.sleep(1)
    await work_off(mail_sync)
    assert len(await mail_sync.rows("select 1 from mail_bulk_steps")) == actions.CHOICES_KEPT
    assert (await start(mail_sync, last, ARCHIVE)).taken == 2


async def test_progress_is_told_to_whose_step_it_is(mail_sync: MailSync) -> None:
    await mailbox(mail_sync)
    before = mail_sync.store.outbox.head()
    await do(mail_sync, INBOX, ARCHIVE)
    news = [row for row in await mail_sync.news(after=before) if row.kind == "bulk.changed"]
    assert [row.audience for row in news] == [None] * 3
    assert b'"taken":4' in news[0].payload
    assert b'"state":"done"' in news[-1].payload
