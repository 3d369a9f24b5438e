"""An invitation above its message: when and where, what it conflicts with, and answering it, by keys and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browser import PHONE, App
from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers

pytestmark = pytest.mark.browser


def answers_with(**changed: Any) -> FakeAnswers:
    answers = FakeAnswers()
    detail = fake_mail.detail(answers.thread("thr_00"))
    detail["messages"] = detail["messages"][:1]
    message = detail["messages"][0]
    message["attachments"] = [
        {
            "filename": "invite.ics",
            "mime": "text/calendar",
            "sha256": "0" * 64,
            "size": 900,
            "fileId": "fil_ics",
            "damaged": False,
        }
    ]
    answers.details["thr_00"] = detail
    answers.invitations[message["id"]] = {
        "uid": "abc@partner.example",
        "method": "REQUEST",
        "summary": "Panels, second reading",
        "start": "2027-03-03T09:00:00.000Z",
        "end": "2027-03-03T10:00:00.000Z",
        "allDay": False,
        "timezone": "Europe/Oslo",
        "zoneKnown": True,
        "location": "Harbour 4, Fjærvik",
        "organizer": {"name": "Bo Lind", "address": "bo@partner.example"},
        "attendees": [{"name": "Mia Tern", "address": "mia@ternandtide.example", "answer": "needs-action"}],
        "recurrence": "every week on Wednesday, 6 times",
        "recurrenceId": None,
        "comment": "",
        "conflicts": [
            {
                "uid": "x",
                "summary": "Dentist",
                "start": "2027-03-03T09:30:00.000Z",
                "end": "2027-03-03T09:50:00.000Z",
                "messageId": "msg_x",
            }
        ],
        "state": "open",
        "answer": None,
        "invited": "mia@ternandtide.example",
        "warnings": [],
        "planned": None,
        "proposer": None,
        **changed,
    }
    return answers


@pytest.mark.thorough
def test_an_invitation_is_shown_and_answered_by_keys(start: Callable[..., App]) -> None:
    app = start(answers_with())
    page = app.open("/p/mail/t/thr_00", ready=".invitation")
    card = page.get_by_role("region", name="Invitation: Panels, second reading")
    for words in ("2027", "every week on Wednesday", "Harbour 4", "Bo Lind invites", "Dentist"):
        expect(card).to_contain_text(words)
    card.get_by_role("button", name="Accept").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(card.get_by_role("button", name="Maybe")).to_have_attribute("aria-pressed", "true")
    expect(card.get_by_role("status")).to_have_text("You may come.")
    (called,) = app.called("mail.answerInvitation")
    assert called == {"messageId": "thr_00_0", "answer": "tentative"}


def test_what_was_called_off_can_not_be_answered(start: Callable[..., App]) -> None:
    app = start(answers_with(state="cancelled", method="CANCEL"))
    page = app.open("/p/mail/t/thr_00", ready=".invitation")
    expect(page.locator(".invitation")).to_contain_text("This meeting was called off.")
    expect(page.locator(".invitation").get_by_role("button")).to_have_count(0)


@pytest.mark.thorough
def test_on_a_phone_it_fits_and_its_answers_are_wide_enough_for_a_finger(start: Callable[..., App]) -> None:
    app = start(answers_with(warnings=["The organizer is a@b.example, but evil@evil.test sent this"]), viewport=PHONE)
    page = app.open("/p/mail/t/thr_00", ready=".invitation")
    box = page.locator(".invitation").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    for button in page.locator(".invitation-answers .button").all():
        size = button.bounding_box()
        assert size is not None
        assert size["height"] >= 44


@pytest.mark.thorough
def test_another_time_is_shown_beside_the_planned_one_and_taken_by_keys(start: Callable[..., App]) -> None:
    planned = {"start": "2027-03-03T07:00:00.000Z", "end": "2027-03-03T08:00:00.000Z"}
    proposal = {"method": "COUNTER", "planned": planned, "proposer": "mia@ternandtide.example", "conflicts": []}
    app = start(answers_with(**proposal))
    page = app.open("/p/mail/t/thr_00", ready=".invitation")
    card = page.get_by_role("region", name="Invitation: Panels, second reading")
    for words in ("Mia Tern proposes another time", "now planned for", "Move it in your own calendar, too."):
        expect(card).to_contain_text(words)
    expect(card.get_by_role("button")).to_have_text(["Move the meeting", "Keep the time"])
    card.get_by_role("button", name="Move the meeting").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(card.get_by_role("status")).to_have_text("You kept the time.")
    (called,) = app.called("mail.answerInvitation")
    assert called == {"messageId": "thr_00_0", "answer": "declined"}
