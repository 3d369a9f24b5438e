"""What becomes of a mail, event by event: what each event writes, whom it notifies, and what it leaves alone."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from svc.clock import DAY_MS, HOUR_MS
from svc.mail.sending import settling
from svc.mail.sending.model import MAX_ATTEMPTS, Outgoing, outgoing_origin
from svc.mail.sending.moving import DEVICE_ID, MAX_REASON_CHARS, move
from tests.mail.bare import NOON
from tests.mail.sending.sending_database import BEN, MIA, SendingDatabase

RAW = "0" * 64


@pytest.fixture
def database() -> SendingDatabase:
    return SendingDatabase()


def begin(database: SendingDatabase, row: Outgoing, *, version: int | None = None) -> Outgoing | None:
    return settling.begin(database.tx, outgoing_id=row.id, version=version or row.version, raw_sha256=RAW)


def begun(database: SendingDatabase, **more: Any) -> Outgoing:
    row = begin(database, database.accept(**more))
    assert row is not None
    return row


def events(database: SendingDatabase, type: str) -> list[tuple[dict[str, Any], object, object]]:
    rows = database.tx.all("select payload, audience, device_id from events where type = :type order by seq", type=type)
    return [(json.loads(str(payload)), audience, device_id) for payload, audience, device_id in rows]


# It begins


def test_it_begins_when_it_is_due_and_counts_the_attempt(database: SendingDatabase) -> None:
    row = database.accept(hold_ms=10)
    database.tx.now = NOON + 9
    assert begin(database, row) is None
    database.tx.now = NOON + 10
    started = begin(database, row)
    assert started is not None
    assert (started.state, started.attempts, started.next_at) == ("transmitting", 1, None)
    assert database.tx.value("select raw_sha256 from mail_outgoing") == RAW


def test_what_was_changed_while_its_bytes_were_made_does_not_begin(database: SendingDatabase) -> None:
    row = database.accept()
    moved = database.change(row.id, version=row.version + 1)
    assert begin(database, row) is None
    database.change(row.id, state="overdue", next_at=None)
    assert begin(database, moved) is None
    database.tx.run("delete from mail_outgoing")
    assert begin(database, moved) is None


def test_nothing_begins_from_an_account_that_is_gone(database: SendingDatabase) -> None:
    row = database.accept()
    database.disconnect()
    assert begin(database, row) is None
    assert database.row(row.id).state == "scheduled"


# It is sent


def find(database: SendingDatabase, row: Outgoing, message_id: str | None = None) -> None:
    settling.sent(database.tx, outgoing_id=row.id, provider_message_id="there-1", message_id=message_id)


def test_what_is_sent_has_no_doubt_no_reason_and_no_files_left(database: SendingDatabase) -> None:
    row = begun(database)
    settling.uncertain(database.tx, row, reason="Cut.")
    database.attach("fil_1", origin=outgoing_origin(row.id))
    assert database.row(row.id).doubt
    find(database, row, "msg_1")
    after = database.row(row.id)
    assert (after.state, after.doubt, after.last_error, after.message_id) == ("sent", False, None, "msg_1")
    assert database.tx.value("select provider_message_id from mail_outgoing") == "there-1"
    assert database.files(outgoing_origin(row.id)) == []


def test_that_it_is_sent_is_kept_as_one_event_under_the_device_that_asked(database: SendingDatabase) -> None:
    row = begun(database, to=("Noa <noa@example.org>",))
    find(database, row, "msg_1")
    find(database, row, "msg_2")
    told = {
        "outgoingId": row.id,
        "accountId": database.account_id,
        "from": "mia@example.org",
        "to": list(row.to),
        "subject": "Hello",
        "attempts": 1,
        "by": MIA.user_id,
        "messageId": "msg_1",
        "providerMessageId": "there-1",
    }
    assert events(database, "mail-sent") == [(told, MIA.user_id, MIA.device_id)]
    assert database.row(row.id).message_id == "msg_1"


def test_what_is_not_there_any_more_is_not_found_to_be_sent(database: SendingDatabase) -> None:
    row = begun(database)
    database.tx.run("delete from mail_outgoing")
    find(database, row)
    assert events(database, "mail-sent") == []


def acts(database: SendingDatabase) -> list[tuple[object, ...]]:
    return database.tx.all("select account_id, thread_id, message_id, user_id, what from mail_acts")


def test_in_a_shared_account_it_is_written_down_who_had_it_sent(database: SendingDatabase) -> None:
    message = database.message("msg_1")
    find(database, begun(database), message)
    assert acts(database) == []
    database.share(BEN)
    for copy, sender in (("msg_2", MIA), ("msg_3", BEN)):
        row = begun(database, by=sender)
        settling.sent(database.tx, outgoing_id=row.id, provider_message_id=copy, message_id=database.message(copy))
    assert acts(database) == [
        (database.account_id, "thr_1", "msg_2", MIA.user_id, "sent"),
        (database.account_id, "thr_1", "msg_3", BEN.user_id, "sent"),
    ]


def test_a_mail_that_left_while_its_account_was_shared_bears_its_senders_name_after_that_too(
    database: SendingDatabase,
) -> None:
    database.share(BEN)
    row = begun(database, by=BEN)
    database.unshare()
    find(database, row, database.message("msg_1"))
    assert [user_id for *_, user_id, _ in acts(database)] == [BEN.user_id]


@pytest.mark.parametrize(("sent_by", "message_id"), [(None, "msg_1"), ("usr_mia", None), ("usr_mia", "msg_gone")])
def test_nothing_is_written_down_where_sender_or_message_is_not_known(
    database: SendingDatabase, sent_by: str | None, message_id: str | None
) -> None:
    database.share(BEN)
    database.message("msg_1")
    row = begun(database)
    database.change(row.id, sent_by=sent_by)
    find(database, row, message_id)
    assert database.row(row.id).state == "sent"
    assert acts(database) == []


def test_a_copy_is_known_by_its_message_id_before_it_is_known_by_our_mark(database: SendingDatabase) -> None:
    marked, named = database.put("out_a", state="failed"), database.put("out_b", state="failed")
    other = database.put("out_c", account_id=database.account(MIA, "work@example.org"), state="failed")

    def sent() -> set[str]:
        return {mail for mail in (marked, named, other) if database.row(mail).state == "sent"}

    def found(header: str | None, mark: str | None, there: str) -> set[str]:
        before = sent()
        settling.found(
            database.tx,
            account_id=database.account_id,
            message_id_header=header,
            mark=mark,
            provider_message_id=there,
            message_id=f"msg_{there}",
        )
        return sent() - before

    assert found(None, None, "1") == set()
    assert found("out_c@example.org", other, "2") == set()
    assert found(f"{named}@example.org", marked, "3") == {named}
    assert found(None, marked, "4") == {marked}
    assert database.row(marked).message_id == "msg_4"


def test_an_ingested_copy_is_known_by_either_message_id_or_by_our_mark_and_only_among_sent_mail(
    database: SendingDatabase,
) -> None:
    def ingest(label: str, **named: str) -> str:
        mail = database.put(f"out_{len(seen)}", state="failed")
        names: dict[str, Any] = {"message_id_header": None, "original_message_id": None, "outgoing_mark": None}
        names |= {name: value.format(mail) for name, value in named.items()}
        message: Any = SimpleNamespace(labels=frozenset({label}), provider_message_id=f"there-{mail}", **names)
        stored: Any = SimpleNamespace(
            message=message, message_id="msg", account=SimpleNamespace(id=database.account_id)
        )
        settling.settle_found(database.tx, stored)
        seen.append(mail)
        return database.row(mail).state

    seen: list[str] = []
    assert ingest("SENT", message_id_header="{}@example.org") == "sent"
    assert ingest("SENT", message_id_header="of@the.server", original_message_id="{}@example.org") == "sent"
    assert ingest("SENT", outgoing_mark="{}") == "sent"
    assert ingest("INBOX", message_id_header="{}@example.org", outgoing_mark="{}") == "failed"


# It fails, or waits


def test_a_refused_thread_is_dropped_and_only_then_and_only_of_what_failed(database: SendingDatabase) -> None:
    for drop in (False, True):
        row = begun(database)
        database.change(row.id, provider_thread_id="there")
        settling.failed(database.tx, row, reason="Refused.", drop_thread=drop)
        assert database.row(row.id).provider_thread_id == (None if drop else "there")
    row = begun(database)
    database.change(row.id, provider_thread_id="there", version=row.version + 1)
    settling.failed(database.tx, row, reason="Refused.", drop_thread=True)
    assert (database.row(row.id).state, database.row(row.id).provider_thread_id) == ("transmitting", "there")


def test_what_failed_says_why_and_keeps_an_event_of_it(database: SendingDatabase) -> None:
    row = begun(database)
    reason = "x" * (MAX_REASON_CHARS + 1)
    settling.failed(database.tx, row, reason=reason)
    assert database.row(row.id).last_error == "x" * MAX_REASON_CHARS
    ((payload, audience, device_id),) = events(database, "mail-send-failed")
    assert payload["reason"] == "x" * MAX_REASON_CHARS
    assert (payload["outgoingId"], audience, device_id) == (row.id, MIA.user_id, MIA.device_id)
    settling.failed(database.tx, row, reason="Again.")  # a version that is gone
    assert len(events(database, "mail-send-failed")) == 1


def test_of_a_doubtful_mail_nothing_says_that_it_failed(database: SendingDatabase) -> None:
    row = begun(database)
    database.change(row.id, doubt=1, provider_thread_id="there")
    settling.failed(database.tx, database.row(row.id), reason="Refused.", drop_thread=True)
    after = database.row(row.id)
    assert (after.state, after.last_error, after.provider_thread_id) == ("uncertain", "Refused.", None)
    assert events(database, "mail-send-failed") == []


@pytest.mark.parametrize(("attempts", "state"), [(MAX_ATTEMPTS - 1, "scheduled"), (MAX_ATTEMPTS, "failed")])
def test_after_the_last_of_its_tries_it_fails(database: SendingDatabase, attempts: int, state: str) -> None:
    row = database.change(begun(database).id, attempts=attempts)
    settling.put_off(database.tx, row, next_at=NOON + 5, reason="Slow down.")
    after = database.row(row.id)
    assert (after.state, after.next_at) == (state, NOON + 5 if state == "scheduled" else None)
    assert after.last_error == "Slow down."


def test_what_finds_no_room_says_so_and_has_made_no_attempt(database: SendingDatabase) -> None:
    row = database.accept(hold_ms=10)
    settling.wait(database.tx, row, next_at=NOON + 60, reason="Full.")
    after = database.row(row.id)
    assert (after.state, after.next_at, after.last_error, after.attempts) == ("scheduled", NOON + 60, "Full.", 0)


def test_at_a_start_only_what_nobody_waits_for_is_uncertain(database: SendingDatabase) -> None:
    flying, dead = begun(database), begun(database)
    settling.recover(database.tx, in_flight={flying.id})
    assert (database.row(flying.id).state, database.row(dead.id).state) == ("transmitting", "uncertain")
    assert "The server stopped" in str(database.row(dead.id).last_error)
    settling.recover(database.tx)
    assert database.row(flying.id).state == "uncertain"


def test_what_is_late_says_so_and_has_no_date(database: SendingDatabase) -> None:
    row = database.accept()
    database.tx.now = NOON + 13 * HOUR_MS
    settling.mark_overdue(database.tx)
    after = database.row(row.id)
    assert (after.state, after.next_at) == ("overdue", None)
    assert "more than 12 hours ago" in str(after.last_error)


def test_after_a_jump_back_what_is_held_is_held_anew_and_a_retry_comes_at_once(database: SendingDatabase) -> None:
    held, retried = database.accept(hold_ms=10_000), database.accept()
    database.change(retried.id, attempts=1, next_at=NOON + HOUR_MS)
    database.tx.now = NOON - 2 * DAY_MS
    settling.mend_dates(database.tx, hold_ms=10_000)
    assert database.row(held.id).next_at == database.tx.now + 10_000
    assert database.row(retried.id).next_at == database.tx.now


def test_what_was_late_by_a_wrong_clock_alone_keeps_its_time_or_is_held_anew(database: SendingDatabase) -> None:
    timed, straight = database.accept(send_at=NOON + HOUR_MS), database.accept()
    database.tx.now = NOON + 20 * DAY_MS
    settling.mark_overdue(database.tx)
    database.tx.now = NOON
    settling.mend_dates(database.tx, hold_ms=10_000)
    for row, state, next_at in ((timed, "scheduled", NOON + HOUR_MS), (straight, "held", NOON + 10_000)):
        after = database.row(row.id)
        assert (after.state, after.next_at, after.last_error) == (state, next_at, None)


def test_with_an_account_or_with_one_persons_word_in_it_only_theirs_fails(database: SendingDatabase) -> None:
    database.share(BEN)
    mias, bens = database.accept(), database.accept(by=BEN)
    other = database.accept(account_id=database.account(MIA, "work@example.org"))
    settling.fail_waiting(database.tx, account_id=database.account_id, reason="Ben may not.", sent_by=BEN.user_id)
    assert [database.row(row.id).state for row in (mias, bens, other)] == ["scheduled", "failed", "scheduled"]
    assert database.row(bens.id).last_error == "Ben may not."
    settling.fail_waiting(database.tx, account_id=database.account_id, reason="Gone.")
    assert [database.row(row.id).state for row in (mias, bens, other)] == ["failed", "failed", "scheduled"]


def test_what_is_forgotten_takes_its_files_along(database: SendingDatabase) -> None:
    old, young = database.put("out_old", state="cancelled"), database.put("out_new", state="cancelled")
    database.change(young, changed_at=NOON + DAY_MS)
    for mail in (old, young):
        database.attach(f"fil_{mail}", origin=outgoing_origin(mail))
    database.tx.now = NOON + 30 * DAY_MS + 1
    settling.forget_old(database.tx)
    assert database.tx.all("select id from mail_outgoing") == [(young,)]
    assert database.tx.all("select id from files") == [(f"fil_{young}",)]


# The move itself


def test_a_move_is_told_to_owner_and_sender_from_the_device_that_made_it(database: SendingDatabase) -> None:
    database.share(BEN)
    row = database.accept(by=BEN)
    database.tx.emitted.clear()
    database.tx.now = NOON + 7
    moved = move(database.tx, row, "reschedule", next_at=NOON + 9, send_at=NOON + 9)
    assert moved == database.row(row.id)
    told = {(one.topic, one.kind, one.id, one.audience, one.device_id) for one in database.tx.emitted}
    assert told == {("tasks", "task.changed", row.id, user, DEVICE_ID) for user in (MIA.user_id, BEN.user_id)}
    for one in database.tx.emitted:
        assert json.loads(one.payload)["outgoing"]["state"] == "scheduled"
    assert database.tx.value("select changed_at from mail_outgoing") == NOON + 7
    database.tx.emitted.clear()
    move(database.tx, database.row(row.id), "cancel", device_id="dev_x")
    assert {one.device_id for one in database.tx.emitted} == {"dev_x"}


def test_whose_word_in_an_account_is_gone_hears_no_more_of_what_they_sent(database: SendingDatabase) -> None:
    database.share(BEN)
    row = database.accept(by=BEN)
    for way in ("update mail_shares set access = 'read'", "delete from mail_shares"):
        database.tx.run(way)
        database.tx.emitted.clear()
        row = move(database.tx, row, "reschedule", next_at=NOON, send_at=NOON) or row
        assert [one.audience for one in database.tx.emitted] == [MIA.user_id]


def test_of_a_mail_that_was_put_away_the_clients_hear_that_there_is_nothing_to_show(database: SendingDatabase) -> None:
    row = database.row(database.put("out_1", state="failed"))
    move(database.tx, row, "dismiss", dismissed_at=NOON)
    assert json.loads(database.tx.emitted[-1].payload) == {"outgoing": None}
    assert database.row("out_1").dismissed
