"""What each statement of sending finds, on both sides of every limit."""

from __future__ import annotations

import pytest

from svc.clock import DAY_MS, Millis
from svc.mail.accounts import addressing
from svc.mail.model import MessageHeaders
from svc.mail.sending import drafts, queries
from svc.mail.sending.model import KEEP_ENDED_MS, LONGEST_RETRY_MS, MAX_LATE_MS, MAX_LISTED, SHOW_ENDED_MS, Outgoing
from svc.principal import UNCLAIMED, Principal
from tests.mail.bare import NOON
from tests.mail.sending.sending_database import BEN, MIA, SendingDatabase, person

STATES = ("scheduled", "held", "overdue", "transmitting", "sent", "failed", "uncertain", "cancelled")
HOLD_MS = 10_000
EVE = person("eve")


@pytest.fixture
def database() -> SendingDatabase:
    return SendingDatabase()


def ids(rows: list[Outgoing]) -> list[str]:
    return [row.id for row in rows]


# What a person sees


def test_what_is_done_with_is_listed_for_a_day_and_what_is_not_for_good(database: SendingDatabase) -> None:
    for state in STATES:
        database.put(f"{state}-just", state=state, changed_at=NOON + 1)
        database.put(f"{state}-past", state=state, changed_at=NOON)
        database.put(f"{state}-away", state=state, changed_at=NOON + 1, dismissed_at=1)
    database.tx.now = NOON + SHOW_ENDED_MS
    lasting = set(STATES) - {"sent", "cancelled"}
    wanted = {f"{state}-just" for state in STATES} | {f"{state}-past" for state in lasting}
    assert set(ids(queries.listed(database.tx, MIA))) == wanted
    assert set(ids(queries.listed(database.tx, UNCLAIMED))) == wanted


def test_the_newest_are_listed_first_and_no_more_than_anybody_reads(database: SendingDatabase) -> None:
    database.put("b", created_at=NOON + 1)
    database.put("a", created_at=NOON + 2)
    database.put("c", created_at=NOON + 1)
    assert ids(queries.listed(database.tx, MIA)) == ["a", "c", "b"]
    for number in range(MAX_LISTED):
        database.put(f"more-{number:03}", created_at=NOON + 3)
    listed = ids(queries.listed(database.tx, MIA))
    assert (len(listed), listed[0]) == (MAX_LISTED, "more-199")


def test_an_owner_sees_all_that_leaves_and_a_member_what_they_sent_while_they_may(database: SendingDatabase) -> None:
    mias, bens = database.put("mias", draft_id="drf_m"), database.put("bens", sent_by=BEN.user_id, draft_id="drf_b")
    others = database.put(
        "others", account_id=database.account(BEN, "ben@example.org"), owner_id=BEN.user_id, sent_by=None
    )

    def seen(who: Principal) -> set[str]:
        found = {row.id for row in queries.listed(database.tx, who)}
        for mail in (mias, bens, others):
            one = queries.outgoing_for(database.tx, who, outgoing_id=mail)
            assert (None if one is None else one.id) == (mail if mail in found else None)
        for draft_id, mail in (("drf_m", mias), ("drf_b", bens)):
            known = queries.outgoing_of_draft(database.tx, who, draft_id=draft_id)
            assert (None if known is None else known.id) == (mail if mail in found else None)
        return found

    assert (seen(MIA), seen(BEN), seen(EVE)) == ({mias, bens}, {others}, set())
    database.share(BEN, "read")
    assert seen(BEN) == {others}
    database.tx.run("update mail_shares set access = 'act'")
    assert (seen(MIA), seen(BEN), seen(EVE)) == ({mias, bens}, {others, bens}, set())


def test_a_mail_says_who_had_it_sent_by_name_or_address_and_whether_it_was_put_away(database: SendingDatabase) -> None:
    for user, name in ((MIA, "Mia"), (BEN, "")):
        database.tx.run(
            "insert into users (id, email, name, role, created_at) values (:id, :id || '@x', :name, 'member', 1)",
            id=user.user_id,
            name=name,
        )
    for name, sent_by in (("a", MIA.user_id), ("b", BEN.user_id), ("c", None)):
        database.put(name, sent_by=sent_by)
    assert [database.row(name).sent_by_name for name in "abc"] == ["Mia", "usr_ben@x", None]
    assert not database.row("a").dismissed
    assert database.change("a", dismissed_at=1).dismissed


