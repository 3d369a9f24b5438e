"""The mail of the mock-world seed is believable, varied and always the same."""

from __future__ import annotations

import email
import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from email.message import Message
from functools import cache

import pytest

from svc.clock import DAY_MS, HOUR_MS, Millis
from svc.demo.mail import FixtureMailbox, FixtureMessage, mailboxes
from svc.fakes.authority import AUTHORITY
from svc.formats.html import plan, sanitize
from svc.formats.mime import parse_message
from tests.formats.html.invariants import assert_harmless

NOW: Millis = 1_793_088_000_000


@cache
def demo_mailboxes() -> tuple[FixtureMailbox, ...]:
    return mailboxes(NOW, authority=AUTHORITY)


@cache
def messages() -> list[FixtureMessage]:
    return [message for box in demo_mailboxes() for message in box.messages]


@pytest.mark.thorough
def test_the_same_moment_gives_the_same_mailboxes() -> None:
    assert mailboxes(NOW, authority=AUTHORITY) == demo_mailboxes()


def test_another_moment_moves_every_date_and_nothing_else() -> None:
    later = [message for box in mailboxes(NOW + DAY_MS, authority=AUTHORITY) for message in box.messages]
    assert [one.received_at - DAY_MS for one in later] == [one.received_at for one in messages()]
    assert [(one.provider_id, one.labels) for one in later] == [(one.provider_id, one.labels) for one in messages()]


def test_there_are_three_accounts_and_every_id_is_there_once() -> None:
    assert [box.address for box in demo_mailboxes()] == [
        "mia@ternandtide.example",
        "hello@ternandtide.example",
        "mia.lindqvist@lanternpost.example",
    ]
    assert max(Counter(message.provider_id for message in messages()).values()) == 1


def test_mail_is_between_minutes_and_two_years_old() -> None:
    ages = sorted(NOW - message.received_at for message in messages())
    assert 0 < ages[0] < HOUR_MS
    assert 700 * DAY_MS < ages[-1] < 731 * DAY_MS


def test_the_sections_are_well_filled() -> None:
    inbox = {one.thread_key for one in messages() if "INBOX" in one.labels}
    hidden = {one.thread_key for one in messages() if one.labels & {"SPAM", "TRASH"}}
    skipped = {one.thread_key for one in messages()} - inbox - hidden
    assert len(inbox) >= 40
    assert len(skipped) >= 20
    assert len(hidden) >= 4
    for box in demo_mailboxes():
        assert any({"INBOX", "UNREAD"} <= one.labels for one in box.messages)
        assert any("STARRED" in one.labels for one in box.messages)


def test_every_label_is_used_and_every_used_label_exists() -> None:
    system = {"INBOX", "UNREAD", "STARRED", "SENT", "SPAM", "TRASH"}
    for box in demo_mailboxes():
        used = {label for message in box.messages for label in message.labels} - system
        assert used == {label.id for label in box.labels}
        assert all(label.color for label in box.labels)


def test_one_conversation_is_long() -> None:
    assert Counter(message.thread_key for message in messages()).most_common(1)[0][1] >= 30


def test_replies_refer_to_what_they_answer() -> None:
    parts = [email.message_from_bytes(message.raw) for message in messages()]
    known = {part["Message-ID"] for part in parts}
    replies = [part for part in parts if part["In-Reply-To"]]
    assert len(replies) >= 50
    assert all(part["In-Reply-To"] in known for part in replies)
    assert all(part["References"].split()[-1] == part["In-Reply-To"] for part in replies)


@pytest.mark.parametrize("script", ["の", "من", "של", "что", "και", "है", "的", "습", "🌌"])
def test_many_scripts_are_written(script: str) -> None:
    assert any(script in parse_message(message.raw).text for message in messages())


def test_a_long_subject_in_another_script_arrives_whole() -> None:
    subjects = {parse_message(message.raw).subject for message in messages()}
    assert "Re: 展覧会「夜の海、昼の星」パネルについて" in subjects
    assert "Grattis på födelsedagen, min lilla tärna 🎂" in subjects


def test_attachments_are_what_they_say() -> None:
    starts = {"pdf": b"%PDF-1.4", "png": b"\x89PNG\r\n\x1a\n", "zip": b"PK\x03\x04", "ics": b"BEGIN:VCALENDAR\r\n"}
    seen = Counter[str]()
    for part in _parts():
        ending = (part.get_filename() or "").rpartition(".")[2]
        content = part.get_payload(decode=True)
        if ending in starts and isinstance(content, bytes):
            assert content.startswith(starts[ending])
            seen[ending] += 1
        if ending == "zip" and isinstance(content, bytes):
            assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None
        if ending == "pdf" and isinstance(content, bytes):
            table = int(content.rpartition(b"startxref\n")[2].split()[0])
            assert content[table : table + 4] == b"xref"
    assert set(seen) == set(starts)


def test_ordinary_mail_is_parsed_without_a_complaint() -> None:
    hostile = {one.provider_id for one in messages() if one.provider_id.endswith(HOSTILE)}
    assert len(hostile) == len(HOSTILE) + 1  # the trunk comes twice
    for message in messages():
        if message.provider_id not in hostile:
            parsed = parse_message(message.raw)
            assert parsed.problems == (), message.provider_id
            assert parsed.sender
            assert parsed.subject
            assert parsed.snippet
            assert parsed.date == message.received_at // 1_000 * 1_000


def test_no_mail_is_shown_with_anything_harmful_in_it() -> None:
    blocked = 0
    for message in messages():
        html = parse_message(message.raw).html
        if html and plan(html) == "inline":
            clean = sanitize(html)
            assert_harmless(clean)
            blocked += clean.blocked_images
    assert blocked >= 20


def test_one_mail_is_too_much_to_parse_at_once() -> None:
    plans = [plan(html) for message in messages() if (html := parse_message(message.raw).html)]
    assert plans.count("process") == 1


def test_a_header_cannot_be_smuggled_in_by_a_subject() -> None:
    parsed = parse_message(_by_id("mia-raffle-01").raw)
    assert parsed.bcc == ()
    assert "\n" not in parsed.subject


def test_no_address_belongs_to_anybody_real() -> None:
    for message in messages():
        parsed = parse_message(message.raw)
        for mailbox in (parsed.sender, *parsed.to, *parsed.cc):
            assert mailbox is None or not mailbox.address or mailbox.address.endswith(".example")


HOSTILE = (
    "parcel-01",
    "reversed-name-01",
    "raffle-01",
    "nothing-known-01",
    "trunk-01",
    "deep-01",
    "broken-parts-01",
    "spy-01",
    "seo-01",
)


def _by_id(provider_id: str) -> FixtureMessage:
    return next(message for message in messages() if message.provider_id == provider_id)


def _parts() -> Iterator[Message]:
    for message in messages():
        yield from email.message_from_bytes(message.raw).walk()
