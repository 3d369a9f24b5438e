"""Invitations from the mail to the answer: what is shown, what holds of several versions, and what leaves."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import trio
from sqlite_utils import Database

from svc.clock import VirtualClock
from svc.formats.invitations import read_invitations
from svc.mail.invitations.tables import ANSWERED_ORGANIZERS, TABLES
from tests.quiet import all_quiet
from tests.recorded_log import RecordedLog
from tests.support.calendars import BO, MIA, RELAY, START, google, icloud, outlook, stamp
from tests.support.service import RpcError, Service, open_service

UID = "abc123@google.com"


@dataclass
class Calendar:
    service: Service

    async def receive(self, file: bytes, *, sender: str = BO, nameless: bool = True, method: str = "REQUEST") -> str:
        """A mail with this calendar file: its id."""
        encoded = base64.encodebytes(file).decode()
        part = (
            f'Content-Type: text/calendar; charset="utf-8"; method={method}\r\n'
            if nameless
            else 'Content-Type: application/ics; name="invite.ics"\r\nContent-Disposition: attachment\r\n'
        )
        raw = (
            f"From: Bo <{sender}>\r\nTo: {MIA}\r\nSubject: Invitation\r\nMIME-Version: 1.0\r\n"
            'Content-Type: multipart/alternative; boundary="b"\r\n\r\n'
            "--b\r\nContent-Type: text/plain\r\n\r\nYou are invited.\r\n"
            f"--b\r\n{part}Content-Transfer-Encoding: base64\r\n\r\n{encoded}\r\n--b--\r\n"
        )
        wanted = base64.b64encode(raw.encode()).decode()
        (thread_id,) = await self.service.synced("Invitation", raw=wanted)
        await all_quiet()  # what follows the arrival has read its calendar file
        return cast(str, (await self.service.query("mail.thread", id=thread_id))["messages"][0]["id"])

    async def shown(self, message_id: str) -> Any:
        return await self.service.query("mail.invitation", messageId=message_id)

    async def answer(self, message_id: str, answer: str = "accepted", **more: Any) -> str:
        found = await self.service.mutate("mail.answerInvitation", messageId=message_id, answer=answer, **more)
        return cast(str, found["outgoingId"])


@pytest.fixture
async def calendar(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Calendar]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        yield Calendar(service)


@pytest.mark.parametrize("nameless", [True, False])
async def test_an_invitation_is_shown_however_it_is_attached(calendar: Calendar, nameless: bool) -> None:
    message_id = await calendar.receive(google(), nameless=nameless)
    found = await calendar.shown(message_id)
    assert (found["uid"], found["method"], found["summary"]) == (UID, "REQUEST", "Panels, second reading")
    assert (found["start"], found["allDay"], found["state"]) == ("2027-03-03T09:00:00.000Z", False, "open")
    assert (found["organizer"]["address"], found["invited"], found["warnings"]) == (BO, MIA, [])


async def test_a_mail_without_one_has_none_and_a_stranger_sees_nothing(calendar: Calendar) -> None:
    (thread_id,) = await calendar.service.synced("Plain")
    detail = await calendar.service.query("mail.thread", id=thread_id)
    assert await calendar.shown(detail["messages"][0]["id"]) is None
    with pytest.raises(RpcError) as caught:
        await calendar.shown("msg_none")
    assert caught.value.code == "NOT_FOUND"


@pytest.mark.thorough
async def test_the_answer_leaves_as_a_reply_that_calendars_take(calendar: Calendar) -> None:
    message_id = await calendar.receive(google(sequence=2))
    outgoing_id = await calendar.answer(message_id, "tentative", comment="Perhaps later")
    (outgoing,) = await calendar.service.query("mail.outgoing")
    assert (outgoing["id"], outgoing["state"], outgoing["to"]) == (outgoing_id, "held", [BO])
    assert outgoing["subject"] == "Tentative: Panels, second reading"
    found = await calendar.shown(message_id)
    assert (found["state"], found["answer"]) == ("answered", "tentative")
    await trio.sleep(60)
    (sent,) = await calendar.service.query("fake.mail.sent", address=MIA)
    mail = message_from_bytes(base64.urlsafe_b64decode(sent["raw"]), policy=default)
    (part,) = [one for one in mail.walk() if one.get_content_type() == "text/calendar"]
    assert part.get_param("method") == "REPLY"
    assert part.get_content_disposition() == "inline"
    assert mail.get_content_type() == "multipart/mixed"
    text = cast(bytes, part.get_payload(decode=True)).decode().replace("\r\n ", "")
    assert text.count("ATTENDEE") == 1
    for words in (f"UID:{UID}", "SEQUENCE:2", f"mailto:{BO}", "PARTSTAT=TENTATIVE", "COMMENT:Perhaps later"):
        assert words in text
    assert [one.get_filename() for one in mail.walk() if one.get_filename()] == ["reply.ics"]


async def test_an_answer_that_is_held_back_was_not_given(calendar: Calendar) -> None:
    message_id = await calendar.receive(google())
    outgoing_id = await calendar.answer(message_id)
    assert await calendar.answer(message_id) == outgoing_id
    await calendar.service.mutate("mail.cancelSend", id=outgoing_id)
    assert (await calendar.shown(message_id))["state"] == "open"
    assert await calendar.answer(message_id, "declined") != outgoing_id


@pytest.mark.thorough
async def test_a_later_version_and_a_cancellation_of_the_organizers_count(calendar: Calendar) -> None:
    first = await calendar.receive(google())
    forged = await calendar.receive(google(sequence=9), sender="evil@evil.test")
    assert (await calendar.shown(first))["state"] == "open"
    assert "but evil@evil.test sent this" in (await calendar.shown(forged))["warnings"][0]
    second = await calendar.receive(google(sequence=1, start=START + timedelta(hours=3)))
    assert (await calendar.shown(first))["state"] == "updated"
    with pytest.raises(RpcError, match="later version"):
        await calendar.answer(first)
    await calendar.answer(second)
    off = await calendar.receive(google(sequence=1, method="CANCEL", stamped="20270202T080000Z"), method="CANCEL")
    for message_id in (second, off):
        assert (await calendar.shown(message_id))["state"] == "cancelled"
    with pytest.raises(RpcError, match="called off"):
        await calendar.answer(second, "declined")


@pytest.mark.thorough
async def test_what_was_accepted_here_conflicts_until_it_is_called_off(calendar: Calendar) -> None:
    first = await calendar.receive(google())
    other = await calendar.receive(google(uid="other", start=START + timedelta(minutes=30)))
    after = await calendar.receive(google(uid="after", start=START + timedelta(hours=1)))
    assert (await calendar.shown(other))["conflicts"] == []
    outgoing_id = await calendar.answer(first)
    (conflict,) = (await calendar.shown(other))["conflicts"]
    assert (conflict["uid"], conflict["messageId"]) == (UID, first)
    assert (await calendar.shown(after))["conflicts"] == []
    await calendar.service.mutate("mail.cancelSend", id=outgoing_id)
    assert (await calendar.shown(other))["conflicts"] == []
    await calendar.answer(first)
    assert len((await calendar.shown(other))["conflicts"]) == 1
    await calendar.shown(await calendar.receive(google(sequence=1, method="CANCEL"), method="CANCEL"))
    assert (await calendar.shown(other))["conflicts"] == []


async def test_calling_off_counts_also_once_the_mail_of_the_answer_is_gone(calendar: Calendar) -> None:
    store = calendar.service.workspace.store
    first = await calendar.receive(google())
    other = await calendar.receive(google(uid="other", start=START))
    await calendar.answer(first)
    await store.write(lambda tx: tx.run("delete from mail_invitations where message_id = :id", id=first))  # as it goes
    for sender, conflicts in (("evil@evil.test", 1), (BO, 0)):
        off = google(sequence=1, method="CANCEL")
        await calendar.receive(off, method="CANCEL", sender=sender)
        assert len((await calendar.shown(other))["conflicts"]) == conflicts


def test_who_organized_what_was_answered_is_filled_in(tmp_path: Path) -> None:
    db = Database(tmp_path / "db")
    db.execute("create table mail_messages (id text primary key)")
    db.execute("create table mail_accounts (id text primary key)")
    for statement in TABLES:
        db.execute(statement)
    (found,) = read_invitations(google(), now=0)
    for message_id in ("here", "gone"):
        answer = ("acc", message_id, "", 0, "accepted", message_id, "out", "", 0)
        db.execute("insert into mail_invitation_answers values (?, ?, ?, ?, ?, ?, ?, ?, ?)", answer)
    kept = ("here", "acc", "here", "", "REQUEST", 0, 0, 1, "aa", msgspec.json.encode(found).decode())
    db.execute("insert into mail_invitations values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", kept)
    for statement in ANSWERED_ORGANIZERS:
        db.execute(statement)
    rows = db.execute("select message_id, organizer from mail_invitation_answers order by 1").fetchall()
    assert rows == [("gone", ""), ("here", BO)]


@pytest.mark.thorough
async def test_icloud_names_an_address_of_the_meeting_and_whose_it_is(calendar: Calendar) -> None:
    first = await calendar.receive(icloud())
    assert ((await calendar.shown(first))["warnings"], (await calendar.shown(first))["state"]) == ([], "open")
    await calendar.answer(first)
    (outgoing,) = await calendar.service.query("mail.outgoing")
    assert outgoing["to"] == [RELAY]
    forged = await calendar.receive(icloud(sequence=5, at=BO, said="evil@evil.test"), sender="evil@evil.test")
    assert f"The organizer is {BO}, but evil@evil.test sent this" in (await calendar.shown(forged))["warnings"]
    await calendar.receive(icloud(method="CANCEL", sequence=1, at=BO), method="CANCEL")
    assert (await calendar.shown(first))["state"] == "answered"  # the organizer of the answered one is another
    other = await calendar.receive(google(uid="other", start=START))
    assert [one["uid"] for one in (await calendar.shown(other))["conflicts"]] == ["5C1B4D9E@icloud.com"]
    await calendar.receive(icloud(method="CANCEL", sequence=1), method="CANCEL")
    assert (await calendar.shown(first))["state"] == "cancelled"
    assert (await calendar.shown(other))["conflicts"] == []


@pytest.mark.thorough
async def test_calling_off_one_date_leaves_the_others_of_the_series(calendar: Calendar) -> None:
    series = await calendar.receive(google(extra="RRULE:FREQ=WEEKLY;COUNT=3"))
    await calendar.answer(series)
    weeks = [START + timedelta(weeks=n) for n in range(3)]
    probes = [await calendar.receive(google(uid=f"probe{n}", start=week)) for n, week in enumerate(weeks)]
    assert [len((await calendar.shown(one))["conflicts"]) for one in probes] == [1, 1, 1]
    one_date = f"RECURRENCE-ID:{stamp(weeks[1])}"
    off = await calendar.receive(google(method="CANCEL", sequence=1, start=weeks[1], extra=one_date), method="CANCEL")
    assert (await calendar.shown(off))["state"] == "cancelled"
    assert [len((await calendar.shown(one))["conflicts"]) for one in probes] == [1, 0, 1]
    assert (await calendar.shown(series))["state"] == "answered"


async def test_one_date_without_its_series_is_told_and_replaces_nothing(calendar: Calendar) -> None:
    moved = google(sequence=5, start=START + timedelta(hours=2), extra=f"RECURRENCE-ID:{stamp(START)}")
    alone = await calendar.receive(moved)
    assert any("one date of a series" in words for words in (await calendar.shown(alone))["warnings"])
    series = await calendar.receive(google(extra="RRULE:FREQ=WEEKLY;COUNT=3"))
    found = await calendar.shown(series)
    assert (found["state"], found["recurrence"]) == ("open", "every week, 3 times")
    assert (await calendar.shown(alone))["warnings"] == []


async def test_an_unknown_zone_is_said(calendar: Calendar) -> None:
    message_id = await calendar.receive(outlook(zone="Mars/Olympus", with_zone=False))
    found = await calendar.shown(message_id)
    assert (found["start"], found["zoneKnown"]) == ("2027-03-03T10:00:00", False)
    assert "“Mars/Olympus” is not known" in found["warnings"][0]


async def test_an_answer_from_somebody_is_shown_and_needs_none(calendar: Calendar) -> None:
    reply = google(method="REPLY").replace(b"PARTSTAT=NEEDS-ACTION", b"PARTSTAT=DECLINED")
    message_id = await calendar.receive(reply, sender=MIA, method="REPLY")
    found = await calendar.shown(message_id)
    assert (found["method"], found["state"]) == ("REPLY", "information")
    with pytest.raises(RpcError, match="nothing to answer"):
        await calendar.answer(message_id)


@pytest.mark.thorough
async def test_who_is_not_invited_can_not_answer(calendar: Calendar) -> None:
    message_id = await calendar.receive(google(attendee="all@lists.example"))
    assert (await calendar.shown(message_id))["invited"] is None
    with pytest.raises(RpcError) as caught:
        await calendar.answer(message_id)
    assert caught.value.code == "CONFLICT"


NOA = "noa@else.example"


def proposal(**more: Any) -> bytes:
    """Another time, from somebody whom Mia has invited."""
    wanted = {"method": "COUNTER", "organizer": MIA, "attendee": NOA, "start": START + timedelta(hours=2)}
    return google(stamped="20270202T080000Z", **{**wanted, **more})


def asked(**more: Any) -> bytes:
    """Mia's own invitation, to two people."""
    other = f"ATTENDEE;PARTSTAT=ACCEPTED;CN=Eva:mailto:{BO}"
    return google(organizer=MIA, attendee=NOA, sequence=3, extra=other, **more)


