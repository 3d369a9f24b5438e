"""Sending's table of transitions, held by the real functions: random events, every transition, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.clock import DAY_MS, HOUR_MS, Millis
from svc.errors import Conflict
from svc.machine import ForbiddenTransition
from svc.mail.accounts import actions as account_actions
from svc.mail.sending import actions, queries, settling
from svc.mail.sending.invariants import INVARIANTS
from svc.mail.sending.model import Outgoing, SendRequest
from svc.mail.sending.moving import move
from svc.mail.sending.states import GOES_BY_ITSELF, SENDING, OutgoingEvent, OutgoingState
from svc.principal import UNCLAIMED
from svc.store import Tx
from tests.mail.bare import NOON, bare_tx, undone
from tests.mail.sending.sending_database import SendingDatabase

HOLD_MS: Final = 10_000
EVENTS: Final[tuple[OutgoingEvent, ...]] = get_args(OutgoingEvent)
IN_DOUBT: Final[dict[OutgoingEvent, OutgoingEvent]] = {"give_up": "give_up_in_doubt", "cancel": "cancel_in_doubt"}
BY_PERSON: Final = {"cancel", "reschedule", "retry", "dismiss"}


@dataclass
class Mail:
    """One mail in a database of its own, and the ways in which each event really comes about."""

    tx: Tx = field(default_factory=bare_tx)
    row_id: str = ""
    sent_copies: int = 0

    def accept(self, *, send_at: Millis | None, hold_ms: int) -> None:
        self.tx.now = NOON
        account_id = self.tx.value("select id from mail_accounts") or account_actions.connect(
            self.tx, UNCLAIMED, address="mia@example.org", provider="fake"
        )
        request = SendRequest(
            account_id=account_id,
            to=("noa@example.org",),
            cc=(),
            bcc=(),
            subject="Hello",
            html="<p>Hi.</p>",
            attachments=(),
            thread_id=None,
            quote=None,
        )
        row = actions.accept(self.tx, UNCLAIMED, request=request, send_at=send_at, draft_id=None, hold_ms=hold_ms)
        self.row_id = row.id

    @property
    def row(self) -> Outgoing:
        row = queries.outgoing(self.tx, self.row_id)
        assert row is not None
        return row

    def problems(self) -> list[str]:
        return [problem for one in INVARIANTS if one.yields == "problems" for problem in one.check(self.tx)]

    def can_happen(self, event: OutgoingEvent) -> bool:
        """The table, and what a row has to say beside its state."""
        row = self.row
        if not SENDING.allows(row.state, event) or (event in IN_DOUBT and row.doubt):
            return False
        if event in IN_DOUBT.values():
            return row.doubt
        if event == "set_date_again":
            return row.state == "held" or row.attempts > 0
        if event in {"hold_again", "schedule_again"}:
            return not row.doubt and (row.send_at is None) == (event == "hold_again")
        return not (event == "retry" and row.dismissed)

    def happen(self, event: OutgoingEvent) -> None:
        """Let it come about, and hold what came of it against the table."""
        before = self.row
        _HOW[event](self, before)
        after = self.row
        assert after.state == SENDING.after(before.state, event)
        assert after.version == before.version + 1
        assert (after.next_at is not None) == (after.state in GOES_BY_ITSELF)
        assert self.problems() == []

    def is_refused(self, event: OutgoingEvent) -> None:
        before = self.row
        with pytest.raises(ForbiddenTransition):
            move(self.tx, before, event)
        if event in BY_PERSON:
            with pytest.raises(Conflict):
                _HOW[event](self, before)
        assert self.row == before

    def find(self) -> None:
        self.sent_copies += 1
        settling.sent(
            self.tx, outgoing_id=self.row_id, provider_message_id=f"copy-{self.sent_copies}", message_id="msg_1"
        )

    def begin(self, row: Outgoing) -> None:
        assert row.next_at is not None
        self.tx.now = max(self.tx.now, row.next_at)
        settling.begin(self.tx, outgoing_id=row.id, version=row.version, raw_sha256="0" * 64)

    def fall_due_long_ago(self, row: Outgoing) -> None:
        assert row.next_at is not None
        self.tx.now = row.next_at + 13 * HOUR_MS
        settling.mark_overdue(self.tx)

    def clock_jumps_back(self) -> None:
        self.tx.now -= 30 * DAY_MS
        settling.mend_dates(self.tx, hold_ms=HOLD_MS)

    def dismiss(self, *, keep_draft: bool = False) -> None:
        actions.dismiss(self.tx, UNCLAIMED, outgoing_id=self.row_id, keep_draft=keep_draft)


_HOW: dict[OutgoingEvent, Callable[[Mail, Outgoing], object]] = {
    "begin": lambda mail, row: mail.begin(row),
    "find": lambda mail, row: mail.find(),
    "put_off": lambda mail, row: settling.put_off(mail.tx, row, next_at=mail.tx.now + HOUR_MS, reason="Slow down."),
    "lose_answer": lambda mail, row: settling.uncertain(mail.tx, row, reason="Cut."),
    "give_up": lambda mail, row: settling.failed(mail.tx, row, reason="Refused."),
    "give_up_in_doubt": lambda mail, row: settling.failed(mail.tx, row, reason="Refused."),
    "wait_for_room": lambda mail, row: settling.wait(mail.tx, row, next_at=mail.tx.now + 60_000, reason="Full."),
    "fall_due_long_ago": lambda mail, row: mail.fall_due_long_ago(row),
    "set_date_again": lambda mail, row: mail.clock_jumps_back(),
    "hold_again": lambda mail, row: mail.clock_jumps_back(),
    "schedule_again": lambda mail, row: mail.clock_jumps_back(),
    "cancel": lambda mail, row: actions.cancel(mail.tx, UNCLAIMED, outgoing_id=row.id),
    "cancel_in_doubt": lambda mail, row: actions.cancel(mail.tx, UNCLAIMED, outgoing_id=row.id),
    "reschedule": lambda mail, row: actions.reschedule(
        mail.tx, UNCLAIMED, outgoing_id=row.id, send_at=mail.tx.now + DAY_MS
    ),
    "retry": lambda mail, row: actions.retry(mail.tx, UNCLAIMED, outgoing_id=row.id),
    "dismiss": lambda mail, row: mail.dismiss(),
}

BEGINNINGS: Final[tuple[tuple[Millis | None, int], ...]] = ((None, 0), (None, HOLD_MS), (NOON + DAY_MS, 0))
"""``send_at`` and ``hold_ms`` of a mail as it is accepted."""


@pytest.mark.thorough
@settings(max_examples=60)
@given(
    st.sampled_from(BEGINNINGS),
    st.lists(st.sampled_from(EVENTS), max_size=40),
)
def test_any_events_lead_where_the_table_says_and_the_others_are_refused(
    beginning: tuple[Millis | None, int], events: list[OutgoingEvent]
) -> None:
    mail = Mail()
    mail.accept(send_at=beginning[0], hold_ms=beginning[1])
    assert mail.row.state in SENDING.initial
    for event in events:
        if mail.can_happen(event):
            mail.happen(event)
        elif not SENDING.allows(mail.row.state, event):
            mail.is_refused(event)


def test_every_transition_of_the_table_really_happens() -> None:
    """By the functions of the program, from every kind of row that they lead to."""
    seen: set[tuple[OutgoingState, OutgoingEvent]] = set()
    known: set[object] = set()
    mail = Mail()
    for send_at, hold_ms in BEGINNINGS:
        mail.accept(send_at=send_at, hold_ms=hold_ms)
        _explore(mail, seen, known)
    assert seen == set(SENDING.table)


def _explore(mail: Mail, seen: set[tuple[OutgoingState, OutgoingEvent]], known: set[object]) -> None:
    row = mail.row
    kind = (row.state, row.doubt, row.attempts > 0, row.send_at is None, row.dismissed)
    if kind in known:
        return
    known.add(kind)
    for event in EVENTS:
        if mail.can_happen(event):
            with undone(mail.tx):
                mail.happen(event)
                seen.add((row.state, event))
                _explore(mail, seen, known)


def test_of_two_that_meet_the_second_changes_nothing() -> None:
    mail = Mail()
    mail.accept(send_at=None, hold_ms=0)
    read = mail.row
    mail.happen("cancel")
    assert move(mail.tx, read, "wait_for_room", next_at=NOON) is None
    assert mail.row.state == "cancelled"


def test_a_date_that_the_state_does_not_allow_is_refused() -> None:
    mail = Mail()
    mail.accept(send_at=None, hold_ms=0)
    with pytest.raises(ValueError, match="cancel leads to cancelled"):
        move(mail.tx, mail.row, "cancel", next_at=NOON)
    with pytest.raises(ValueError, match="wait_for_room leads to scheduled, and next_at is None"):
        move(mail.tx, replace(mail.row), "wait_for_room")


# What must be possible, said without the table


@pytest.mark.parametrize("state", sorted(set(get_args(OutgoingState)) - {"sent"}))
def test_what_stands_among_sent_mail_was_sent_whatever_was_thought_of_it(state: OutgoingState) -> None:
    database = SendingDatabase()
    database.put("out_1", state=state)
    settling.sent(database.tx, outgoing_id="out_1", provider_message_id="there", message_id=None)
    assert database.row("out_1").state == "sent"


@pytest.mark.parametrize(
    ("state", "doubt", "after"),
    [
        ("held", 0, "failed"),
        ("scheduled", 0, "failed"),
        ("overdue", 0, "failed"),
        ("scheduled", 1, "uncertain"),
        ("overdue", 1, "uncertain"),
    ],
)
def test_whatever_waits_ends_with_its_account(state: str, doubt: int, after: str) -> None:
    database = SendingDatabase()
    database.put("out_1", state=state, doubt=doubt)
    settling.fail_waiting(database.tx, account_id=database.account_id, reason="Gone.")
    assert database.row("out_1").state == after


@pytest.mark.parametrize("state", ["held", "scheduled"])
def test_whatever_goes_by_itself_can_be_late_and_keeps_its_state_where_only_its_date_is_wrong(state: str) -> None:
    database = SendingDatabase()
    database.put("out_1", state=state, attempts=1, next_at=NOON)
    with undone(database.tx):
        database.tx.now = NOON + 13 * HOUR_MS
        settling.mark_overdue(database.tx)
        assert database.row("out_1").state == "overdue"
    database.tx.now = NOON - 30 * DAY_MS
    settling.mend_dates(database.tx, hold_ms=HOLD_MS)
    assert database.row("out_1").state == state


def test_what_a_person_may_say_of_what_waits() -> None:
    for state in ("held", "scheduled", "overdue"):
        for doubt in {0, int(state != "held")}:
            database = SendingDatabase()
            database.put("out_1", state=state, doubt=doubt)
            with undone(database.tx):
                after = actions.reschedule(database.tx, UNCLAIMED, outgoing_id="out_1", send_at=NOON + 1)
                assert after.state == "scheduled"
            after = actions.cancel(database.tx, UNCLAIMED, outgoing_id="out_1")
            assert after.state == ("uncertain" if doubt else "cancelled")
    for state in ("failed", "overdue", "uncertain"):
        database = SendingDatabase()
        database.put("out_1", state=state)
        assert actions.retry(database.tx, UNCLAIMED, outgoing_id="out_1").state == "scheduled"
