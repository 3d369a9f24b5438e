"""Drafts, their files and what ends them, decided in a transaction alone: what is written, told and let go."""

from __future__ import annotations

import json
from typing import Any

import pytest

from svc.errors import Conflict, Forbidden, NotFound
from svc.mail.sending import actions, attaching, drafts, queries
from svc.mail.sending.erasing import OUTGOING_A_BATCH, erase
from svc.mail.sending.holding_back import REVERSAL
from svc.mail.sending.joining import follow_joined
from svc.mail.sending.model import Draft, Quote, draft_origin, outgoing_origin
from svc.mail.sync.steps import StoredMessage
from svc.principal import UNCLAIMED, Principal
from svc.reversal import UndoStep
from tests.mail.bare import NOON
from tests.mail.sending.sending_database import BEN, MIA, SendingDatabase


@pytest.fixture
def database() -> SendingDatabase:
    return SendingDatabase()


def save(
    database: SendingDatabase, *, by: Principal = MIA, id: str | None = None, version: int | None = None, **more: Any
) -> Draft:
    return drafts.save(database.tx, by, draft_id=id, version=version, request=database.request(**more))


# Saving


def test_each_thing_that_was_typed_stands_in_its_column_and_again_after_the_next_save(
    database: SendingDatabase,
) -> None:
    database.message("msg_1")
    first = save(database)
    assert (first.version, first.updated_at, first.quote, first.thread_id) == (1, NOON, None, None)
    assert first.id.startswith("drf_")
    other = database.account(MIA, "work@example.org")
    database.tx.now = NOON + 5
    file_id = database.attach("fil_1", origin="upload")
    after = save(
        database,
        id=first.id,
        version=1,
        account_id=other,
        to=("a",),
        cc=("b",),
        bcc=("c",),
        subject="S",
        html="<p>Two\n lines</p>",
        attachments=(file_id,),
        thread_id="thr_1",
        quote=Quote(message_id="msg_1", kind="forward"),
    )
    assert after == queries.draft(database.tx, first.id)
    assert (after.owner_id, after.account_id, after.version) == (MIA.user_id, other, 2)
    assert (after.to, after.cc, after.bcc, after.subject) == (("a",), ("b",), ("c",), "S")
    assert (after.html, after.snippet, after.thread_id) == ("<p>Two\n lines</p>", "Two lines", "thr_1")
    assert after.quote == Quote(message_id="msg_1", kind="forward")
    assert after.attachments == tuple(database.files(draft_origin(first.id)))
    assert database.tx.all("select created_at, updated_at from mail_drafts") == [(NOON, NOON + 5)]


def test_what_is_saved_restored_and_thrown_away_is_told_to_its_writer_from_the_device_that_did_it(
    database: SendingDatabase,
) -> None:
    def told() -> list[tuple[object, ...]]:
        news: list[tuple[object, ...]] = [
            (one.topic, one.kind, one.id, one.audience, one.device_id, json.loads(one.payload)["draft"] is None)
            for one in database.tx.emitted
            if b'"draft"' in one.payload
        ]
        database.tx.emitted.clear()
        return news

    draft = save(database)
    row = ("tasks", "task.changed", draft.id, MIA.user_id, MIA.device_id)
    assert json.loads(database.tx.emitted[-1].payload)["draft"]["snippet"] == "Hi."
    assert told() == [(*row, False)]
    drafts.delete(database.tx, MIA, draft_id=draft.id)
    assert told() == [(*row, True)]
    mail = database.accept(send_at=NOON + 5)
    restored = actions.cancel(database.tx, MIA, outgoing_id=mail.id).restored_draft_id
    assert str(restored).startswith("drf_")
    assert told() == [("tasks", "task.changed", restored, MIA.user_id, MIA.device_id, False)]


