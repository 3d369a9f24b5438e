"""What `svc fsck` says of outgoing mail: each damage is found, and what is whole is not complained about."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from svc.mail.sending import drafts
from svc.mail.sending.invariants import INVARIANTS
from svc.mail.sending.states import OutgoingState
from tests.mail.sending.mailer import Mailer
from tests.mail.sending.sending_database import MIA, SendingDatabase

DAMAGES = {
    "update mail_outgoing set next_at = 1": "has a date that its state does not allow",
    "update mail_outgoing set state = 'scheduled'": "has a date that its state does not allow, or lacks one",
    "update mail_outgoing set provider_message_id = null": "says of itself what can't be known",
    "update mail_outgoing set state = 'cancelled'": "says of itself what can't be known",
    "update mail_outgoing set state = 'uncertain', provider_message_id = null, raw_sha256 = null": "can't be known",
    "update mail_outgoing set state = 'failed', provider_message_id = null, doubt = 1": "can't be known",
    "update mail_outgoing set provider_message_id = 'same'": "two mails' copy",
    "delete from mail_outgoing": "belongs to a mail that is not there",
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_each_damage_is_found(hasty: Mailer, damage: str) -> None:
    await hasty.send(subject="One")
    await hasty.send(subject="Two")
    store = hasty.service.workspace.store
    await store.write(
        lambda tx: tx.run(
            """
            insert into files (id, sha256, name, mime, size, origin, created_at)
            select 'fil_x', raw_sha256, 'a', 'text/plain', 1, 'outgoing:' || id, 1 from mail_outgoing limit 1
            """
        )
    )
    assert await hasty.problems() == []
    await store.write(lambda tx: tx.run(damage))
    assert any(DAMAGES[damage] in problem for problem in await hasty.problems())


# One row at a time, whole and damaged


def problems(database: SendingDatabase) -> list[str]:
    return [problem for one in INVARIANTS if one.yields == "problems" for problem in one.check(database.tx)]


DATE = "out_1 has a date that its state does not allow, or lacks one"
UNKNOWABLE = "out_1 says of itself what can't be known"


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"state": "scheduled", "next_at": 1}, None),
        ({"state": "held", "next_at": 1}, None),
        ({"state": "overdue"}, None),
        ({"state": "scheduled"}, DATE),
        ({"state": "held"}, DATE),
        ({"state": "overdue", "next_at": 1}, DATE),
        ({"state": "sent", "provider_message_id": "there"}, None),
        ({"state": "sent"}, UNKNOWABLE),
        ({"state": "failed", "provider_message_id": "there"}, UNKNOWABLE),
        ({"state": "transmitting", "raw_sha256": "raw"}, None),
        ({"state": "uncertain", "raw_sha256": "raw", "doubt": 1}, None),
        ({"state": "transmitting"}, UNKNOWABLE),
        ({"state": "uncertain"}, UNKNOWABLE),
        ({"state": "scheduled", "next_at": 1, "doubt": 1}, None),
        ({"state": "failed"}, None),
        ({"state": "cancelled"}, None),
        ({"state": "failed", "doubt": 1}, UNKNOWABLE),
        ({"state": "cancelled", "doubt": 1}, UNKNOWABLE),
    ],
)
def test_a_mail_says_of_itself_only_what_can_be(columns: dict[str, Any], problem: str | None) -> None:
    database = SendingDatabase()
    database.put("out_1", **columns)
    assert problems(database) == ([] if problem is None else [problem])


def test_a_message_is_the_copy_of_one_mail_in_its_account() -> None:
    database = SendingDatabase()
    other = database.account(MIA, "work@example.org")
    database.put("out_1", state="sent", provider_message_id="there")
    database.put("out_2", state="sent", provider_message_id="there", account_id=other)
    assert problems(database) == []
    database.put("out_3", state="sent", provider_message_id="there")
    assert problems(database) == [f"message there of account {database.account_id} is two mails' copy"]


def saved(database: SendingDatabase, **more: Any) -> str:
    return drafts.save(database.tx, MIA, draft_id=None, version=None, request=database.request(**more)).id


def test_files_belong_to_a_mail_or_a_draft_that_is_there() -> None:
    database = SendingDatabase()
    database.put("out_1", next_at=1)
    draft = saved(database)
    for name, origin in (
        ("a", "outgoing:out_1"),
        ("b", "outgoing:gone"),
        ("c", f"draft:{draft}"),
        ("d", "draft:out_1"),
        ("e", "mail:gone"),
        ("f", f"outgoing:{draft}"),
    ):
        database.attach(name, origin=origin)
    assert problems(database) == [f"file {name} belongs to a mail that is not there" for name in "bdf"]


@pytest.mark.parametrize("state", get_args(OutgoingState))
def test_what_has_not_left_has_its_attachments(state: OutgoingState) -> None:
    database = SendingDatabase()
    ended = {"provider_message_id": "there"} if state == "sent" else {}
    next_at = 1 if state in {"scheduled", "held"} else None
    database.put("out_1", state=state, attachments='["fil_1"]', next_at=next_at, raw_sha256="raw", **ended)
    needed = state in {"scheduled", "held", "overdue", "transmitting"}
    lacks = ["out_1 lacks a file that is attached to it"] if needed else []
    assert problems(database) == lacks
    database.attach("fil_1", origin="upload")
    database.attach("fil_2", origin="outgoing:out_1")
    assert problems(database) == lacks
    database.tx.run("update files set origin = 'outgoing:out_1'")
    assert problems(database) == []


def test_a_draft_has_its_attachments() -> None:
    database = SendingDatabase()
    draft = saved(database, attachments=(database.attach("fil_1", origin="upload"),))
    database.attach("fil_2", origin=f"draft:{draft}")
    assert problems(database) == []
    database.tx.run(
        "update files set origin = 'upload' where origin = :origin and id <> 'fil_2'", origin=f"draft:{draft}"
    )
    assert problems(database) == [f"{draft} lacks a file that is attached to it"]


def test_of_much_damage_so_much_is_told_as_a_person_reads() -> None:
    database = SendingDatabase()
    for number in range(30):
        database.put(f"out_{number}")
    assert len(problems(database)) == 20


def test_what_outgoing_mail_names_is_among_the_blobs_that_must_be_stored() -> None:
    database = SendingDatabase()
    database.put("out_1", raw_sha256="raw", next_at=1)
    (one,) = [one for one in INVARIANTS if one.yields == "blobs"]
    assert list(one.check(database.tx)) == ["raw"]
