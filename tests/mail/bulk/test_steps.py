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
from tests.support.mailbox import MIA, Rig, mail, user

INBOX: Final = SelectAllInput(section="inbox")
ARCHIVE: Final = BulkAct(do="archive")
LABELS: Final = ("INBOX", "UNREAD", "STARRED", "SPAM", "TRASH", "IMPORTANT")


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few mails are many."""
    monkeypatch.setattr(actions, "BATCH", 4)


async def mailbox(rig: Rig, count: int = 10) -> str:
    return await rig.synced(*(f"Mail {number}" for number in range(count)))


async def in_inbox(rig: Rig) -> list[str]:
    return [str(one) for (one,) in await rig.rows("select subject from mail_threads where in_inbox > 0 order by 1")]


async def step_row(rig: Rig) -> tuple[Any, ...]:
    (row,) = await rig.rows("select state, total, taken, passed from mail_bulk_steps where state <> 'dropped'")
    return row


async def test_all_are_archived_as_one_step_and_one_undo_brings_all_back(rig: Rig) -> None:
    account_id = await mailbox(rig)
    before = await rig.state()
    chosen = await do(rig, INBOX, ARCHIVE)
    assert (chosen.count, chosen.complete, chosen.account_ids) == (10, True, (account_id,))
    assert await in_inbox(rig) == []
    assert await step_row(rig) == ("done", 10, 10, 0)
    assert len(await rig.rows("select 1 from undo_steps")) == 1
    taken = await take_back(rig)
    assert taken is not None
    assert taken.step.what == "archive"
    assert await rig.state() == before
    assert await step_row(rig) == ("undone", 10, 0, 0)
    assert await take_back(rig) is None


async def test_the_provider_hears_of_all_of_it_and_of_its_end(rig: Rig) -> None:
    account_id = await mailbox(rig)
    await do(rig, INBOX, ARCHIVE)
    await rig.loop_of(account_id).sync_now()
    assert (await rig.world.provider(MIA).list_messages(label="INBOX", limit=50)).messages == ()
    await take_back(rig)
    await rig.loop_of(account_id).sync_now()
    assert len((await rig.world.provider(MIA).list_messages(label="INBOX", limit=50)).messages) == 10
    assert await rig.pending() == []


async def test_what_came_after_the_count_is_left_alone(rig: Rig) -> None:
    """A new thread, and one that got new mail: nobody saw that when they said all."""
    account_id = await mailbox(rig, 3)
    answered = await rig.inject("Re: Mail", thread="talk")
    await rig.sync_of(account_id).step()
    chosen = await select(rig, INBOX)
    assert chosen.count == 4
    await trio.sleep(60)
    await rig.inject("Re: Re: Mail", thread="talk")
    await rig.inject("Brand new")
    await rig.sync_of(account_id).step()
    await start(rig, chosen, ARCHIVE)
    await work_off(rig)
    assert await in_inbox(rig) == ["Brand new", "Re: Re: Mail"]
    assert await step_row(rig) == ("done", 4, 4, 1)
    assert await rig.labels_here(account_id, answered) == {"INBOX", "UNREAD"}


async def test_an_older_mail_that_comes_late_keeps_its_thread_where_it_is(rig: Rig) -> None:
    account_id = await rig.connect()
    await rig.inject(raw=mail("Talk", date="Sat, 21 Nov 2026 10:00:00 +0000"), thread="talk")
    await rig.sync_of(account_id).step()
    chosen = await select(rig, INBOX)
    await rig.inject(raw=mail("Talk", date="Sat, 21 Nov 2026 09:00:00 +0000"), thread="talk")
    await rig.sync_of(account_id).step()
    await start(rig, chosen, ARCHIVE)
    assert await in_inbox(rig) == ["Talk"]


async def test_a_draft_that_is_begun_meanwhile_is_no_new_mail(rig: Rig) -> None:
    account_id = await rig.synced("Talk", thread="talk")
    chosen = await select(rig, INBOX)
    await rig.inject(
        raw=mail("Re: Talk", date="Sat, 21 Nov 2020 09:00:00 +0000"), thread="talk", labels=frozenset({"DRAFT"})
    )
    await rig.sync_of(account_id).step()
    await start(rig, chosen, ARCHIVE)
    assert await in_inbox(rig) == []


async def test_a_step_that_is_taken_back_at_work_stops_and_leaves_the_rest_as_it_was(rig: Rig) -> None:
    await mailbox(rig)
    before = await rig.state()
    chosen = await select(rig, INBOX)
    step = await start(rig, chosen, ARCHIVE)
    assert (step.state, step.taken) == ("working", 4)
    await rig.store.write(actions.go_on)
    assert len(await in_inbox(rig)) == 2
    await take_back(rig)
    assert await rig.state() == before


async def test_a_step_that_is_stopped_keeps_what_it_did_and_that_can_be_taken_back(rig: Rig) -> None:
    await mailbox(rig)
    before = await rig.state()
    chosen = await select(rig, INBOX)
    await start(rig, chosen, ARCHIVE)
    stopped = await rig.store.write(actions.stop, rig.principal, step_id=chosen.id)
    assert (stopped.state, stopped.taken) == ("stopped", 4)
    await work_off(rig)
    assert len(await in_inbox(rig)) == 6
    await take_back(rig)
    assert await rig.state() == before


async def test_what_was_done_meanwhile_stays_when_it_is_taken_back(rig: Rig) -> None:
    account_id = await mailbox(rig, 5)
    await do(rig, INBOX, ARCHIVE)
    (first, *_) = [str(one) for (one,) in await rig.rows("select provider_message_id from mail_messages order by id")]
    await rig.world.set_labels(address=MIA, message_id=first, labels=frozenset({"STARRED"}))
    loop = rig.loop_of(account_id)
    await loop.sync_now()
    await take_back(rig)
    assert await rig.labels_here(account_id, first) == {"INBOX", "STARRED"}
    assert len(await in_inbox(rig)) == 5


def acts() -> Iterator[BulkAct]:
    plain: tuple[Do, ...] = ("archive", "inbox", "read", "unread", "star", "unstar", "mute", "unmute", "spam", "trash")
    yield from (BulkAct(do=one) for one in plain)


async def scatter(rig: Rig, chance: random.Random, account_id: str) -> None:
    """Threads of one to three messages, each with labels by chance."""
    for number in range(12):
        for _ in range(chance.randint(1, 3)):
            labels = frozenset(chance.sample(LABELS, chance.randint(0, 3)))
            if {"SPAM", "TRASH"} & labels:
                labels -= {"INBOX"}
            await rig.inject(f"Mail {number}", thread=f"thread {number}", labels=labels)
            await trio.sleep(60)
    await rig.sync_of(account_id).step()


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
async def test_any_step_on_any_list_and_its_undo_give_the_state_before(rig: Rig, chance: random.Random) -> None:
    """And the provider is where it was."""
    account_id = await rig.connect()
    await scatter(rig, chance, account_id)
    loop = rig.loop_of(account_id)
    until = BulkAct(do="snooze", until=rig.clock.now() + 30 * DAY_MS)
    for act in (*acts(), until):
        before = await rig.state()
        for wanted in LISTS:
            chosen = await select(rig, wanted)
            if not chosen.count:
                continue
            await start(rig, chosen, act)
            if chance.random() < 0.5:  # at any place of it
                await work_off(rig)
            if chance.random() < 0.5:
                await loop.sync_now()
            await take_back(rig)
            await loop.sync_now()
            assert await rig.state() == before, (act, wanted)
            assert await rig.rows("select * from mail_snoozes") == []
            assert await rig.rows("select * from mail_mutes") == []
    assert await rig.problems() == []


async def test_a_step_that_meets_sync_ends_as_if_they_had_come_one_after_the_other(
    rig: Rig, chance: random.Random
) -> None:
    account_id = await rig.connect()
    await scatter(rig, chance, account_id)
    sync, loop = rig.sync_of(account_id), rig.loop_of(account_id)
    chosen = await select(rig, SelectAllInput(section="all"))
    await start(rig, chosen, BulkAct(do="star"))
    late = []
    while (await step_row(rig))[0] == "working":
        await trio.sleep(60)
        number = chance.randrange(12)
        late.append(await rig.inject(f"Late {number}", thread=f"thread {number}"))
        await sync.step()
        await rig.store.write(actions.go_on)
    await loop.sync_now()
    for provider_id in late:
        assert "STARRED" not in (await rig.labels_here(account_id, provider_id) or ())
    here = {
        one: set(_labels(labels))
        for one, labels in await rig.rows("select provider_message_id, labels from mail_messages")
    }
    there = {one: await rig.labels_at_provider(one) for one in here}
    assert here == there
    assert await rig.problems() == []


def _labels(encoded: str) -> list[str]:
    return [one for one in encoded.strip("[]").replace('"', "").split(",") if one]


async def test_a_label_goes_to_the_accounts_that_have_it(rig: Rig) -> None:
    account_id = await mailbox(rig, 2)
    await rig.store.write(_make_label, account_id)
    other = "mia@work.example"
    await rig.inject("Elsewhere", address=other)
    await rig.sync_of(await rig.connect(other), address=other).step()
    chosen = await do(rig, INBOX, BulkAct(do="file", label="Clients"))
    assert chosen.count == 3
    assert await step_row(rig) == ("done", 3, 3, 1)
    assert await in_inbox(rig) == ["Elsewhere"]
    assert (await select(rig, SelectAllInput(label_name="Clients"))).count == 2


def _make_label(tx: Tx, account_id: str) -> None:
    tx.run(
        "insert into mail_labels (account_id, label_id, name, system) values (:id, 'Label_9', 'Clients', 0)",
        id=account_id,
    )


async def test_what_one_address_sent_is_put_away_and_the_answers_of_others_stay(rig: Rig) -> None:
    account_id = await rig.connect()
    pest = await rig.inject(raw=mail("Offer", sender="Pest <Pest@shop.example>"), thread="talk")
    other = await rig.inject(raw=mail("Re: Offer"), thread="talk")
    await rig.inject(raw=mail("Other"))
    await rig.sync_of(account_id).step()
    chosen = await select(rig, SelectAllInput(sender="PEST@shop.example"))
    assert chosen.count == 1
    await start(rig, chosen, BulkAct(do="trash", sender="pest@shop.example"))
    assert await rig.labels_here(account_id, pest) == {"TRASH", "UNREAD"}
    assert await rig.labels_here(account_id, other) == {"INBOX", "UNREAD"}
    assert (await select(rig, SelectAllInput(sender="pest@shop.example"))).count == 0


async def test_the_same_mail_in_two_accounts_counts_once_and_both_are_changed(rig: Rig) -> None:
    other = "mia@work.example"
    raw = mail("For both").replace(b"Subject:", b"Message-ID: <one@example.org>\r\nSubject:")
    for address in (MIA, other):
        await rig.inject(raw=raw, address=address)
        await rig.sync_of(await rig.connect(address), address=address).step()
    chosen = await do(rig, INBOX, ARCHIVE)
    assert chosen.count == 1
    assert await in_inbox(rig) == []
    assert await step_row(rig) == ("done", 1, 1, 0)


async def test_all_that_is_snoozed_comes_back_at_once_and_is_snoozed_again_when_that_is_taken_back(rig: Rig) -> None:
    account_id = await mailbox(rig, 6)
    await rig.inject("Not snoozed")
    await rig.inject("Read", labels=frozenset({"INBOX"}))
    other = "mia@work.example"
    raw = mail("For both").replace(b"Subject:", b"Message-ID: <one@example.org>\r\nSubject:")
    for address in (MIA, other):
        await rig.inject(raw=raw, address=address)
    await rig.sync_of(account_id).step()
    await rig.sync_of(await rig.connect(other), address=other).step()
    ids = await rig.rows("select id from mail_threads where subject <> 'Not snoozed' order by id")
    until = rig.clock.now() + DAY_MS
    await rig.store.write(labelling.snooze, rig.principal, thread_ids=[str(one) for (one,) in ids], until=until)
    before = await rig.state()
    counts = [
        (await select(rig, wanted)).count
        for wanted in (
            SelectAllInput(snoozed=True),
            SelectAllInput(snoozed=True, only="unread"),
            SelectAllInput(snoozed=True, only="starred"),
            SelectAllInput(snoozed=True, account_id=account_id),
        )
    ]
    assert counts == [8, 7, 0, 8]
    await do(rig, SelectAllInput(snoozed=True), BulkAct(do="inbox"))
    assert await rig.rows("select 1 from mail_snoozes") == []
    assert len(await in_inbox(rig)) == 10, "both of the mail that came twice"
    await take_back(rig)
    assert await rig.state() == before
    assert await rig.rows("select thread_id from mail_snoozes order by 1") == ids


async def test_of_shared_accounts_only_those_count_in_which_one_may_act(rig: Rig) -> None:
    ben, account_id = user("ben"), await mailbox(rig, 3)
    await rig.store.write(_own, account_id, "mia")
    await rig.store.write(_share, account_id, access="read")
    chosen = await select(rig, INBOX, ben)
    assert (chosen.count, chosen.left_out) == (0, True)
    await rig.store.write(_share, account_id, access="act")
    chosen = await select(rig, INBOX, ben)
    assert (chosen.count, chosen.left_out) == (3, False)
    await rig.store.write(_share, account_id, access="read")
    await start(rig, chosen, ARCHIVE, ben)
    assert len(await in_inbox(rig)) == 3, "they might act when they chose, and may not any more"


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


async def test_somebody_elses_choice_is_not_there(rig: Rig) -> None:
    await mailbox(rig, 2)
    chosen = await select(rig, INBOX)
    with pytest.raises(NotFound):
        await start(rig, chosen, ARCHIVE, user("ben"))


async def test_a_choice_is_for_one_step_and_to_ask_twice_is_to_ask_once(rig: Rig) -> None:
    await mailbox(rig, 2)
    chosen = await select(rig, INBOX)
    await start(rig, chosen, ARCHIVE)
    again = await start(rig, chosen, ARCHIVE)
    assert (again.state, again.taken) == ("done", 2)
    with pytest.raises(Conflict):
        await start(rig, chosen, BulkAct(do="trash"))
    assert len(await rig.rows("select 1 from undo_steps")) == 1


@pytest.mark.parametrize(
    "act", [BulkAct(do="snooze"), BulkAct(do="snooze", until=0), BulkAct(do="label"), BulkAct(do="file")]
)
async def test_what_lacks_a_time_or_a_label_is_refused(rig: Rig, act: BulkAct) -> None:
    await mailbox(rig, 1)
    chosen = await select(rig, INBOX)
    with pytest.raises(Invalid):
        await start(rig, chosen, act)


async def test_each_persons_step_has_its_turn(rig: Rig) -> None:
    await mailbox(rig, 12)
    first = await start(rig, await select(rig, INBOX), BulkAct(do="star"))
    await trio.sleep(1)
    second = await start(rig, await select(rig, INBOX), BulkAct(do="read"))
    await trio.sleep(1)
    seen = []
    for _ in range(4):
        await rig.store.write(actions.go_on)
        await trio.sleep(1)
        seen.append(dict(await rig.rows("select id, taken from mail_bulk_steps")))
    assert [(one[first.id], one[second.id]) for one in seen] == [(8, 4), (8, 8), (12, 8), (12, 12)]


async def test_what_is_old_is_forgotten_a_piece_at_a_time(rig: Rig) -> None:
    await mailbox(rig)
    await do(rig, INBOX, ARCHIVE)
    await select(rig, SelectAllInput(section="all"))
    await trio.sleep(CHOSEN_FOR_MS / 1_000 + 1)
    await work_off(rig)
    assert await rig.rows("select 1 from mail_bulk_threads") == []
    assert len(await rig.rows("select 1 from mail_bulk_steps")) == 1
    await trio.sleep(KEPT_MS / 1_000 + 1)
    await work_off(rig)
    assert await rig.rows("select 1 from mail_bulk_changes") == []
    assert await rig.rows("select 1 from mail_bulk_steps") == []


async def test_of_choices_that_nobody_uses_the_newest_are_kept(rig: Rig) -> None:
    await mailbox(rig, 2)
    for _ in range(actions.CHOICES_KEPT + 3):
        last = await select(rig, INBOX)
        await trio.sleep(1)
    await work_off(rig)
    assert len(await rig.rows("select 1 from mail_bulk_steps")) == actions.CHOICES_KEPT
    assert (await start(rig, last, ARCHIVE)).taken == 2


async def test_progress_is_told_to_whose_step_it_is(rig: Rig) -> None:
    await mailbox(rig)
    before = rig.store.outbox.head()
    await do(rig, INBOX, ARCHIVE)
    news = [row for row in await rig.news(after=before) if row.kind == "bulk.changed"]
    assert [row.audience for row in news] == [None] * 3
    assert b'"taken":4' in news[0].payload
    assert b'"state":"done"' in news[-1].payload