def test_a_draft_of_another_version_is_not_overwritten_and_the_window_hears_which_there_is(
    database: SendingDatabase,
) -> None:
    draft = save(database)
    save(database, id=draft.id)
    with pytest.raises(Conflict, match="another window") as refused:
        save(database, id=draft.id, version=1)
    assert refused.value.data == {"version": 2}
    assert save(database, id=draft.id, version=2).version == 3


def test_a_draft_that_is_not_there_is_not_saved_and_one_that_was_sent_says_so(database: SendingDatabase) -> None:
    with pytest.raises(NotFound, match="no such draft"):
        save(database, id="drf_none")
    draft = save(database)
    database.accept(draft_id=draft.id)
    with pytest.raises(Conflict, match="sent already"):
        save(database, id=draft.id)
    with pytest.raises(NotFound, match="no such draft"):
        drafts.delete(database.tx, MIA, draft_id=draft.id)


def test_there_are_only_so_many_drafts_and_each_of_them_can_still_be_saved(
    database: SendingDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert drafts.MAX_DRAFTS == 1_000
    monkeypatch.setattr(drafts, "MAX_DRAFTS", 2)
    first, _ = save(database), save(database)
    with pytest.raises(Conflict, match="There are 2 drafts already"):
        save(database)
    assert save(database, id=first.id).version == 2


def test_a_draft_answers_the_thread_that_there_is_now_and_quotes_what_there_is(database: SendingDatabase) -> None:
    database.message("msg_1")
    database.tx.run("insert into mail_joined_threads (thread_id, became) values ('thr_old', 'thr_1')")
    assert save(database, thread_id="thr_old").thread_id == "thr_1"
    with pytest.raises(NotFound, match="no such thread"):
        save(database, thread_id="thr_none")
    with pytest.raises(NotFound, match="quoted is not there"):
        save(database, quote=Quote(message_id="msg_none", kind="reply"))


def test_only_an_owner_sets_the_signature_and_only_who_may_act_saves_a_draft(database: SendingDatabase) -> None:
    with pytest.raises(NotFound, match="no such account"):
        save(database, by=BEN)
    database.share(BEN, "read")
    with pytest.raises(Forbidden):
        save(database, by=BEN)
    database.tx.run("update mail_shares set access = 'act'")
    assert save(database, by=BEN).owner_id == BEN.user_id
    assert save(database, by=UNCLAIMED).owner_id == MIA.user_id
    with pytest.raises(Forbidden):
        drafts.set_signature(database.tx, BEN, account_id=database.account_id, html="")


# Their files


def test_a_record_has_each_file_once_in_the_order_it_was_attached_and_no_others(database: SendingDatabase) -> None:
    names = [database.attach(name, origin="upload") for name in ("fil_b", "fil_a")]
    draft = save(database, attachments=(*names, names[0]))
    assert len(draft.attachments) == 2
    assert not {*names} & {*draft.attachments}
    first, second = draft.attachments
    again = save(database, id=draft.id, attachments=(names[1], first))
    assert again.attachments == (second, first)
    fewer = save(database, id=draft.id, attachments=(names[1],))
    assert (fewer.attachments, database.files(draft_origin(draft.id))) == ((second,), [second])
    assert database.files("upload") == sorted(names)


def test_a_file_that_the_writer_may_not_read_is_not_attached(database: SendingDatabase) -> None:
    foreign = database.attach("fil_b", origin="upload", owner=BEN)
    for wanted in (foreign, "fil_none"):
        with pytest.raises(NotFound, match="no such file"):
            save(database, attachments=(wanted,))


def test_a_file_from_a_shared_mail_belongs_to_the_member_who_attaches_it(database: SendingDatabase) -> None:
    database.share(BEN)
    database.message("msg_1")
    shared = database.attach("fil_1", origin="mail:msg_1")
    (own,) = save(database, by=BEN, attachments=(shared,)).attachments
    assert database.tx.value("select owner_id from files where id = :id", id=own) == BEN.user_id


def test_the_first_holder_gives_a_new_file_its_name(database: SendingDatabase) -> None:
    file_id = database.attach("fil_1", origin="upload")

    def adopted(*holders: str) -> str:
        (own,) = attaching.adopt(
            database.tx, MIA, file_ids=[file_id], origin=f"draft:{holders[0]}", owner_id=None, holders=holders
        )
        return own

    one, two = adopted("one"), adopted("two")
    assert one != two
    database.tx.run("delete from files where id = :id", id=two)
    assert adopted("two", "one") == two


# The end of what they belong to


def test_with_an_account_goes_all_that_is_not_on_its_way(database: SendingDatabase) -> None:
    other = database.account(MIA, "work@example.org")
    kept = save(database, account_id=other)
    gone = save(database, attachments=(database.attach("fil_1", origin="upload"),))
    database.put("other", account_id=other, state="sent")
    database.put("done", state="sent")
    database.put("flying", state="transmitting")
    for mail in ("done", "flying", "other"):
        database.attach(f"fil_{mail}", origin=outgoing_origin(mail))
    assert erase(database.tx, account_id=database.account_id) == "not-yet"
    assert database.tx.all("select id from mail_outgoing order by id") == [("flying",), ("other",)]
    assert database.tx.all("select id from mail_drafts") == [(kept.id,)]
    assert database.files(draft_origin(gone.id)) == []
    assert [len(database.files(outgoing_origin(mail))) for mail in ("done", "flying", "other")] == [0, 1, 1]
    database.change("flying", state="uncertain")
    assert erase(database.tx, account_id=database.account_id) == "nothing"
    assert database.tx.all("select id from mail_outgoing") == [("other",)]


def test_of_much_a_batch_goes_at_a_time(database: SendingDatabase) -> None:
    for number in range(OUTGOING_A_BATCH + 1):
        database.put(f"out_{number}", state="sent")
    assert erase(database.tx, account_id=database.account_id) == "more"
    assert database.tx.value("select count(*) from mail_outgoing") == 1
    for _ in range(OUTGOING_A_BATCH):
        save(database)
    assert erase(database.tx, account_id=database.account_id) == "more"
    assert erase(database.tx, account_id=database.account_id) == "nothing"
    for _ in range(OUTGOING_A_BATCH - 1):
        save(database)
    assert erase(database.tx, account_id=database.account_id) == "nothing"


def test_answers_follow_their_thread_into_the_one_it_became(database: SendingDatabase) -> None:
    for thread in ("thr_1", "thr_2", "thr_3"):
        database.message(f"msg_{thread}", thread=thread)
        database.put(f"out_{thread}", thread_id=thread)
        save(database, thread_id=thread)
    unread: Any = None
    stored = StoredMessage(
        account=unread,
        message=unread,
        message_id="msg_thr_2",
        thread_id="thr_2",
        labels=frozenset(),
        is_new=True,
        backfill=False,
        joined=("thr_1",),
    )
    follow_joined(database.tx, stored)
    for table in ("mail_outgoing", "mail_drafts"):
        threads = database.tx.all(f"select thread_id from {table} order by 1")
        assert threads == [("thr_2",), ("thr_2",), ("thr_3",)]


def test_a_step_is_open_as_long_as_its_mail_is_held_and_not_while_it_waits_for_anything_else(
    database: SendingDatabase,
) -> None:
    row = database.accept(hold_ms=10)
    inverse = database.tx.value("select inverse from undo_steps")
    step = UndoStep(id=1, kind="send", what="send", concerns=(), inverse=str(inverse).encode(), at=NOON)
    assert REVERSAL.is_open(database.tx, step)
    for state in ("scheduled", "overdue", "sent", "failed"):
        database.change(row.id, state=state)
        assert not REVERSAL.is_open(database.tx, step)
    database.change(row.id, state="held")
    draft_id = REVERSAL.take_back(database.tx, MIA, step)
    assert [one.id for one in queries.drafts(database.tx, MIA)] == [draft_id]
    assert database.row(row.id).state == "cancelled"
