"""Quotations: what is answered stands below, harmless and whole; subjects carry their prefix once."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import Any

import pytest
from hypothesis import given

from svc.formats.html.plan import MAX_PROCESS_TAGS
from svc.formats.mime import parse_message
from svc.formats.person import Person
from svc.formats.text import clean_line
from svc.formats.writing import (
    Original,
    bare_subject,
    compose,
    forward_subject,
    outgoing_html,
    quote,
    reply_subject,
    text_alternative,
)
from tests.formats.html import hostile_html

from .letters import ANN, BOB, composed
from .test_headers import TEXT
from .test_outgoing_html import CID, assert_fit_to_leave

SENT_AT = 1_795_290_000_000


def original(**changes: Any) -> Original:
    usual: dict[str, Any] = {
        "sender": BOB,
        "to": (ANN,),
        "subject": "Lunch?",
        "sent_at": SENT_AT,
        "html": "<p>Today at <b>one</b>?</p>",
        "text": "Today at one?",
    }
    return Original(**usual | changes)


def test_a_reply_quotes_what_it_answers() -> None:
    quoted = quote(original(), kind="reply")
    assert text_alternative(quoted.html) == "On Sat, 21 Nov 2026 at 19:40 UTC, Bob wrote:\n\n> Today at one?"
    assert '<blockquote type="cite"' in quoted.html
    assert "<p>Today at <b>one</b>?</p></blockquote>" in quoted.html


def test_a_forward_shows_the_header_of_what_it_carries() -> None:
    quoted = quote(original(cc=(Person(name="", address="c@z.example"),)), kind="forward")
    assert text_alternative(quoted.html).split("\n") == [
        "---------- Forwarded message ----------",
        "From: Bob <bob@y.example>",
        "Date: Sat, 21 Nov 2026 at 19:40 UTC",
        "Subject: Lunch?",
        "To: Ann Smith <ann@x.example>",
        "Cc: c@z.example",
        "",
        "Today at one?",
    ]


def test_a_date_is_told_in_the_zone_asked_for() -> None:
    india = timezone(timedelta(hours=5, minutes=30), "IST")
    assert "On Sun, 22 Nov 2026 at 01:10 IST, Bob wrote:" in quote(original(), kind="reply", zone=india).html


def test_a_plain_original_is_quoted_line_by_line() -> None:
    quoted = quote(original(html=None, text="see https://x.example\n> said before\n  end"), kind="reply")
    assert text_alternative(quoted.html).endswith("> see https://x.example\n>\n>> said before\n>\n>   end")
    assert "target=" not in quoted.html


def test_a_plain_original_that_looks_like_our_links_is_quoted_as_it_is() -> None:
    text = '<a href="x" target="_blank" rel="noopener noreferrer">'
    assert text in text_alternative(quote(original(html=None, text=text), kind="reply").html).replace("> ", "", 1)


def test_a_body_too_large_to_parse_is_quoted_as_text() -> None:
    quoted = quote(original(html="<p>x</p>" * MAX_PROCESS_TAGS), kind="reply")
    assert "<p>" not in quoted.html
    assert quoted.truncated
    assert "target=" not in quoted.html
    assert "<b>" not in quote(original(), kind="reply", as_text=True).html


def test_where_the_html_shows_nothing_the_text_is_quoted() -> None:
    assert "Dear Ann" in quote(original(html="<p>&nbsp;</p><iframe>x</iframe>", text="Dear Ann"), kind="reply").html


def test_nobody_and_nothing_can_be_quoted_too() -> None:
    empty = original(sender=Person(name="", address=""), to=(), subject="", html=None, text="")
    assert "somebody wrote:" in quote(empty, kind="reply").html
    assert "Subject" not in quote(empty, kind="forward").html


def test_images_go_along_where_their_parts_do() -> None:
    html = '<img src="cid:a@x" alt="a"><img src="cid:b@x" alt="b"><img src="https://x.example/c">'
    quoted = quote(original(html=html), kind="forward", images={"a@x": CID})
    assert f'<img src="cid:{CID}" alt="a">b<img src="https://x.example/c">' in quoted.html
    assert quoted.content_ids == (CID,)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["reply", "forward"])
def test_no_original_harms_through_its_quotation(kind: Any) -> None:
    for payload in hostile_html.EVERYTHING:
        person = Person(name=payload, address=payload)
        hostile = original(sender=person, to=(person,), subject=payload, html=payload)
        assert_fit_to_leave(quote(hostile, kind=kind).html.replace(' type="cite"', ""))


def test_many_recipients_are_counted_in_a_forward() -> None:
    quoted = quote(original(to=(BOB,) * 500), kind="forward")
    assert quoted.html.count("bob@y.example") == 101  # and the sender
    assert "and 400 more" in quoted.html


@pytest.mark.parametrize(
    ("subject", "bare"),
    [
        ("Lunch?", "Lunch?"),
        ("Re: Lunch?", "Lunch?"),
        ("RE[2]: re(12):Re^3 : Lunch?", "Lunch?"),
        ("AW: Antw: SV: VS: Odp: Lunch?", "Lunch?"),
        ("Fwd: WG: TR: Fw: Lunch?", "Lunch?"),
        ("回复：转发：午饭", "午饭"),
        ("İLT: YNT: öğle", "öğle"),
        ("Re:Re:Re:", ""),
        ("Re: Ref: 12", "Ref: 12"),
        ("Reply: yes", "Reply: yes"),
        ("I: a novel", "I: a novel"),
        ("Regarding: Re: x", "Regarding: Re: x"),
        ("[list] Re: x", "[list] Re: x"),
        ("re x", "re x"),
        ("Re: a\r\nBcc: evil@x.example", "a Bcc: evil@x.example"),
        ("Re: =?utf-8?q?x=0D=0ABcc:_evil?=", "=?utf-8?q?x=0D=0ABcc:_evil?="),
    ],
)
def test_a_subject_carries_its_prefix_once(subject: str, bare: str) -> None:
    assert bare_subject(subject) == bare
    assert reply_subject(subject) == f"Re: {bare}".strip()
    assert forward_subject(subject) == f"Fwd: {bare}".strip()


@given(TEXT)
def test_any_subject_is_answered_once_and_reads_back(subject: str) -> None:
    answered = reply_subject(subject)
    assert answered.startswith("Re:")
    assert clean_line(answered) == answered
    assert reply_subject(answered) == answered
    assert parse_message(compose(composed(subject=answered))).subject == answered


def test_a_letter_with_its_quotation_reads_back_whole() -> None:
    html = outgoing_html("<div>Yes!</div>").html + "<br>" + quote(original(), kind="reply").html
    read = parse_message(compose(composed(html=html, text=text_alternative(html))))
    assert read.html == html
    assert read.text.endswith("Bob wrote:\n\n> Today at one?")
