"""The line that a thread's row shows: the message's own new words, and nothing the row or an earlier mail says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.formats.readable import readable_text
from svc.formats.snippet import MAX_SNIPPET_CHARS, carried_words, own_words, snippet

QUOTED = "> Shall we meet?\n> Noa\n"


@pytest.mark.parametrize(
    "announced",
    [
        "On Tue, Oct 27, 2026 at 9:00 AM Noa Brandt <noa@example.org> wrote:",
        "On Tue, Oct 27, 2026 at 9:00 AM Noa Brandt\n<noa@example.org> wrote:",
        "On Tue, Oct 27, 2026 at 9:00 AM\nNoa Brandt <noa@example.org>\nwrote:",
        "Am 27.10.2026 um 09:00 schrieb Noa Brandt:",
        "Am Dienstag, den 27.10.2026, 09:00 +0100 schrieb Noa\nBrandt <noa@example.org>:",
        "Le mar. 27 oct. 2026 à 09:00, Noa Brandt <noa@example.org> a écrit :",
        "Le 27/10/2026 à 09:00, Noa Brandt a\nécrit :",
        "El mar, 27 oct 2026 a las 9:00, Noa Brandt\n(<noa@example.org>) escribió:",
        "2026年10月27日(火) 9:00 Noa Brandt <noa@example.org>:",
        "2026年10月27日(火) 9:00\nNoa Brandt <noa@example.org>:",
        "Noa Brandt <noa@example.org> さんは書きました:",
        "Noa Brandt wrote:",
    ],
)
def test_a_quotation_and_what_announces_it_are_not_shown(announced: str) -> None:
    assert snippet(f"Yes, at noon.\n\n{announced}\n\n{QUOTED}", None) == "Yes, at noon."
    assert snippet(f"{announced}\n{QUOTED}\nYes, at noon.\n", None) == "Yes, at noon."


@pytest.mark.parametrize(
    "old",
    [
        "-----Original Message-----\nFrom: Noa\nSent: Monday\nTo: Mia\nSubject: x\n\nShall we meet?",
        "-----Ursprüngliche Nachricht-----\nVon: Noa\n\nShall we meet?",
        "---------- Forwarded message ---------\nFrom: Noa\n\nShall we meet?",
        "________________________\nFrom: Noa Brandt\nSent: Monday, 9:00\nTo: Mia\nSubject: Plans\n\nShall we meet?",
        "Von: Noa Brandt\nGesendet: Montag\nAn: Mia\nBetreff: Plans\n\nShall we meet?",
        "-- \nMia Adler\nHead of cranes",
    ],
)
def test_what_is_below_the_own_words_is_not_shown(old: str) -> None:
    assert snippet(f"Yes, at noon.\n\n{old}", None) == "Yes, at noon."


ANSWER = "<p>Yes, at <b>noon</b>.</p><div>Noa wrote:<blockquote><p>Shall we</p><p>meet?</p></blockquote></div>"


@pytest.mark.parametrize(
    "text",
    ["", "Yes, at noon.\n\nNoa wrote:\n> Shall we\n>\n> meet?\n", "Yes, at *noon*.\nNoa wrote:\n> Shall we\n> meet?"],
)
def test_an_answer_in_both_versions_is_read_once_and_its_quotation_is_known_as_one(text: str) -> None:
    read = readable_text(text, ANSWER)
    assert own_words(read) == "Yes, at noon."
    assert carried_words(read).split().count("meet?") == 1


def test_what_only_one_version_says_is_read_and_a_quotation_without_an_end_reaches_to_the_end() -> None:
    read = readable_text("Only here.", f"{ANSWER}<p>At the pier.</p><blockquote>Bring <blockquote>cake</blockquote>")
    assert own_words(read).split("\n") == ["Only here.", "Yes, at noon.", "At the pier."]
    assert "> cake" in read


def test_rulers_are_not_shown() -> None:
    assert snippet("=======\nNEWS\n-----\n* * * * *\nAll is well ------------ and more\n~~~~~~~\n", None) == (
        "NEWS All is well and more"
    )


def test_the_subject_and_the_sender_are_not_said_again() -> None:
    text = "The Harbour Times\n\nHarbour plans!\n=====\n\nThe cranes arrive. Harbour plans\n"
    assert snippet(text, None, subject="Re: Harbour plans", sender="The Harbour Times") == (
        "The cranes arrive. Harbour plans"
    )


@pytest.mark.parametrize("text", ["<html> <head><title>T</title></head><body><p>Hi &amp; bye</p></body></html>", ""])
def test_markup_is_never_shown(text: str) -> None:
    assert snippet(text, "<html><head><style>p{}</style></head><p>Hi &amp; bye</p>") == "Hi & bye"


def test_a_quotation_in_html_is_not_shown() -> None:
    html = "Yes.<div>On Monday Noa wrote:<blockquote>Shall <blockquote>we</blockquote> meet?</blockquote></div>At noon."
    assert snippet("", html) == "Yes. At noon."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (QUOTED, "Shall we meet? Noa"),
        ("---------- Forwarded message ---------\nFrom: Noa\nSubject: Plans\n\nShall we meet?", "Shall we meet?"),
        ("", ""),
        ("👍", "👍"),
        ("He wrote:\nnothing at all.", "He wrote: nothing at all."),
        ("On Monday we met, and Noa wrote:\nI agree.", "On Monday we met, and Noa wrote: I agree."),
    ],
)
def test_who_says_nothing_new_is_shown_with_what_they_carry(text: str, shown: str) -> None:
    assert snippet(text, None) == shown


LINES = st.lists(
    st.sampled_from(
        ["> a", "On x wrote:", "On", "wrote:", "-----", "From: a", "To: b", "Date: c", "-- ", "words", "", "<p>"]
    )
    | st.text(max_size=20),
    max_size=12,
)


@given(LINES)
def test_any_text_gives_one_short_line_and_one_that_says_something_is_not_empty(lines: list[str]) -> None:
    text = "\n".join(lines)
    line = snippet(text, None)
    assert len(line) <= MAX_SNIPPET_CHARS
    assert "\n" not in line
    assert "words" in line or "words" not in own_words(text) or len(line) > 50