# What delivery finds


def test_what_waits_for_an_account_is_all_that_would_still_leave_the_oldest_first(database: SendingDatabase) -> None:
    for state in STATES:
        database.put(state, state=state)
    database.put("other", account_id="acc_other")
    database.change("overdue", created_at=NOON - 1)
    assert ids(queries.waiting_of_account(database.tx, database.account_id)) == ["overdue", "held", "scheduled"]


def test_what_is_due_is_found_from_its_millisecond_on_until_it_is_too_late(database: SendingDatabase) -> None:
    database.put("one", next_at=NOON)

    def found(now: Millis) -> tuple[list[str], str | None, Millis | None, list[str]]:
        database.tx.now = now
        due = queries.due_of(database.tx, database.account_id)
        late = ids(queries.late(database.tx))
        return (
            queries.due_accounts(database.tx),
            None if due is None else due.id,
            queries.next_due_at(database.tx),
            late,
        )

    assert found(NOON - 1) == ([], None, NOON, [])
    assert found(NOON) == ([database.account_id], "one", None, [])
    assert found(NOON + MAX_LATE_MS) == ([database.account_id], "one", None, [])
    assert found(NOON + MAX_LATE_MS + 1) == ([database.account_id], None, None, ["one"])


def test_of_what_is_due_the_longest_waiting_leaves_first_and_each_from_its_own_account(
    database: SendingDatabase,
) -> None:
    other = database.account(MIA, "work@example.org")
    database.put("z", next_at=NOON)
    database.put("a", next_at=NOON)
    database.put("first", next_at=NOON - 1)
    database.put("elsewhere", next_at=NOON - 2, account_id=other)
    database.put("later", next_at=NOON + 2)
    database.put("soon", next_at=NOON + 1)
    left = []
    while (row := queries.due_of(database.tx, database.account_id)) is not None:
        left.append(row.id)
        database.change(row.id, next_at=None)
    assert left == ["first", "z", "a"]
    assert queries.due_accounts(database.tx) == [other]
    assert queries.next_due_at(database.tx) == NOON + 1
    database.change("z", next_at=NOON)
    database.change("a", next_at=NOON)
    assert sorted(queries.due_accounts(database.tx)) == sorted([database.account_id, other])


def test_accounts_that_are_gone_are_orphans_while_something_waits_for_them(database: SendingDatabase) -> None:
    database.put("one", next_at=NOON)
    database.put("two", next_at=NOON)
    assert queries.orphans(database.tx) == []
    database.put("lost", next_at=NOON, account_id="acc_lost")
    database.put("done", state="failed", account_id="acc_done")
    assert queries.orphans(database.tx) == ["acc_lost"]
    database.disconnect()
    assert queries.due_of(database.tx, database.account_id) is None
    assert sorted(queries.orphans(database.tx)) == sorted(["acc_lost", database.account_id])


def test_what_is_on_its_way_and_what_is_late_is_found_in_the_order_of_time(database: SendingDatabase) -> None:
    for name, at in (("b", 3), ("c", 1), ("a", 2)):
        database.put(f"flying-{name}", state="transmitting", changed_at=at)
        database.put(f"late-{name}", next_at=at)
    database.put("still", state="uncertain")
    assert ids(queries.transmitting(database.tx)) == ["flying-c", "flying-a", "flying-b"]
    assert ids(queries.late(database.tx)) == ["late-c", "late-a", "late-b"]


