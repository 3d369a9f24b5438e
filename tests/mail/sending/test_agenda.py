"""What a tick finds: rows to mend, each kind by itself, accounts with something to send, and when there is more."""

from __future__ import annotations

from typing import Any

import pytest

from svc.clock import DAY_MS, HOUR_MS
from svc.mail.sending import tasks
from tests.mail.bare import NOON
from tests.mail.sending.sending_database import SendingDatabase

HOLD_MS = 10_000
GONE = "acc_gone"


def care(database: SendingDatabase, *in_flight: str) -> bool:
    return tasks._agenda(database.tx, in_flight=frozenset(in_flight), hold_ms=HOLD_MS).needs_care


@pytest.mark.parametrize(
    ("columns", "after"),
    [
        ({"state": "transmitting"}, "uncertain"),
        ({"state": "scheduled", "next_at": NOON - 13 * HOUR_MS}, "overdue"),
        ({"state": "held", "next_at": NOON + HOUR_MS}, "held"),
        ({"state": "overdue", "send_at": NOON + HOUR_MS}, "scheduled"),
        ({"state": "scheduled", "next_at": NOON + HOUR_MS, "account_id": GONE}, "failed"),
        ({"state": "sent", "changed_at": NOON - 31 * DAY_MS}, None),
    ],
)
def test_each_kind_of_row_that_needs_care_is_found_and_mended(columns: dict[str, Any], after: str | None) -> None:
    database = SendingDatabase()
    database.put("well", next_at=NOON + 5)
    assert not care(database)
    database.put("out_1", **columns)
    assert care(database)
    tasks._take_care(database.tx, in_flight=frozenset(), hold_ms=HOLD_MS)
    assert not care(database)
    assert database.tx.value("select state from mail_outgoing where id = 'out_1'") == after
    assert database.row("well").state == "scheduled"


def test_what_is_in_flight_needs_no_care_and_what_is_not_does() -> None:
    database = SendingDatabase()
    for name in ("one", "two"):
        database.put(name, state="transmitting")
    assert not care(database, "one", "two")
    assert care(database, "one")
    tasks._take_care(database.tx, in_flight=frozenset({"one"}), hold_ms=HOLD_MS)
    assert [database.row(name).state for name in ("one", "two")] == ["transmitting", "uncertain"]


def test_what_waited_for_an_account_that_is_gone_says_so() -> None:
    database = SendingDatabase()
    database.put("out_1", next_at=NOON, account_id=GONE)
    tasks._take_care(database.tx, in_flight=frozenset(), hold_ms=HOLD_MS)
    assert "no longer connected" in str(database.row("out_1").last_error)


def test_a_tick_knows_who_has_something_to_send_and_when_there_is_more() -> None:
    database = SendingDatabase()
    database.put("now", next_at=NOON)
    database.put("later", next_at=NOON + 7)
    agenda = tasks._agenda(database.tx, in_flight=frozenset(), hold_ms=HOLD_MS)
    assert (agenda.needs_care, agenda.accounts, agenda.next_at) == (False, (database.account_id,), NOON + 7)