async def sent(calendar: Calendar) -> tuple[Any, str]:
    """The last mail that left, and its calendar file."""
    await trio.sleep(60)
    raw = (await calendar.service.query("fake.mail.sent", address=MIA))[-1]["raw"]
    mail = message_from_bytes(base64.urlsafe_b64decode(raw), policy=default)
    (part,) = [one for one in mail.walk() if one.get_content_type() == "text/calendar"]
    text = cast(bytes, part.get_payload(decode=True)).decode().replace("\r\n ", "")
    assert f"METHOD:{part.get_param('method')}" in text
    return mail, text


@pytest.mark.thorough
async def test_another_time_moves_the_meeting_for_all_who_are_invited(calendar: Calendar) -> None:
    await calendar.receive(asked(), sender=MIA)
    message_id = await calendar.receive(proposal(sequence=3), sender=NOA, method="COUNTER")
    found = await calendar.shown(message_id)
    assert (found["state"], found["invited"], found["proposer"]) == ("open", MIA, NOA)
    assert (found["start"], found["planned"]["start"]) == ("2027-03-03T11:00:00.000Z", "2027-03-03T09:00:00.000Z")
    with pytest.raises(RpcError, match="Accept or decline"):
        await calendar.answer(message_id, "tentative")
    outgoing_id = await calendar.answer(message_id, "accepted", comment="Fine")
    assert await calendar.answer(message_id, "accepted") == outgoing_id
    assert (await calendar.shown(message_id))["answer"] == "accepted"
    mail, text = await sent(calendar)
    assert {one.addr_spec for one in mail["To"].addresses} == {NOA, BO}
    assert mail["Subject"] == "Moved: Panels, second reading"
    for words in ("METHOD:REQUEST", "SEQUENCE:4", "DTSTART:20270303T110000Z", "DTEND:20270303T120000Z", f"UID:{UID}"):
        assert words in text
    assert (text.count("PARTSTAT=NEEDS-ACTION"), text.count("COMMENT:Fine")) == (2, 1)