LATE = NOON - MAX_LATE_MS


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"send_at": NOON + 1}, True),
        ({"send_at": NOON, "changed_at": NOON}, False),
        ({"send_at": NOON, "changed_at": NOON + 1}, True),
        ({"send_at": LATE, "changed_at": NOON + 1}, True),
        ({"send_at": LATE - 1, "changed_at": NOON + 1, "created_at": NOON}, False),
        ({"created_at": LATE, "changed_at": NOON + 1}, True),
        ({"created_at": LATE - 1, "changed_at": NOON + 1}, False),
        ({"created_at": NOON, "changed_at": NOON}, False),
        ({"send_at": NOON + 1, "doubt": 1}, False),
        ({"send_at": NOON + 1, "state": "scheduled"}, False),
        ({"send_at": NOON, "changed_at": NOON + 1, "state": "cancelled"}, False),
    ],
)
def test_what_is_not_late_after_all(database: SendingDatabase, columns: dict[str, object], found: bool) -> None:
    database.put("one", **{"state": "overdue", **columns})
    assert ids(queries.not_late_after_all(database.tx)) == (["one"] if found else [])


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"state": "held", "next_at": NOON + HOLD_MS}, False),
        ({"state": "held", "next_at": NOON + HOLD_MS + 1}, True),
        ({"state": "scheduled", "attempts": 1, "next_at": NOON + LONGEST_RETRY_MS}, False),
        ({"state": "scheduled", "attempts": 1, "next_at": NOON + LONGEST_RETRY_MS + 1}, True),
        ({"state": "scheduled", "attempts": 0, "next_at": NOON + 400 * DAY_MS}, False),
    ],
)
def test_what_is_further_away_than_any_date_that_is_ever_set(
    database: SendingDatabase, columns: dict[str, object], found: bool
) -> None:
    database.put("one", **columns)
    assert ids(queries.far_away(database.tx, hold_ms=HOLD_MS)) == (["one"] if found else [])


def test_what_ended_is_forgotten_after_its_time_and_what_failed_only_once_it_was_put_away(
    database: SendingDatabase,
) -> None:
    for state in STATES:
        database.put(state, state=state)
        database.put(f"{state}-away", state=state, dismissed_at=1)
    database.tx.now = NOON + KEEP_ENDED_MS
    assert queries.forgettable(database.tx) == []
    database.tx.now += 1
    ended = {"sent", "sent-away", "cancelled", "cancelled-away", "failed-away", "uncertain-away"}
    assert set(queries.forgettable(database.tx)) == ended


# What a reply answers


def test_a_reply_answers_the_newest_message_that_is_no_draft(database: SendingDatabase) -> None:
    assert queries.last_message_of(database.tx, "thr_1") is None
    database.message("msg_b", at=2, header="b@x")
    database.message("msg_a", at=2, header="a@x")
    database.message("msg_c", at=1, header="c@x")
    database.message("msg_d", at=3, header="d@x", labels='["DRAFT"]')
    database.message("msg_e", at=4, header="e@x", thread="thr_2")
    parent = queries.last_message_of(database.tx, "thr_1")
    assert (parent and parent.message_id_header, parent and parent.references) == ("b@x", ())


@pytest.mark.parametrize(
    ("headers", "references"),
    [
        (MessageHeaders(references=("a@x", "b@x"), in_reply_to="c@x"), ("a@x", "b@x")),
        (MessageHeaders(in_reply_to="c@x"), ("c@x",)),
        (MessageHeaders(), ()),
    ],
)
def test_where_a_message_has_no_references_what_it_answers_stands_for_them(
    database: SendingDatabase, headers: MessageHeaders, references: tuple[str, ...]
) -> None:
    database.message("msg_1", headers=headers)
    parent = queries.last_message_of(database.tx, "thr_1")
    assert parent is not None
    assert parent.references == references


def test_only_the_account_of_a_thread_knows_it_by_its_provider_name(database: SendingDatabase) -> None:
    database.message("msg_1")
    database.message("msg_2", thread="thr_2", account_id=database.account(MIA, "work@example.org"))
    assert queries.provider_thread_id(database.tx, thread_id="thr_1", account_id=database.account_id) == "there-thr_1"
    assert queries.provider_thread_id(database.tx, thread_id="thr_2", account_id=database.account_id) is None


# Drafts, signatures, names