@pytest.mark.thorough
async def test_another_time_that_does_not_suit_is_declined_to_who_proposed_it(calendar: Calendar) -> None:
    message_id = await calendar.receive(proposal(sequence=3), sender=NOA, method="COUNTER")
    found = await calendar.shown(message_id)
    assert (found["state"], found["planned"]) == ("open", None)
    with pytest.raises(RpcError, match="in your calendar"):
        await calendar.answer(message_id, "accepted")
    outgoing_id = await calendar.answer(message_id, "declined")
    await calendar.service.mutate("mail.cancelSend", id=outgoing_id)
    assert (await calendar.shown(message_id))["state"] == "open"
    await calendar.answer(message_id, "declined", comment="We need the room")
    mail, text = await sent(calendar)
    assert [one.addr_spec for one in mail["To"].addresses] == [NOA]
    for words in ("METHOD:DECLINECOUNTER", "SEQUENCE:3", f"UID:{UID}", "COMMENT:We need the room", f"mailto:{NOA}"):
        assert words in text
    assert text.count("ATTENDEE") == 1


@pytest.mark.thorough
async def test_a_proposal_of_somebody_else_or_to_somebody_else_can_not_be_answered(calendar: Calendar) -> None:
    forged = await calendar.receive(proposal(), sender="evil@evil.test", method="COUNTER")
    found = await calendar.shown(forged)
    assert (found["state"], len(found["warnings"])) == ("information", 1)
    others = await calendar.receive(proposal(organizer=BO, uid="theirs"), sender=NOA, method="COUNTER")
    assert (await calendar.shown(others))["state"] == "information"
    series = google(organizer=MIA, attendee=NOA, uid="series", extra="RRULE:FREQ=WEEKLY;COUNT=3")
    await calendar.receive(series, sender=MIA)
    one = await calendar.receive(proposal(uid="series"), sender=NOA, method="COUNTER")
    assert ((await calendar.shown(one))["state"], (await calendar.shown(one))["planned"]) == ("open", None)
    for message_id in (forged, others):
        with pytest.raises(RpcError, match="nothing to answer"):
            await calendar.answer(message_id, "declined")


async def test_that_the_organizer_keeps_the_time_is_shown(calendar: Calendar) -> None:
    kept = await calendar.receive(google(method="DECLINECOUNTER"), method="DECLINECOUNTER")
    found = await calendar.shown(kept)
    assert (found["method"], found["state"], found["warnings"]) == ("DECLINECOUNTER", "information", [])