def test_drafts_are_their_writers_the_newest_first_while_they_may_act_there(database: SendingDatabase) -> None:
    database.share(BEN)
    saved = []
    for minute, writer in ((1, MIA), (3, MIA), (2, MIA), (2, BEN)):
        database.tx.now = NOON + minute
        saved.append(drafts.save(database.tx, writer, draft_id=None, version=None, request=database.request()).id)
    first, third, second, bens = saved
    assert [one.id for one in queries.drafts(database.tx, MIA)] == [third, second, first]
    assert [one.id for one in queries.drafts(database.tx, BEN)] == [bens]
    assert (queries.draft_count(database.tx, MIA), queries.draft_count(database.tx, BEN)) == (3, 1)
    assert queries.draft_for(database.tx, MIA, draft_id=bens) is None
    database.unshare()
    assert queries.drafts(database.tx, BEN) == []
    assert queries.draft_for(database.tx, BEN, draft_id=bens) is None
    assert queries.draft_count(database.tx, BEN) == 1


def test_of_drafts_of_one_moment_the_order_is_the_same_each_time(database: SendingDatabase) -> None:
    made = [drafts.save(database.tx, MIA, draft_id=None, version=None, request=database.request()).id for _ in range(9)]
    assert [one.id for one in queries.drafts(database.tx, MIA)] == sorted(made, reverse=True)


def test_a_mail_bears_its_accounts_name_or_else_its_owners(database: SendingDatabase) -> None:
    database.tx.run(
        "insert into users (id, email, name, role, created_at) values ('usr_mia', 'm@x', 'Mia', 'member', 1)"
    )
    other = database.account(MIA, "work@example.org")
    database.tx.run("update mail_accounts set sender_name = 'At work' where id = :id", id=other)

    def name(account_id: str, owner_id: str | None = MIA.user_id, address: str = "mia@example.org") -> str:
        return queries.sender_name_of(database.tx, account_id=account_id, owner_id=owner_id, address=address)

    assert (name(database.account_id), name(other), name(database.account_id, None)) == ("Mia", "At work", "")
    database.tx.run("update mail_accounts set sender_name = '' where id = :id", id=other)
    assert name(other) == ""
    of = {"account_id": other, "address": "hello@studio.example"}
    addressing.set_address(database.tx, MIA, **of, name="The Studio")
    assert (name(other, address="Hello@studio.example"), name(other)) == ("The Studio", "")
    addressing.set_address(database.tx, MIA, **of, name="")
    database.tx.run("update mail_accounts set sender_name = 'At work' where id = :id", id=other)
    assert name(other, address="hello@studio.example") == "At work"


def test_an_account_has_its_own_signature_or_none(database: SendingDatabase) -> None:
    other = database.account(MIA, "work@example.org")
    for account_id, html in (
        (database.account_id, "<p>Old</p>"),
        (other, "<p>Work</p>"),
        (database.account_id, "<p>Mia</p>"),
    ):
        database.tx.now += 1
        drafts.set_signature(database.tx, MIA, account_id=account_id, html=html)
    assert queries.signature(database.tx, database.account_id) == "<p>Mia</p>"
    assert queries.signature(database.tx, other) == "<p>Work</p>"
    assert database.tx.all("select updated_at from mail_signatures order by updated_at") == [(NOON + 2,), (NOON + 3,)]
    assert queries.signature(database.tx, "acc_none") == ""


def test_ones_own_addresses_are_those_of_all_ones_accounts(database: SendingDatabase) -> None:
    database.account(BEN, "ben@example.org")
    database.account(MIA, "work@example.org")
    database.disconnect()
    assert queries.addresses_of(database.tx, MIA) == {"mia@example.org", "work@example.org"}
    assert len(queries.addresses_of(database.tx, UNCLAIMED)) == 3


def test_the_bytes_of_an_attempt_and_the_body_it_quotes_are_named(database: SendingDatabase) -> None:
    database.put("one", raw_sha256="raw", quoted='{"bodySha256": "body"}')
    database.put("two")
    assert list(queries.blobs(database.tx)) == ["raw", "body"]
