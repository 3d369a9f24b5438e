"""What folds of a plain text: the quotation it ends with, its signature, what it answers; and what never does."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.formats.quoted import announced, announces, announcing, folding, folds_from, marks
from svc.formats.snippet import snippet
from tests.formats.folded_texts import FOLDED, QUOTED, WHOLE
from tests.support.each import each


@each(list(FOLDED))
def test_what_was_said_before_folds(name: str) -> None:
    own, old = FOLDED[name]
    lines = f"{own}\n\n{old}".split("\n")
    at = folds_from("\n".join(lines))
    assert at is not None
    shown = [line for line in lines[:at] if line.strip("_ \n")]
    assert shown == [line for line in own.split("\n") if line.strip()]


@each(list(WHOLE))
def test_what_is_news_is_read_whole(name: str) -> None:
    assert folds_from(WHOLE[name]) is None


@each(list(FOLDED))
def test_the_row_shows_the_own_words_alone(name: str) -> None:
    own, old = FOLDED[name]
    said = " ".join(line for line in own.split("\n") if line.strip() and not line.startswith(">"))
    if "below" not in name and "between" not in name and "marks nothing" not in name:
        assert snippet(f"{own}\n\n{old}", None) == said


_PHRASES = (
    "-----|Original Message|Begin forwarded message|Début du message transféré|From|:|wrote|のメール|On |2026|--| |>"
)
PIECES = st.sampled_from(
    (*_PHRASES.split("|"), "Chairs", "der ", "x" * 61, "_" * 40, "\u00b2", "\u017f", "\u212a", "\t")
)


@given(st.lists(PIECES, max_size=5).map("".join), st.lists(PIECES, max_size=3).map("".join))
def test_a_line_that_is_ordinary_is_no_mark(text: str, following: str) -> None:
    line = text.strip()
    if marks.is_ordinary(line):
        kinds = (marks.is_original, marks.is_forward, marks.is_header, marks.is_ruler)
        assert not any(one(line) for one in kinds)
        assert not line.startswith((">", "|", "--", "_"))
        assert announced([line, following], 0) == 0


def test_a_blank_line_ends_an_announcement() -> None:
    assert announced(["On 27 Oct 2026, Noa", "wrote:"], 0) == 2
    assert announced(["On 27 Oct 2026, Noa", "", "wrote:"], 0) == 0
    assert announced(["On my way.", "Noa wrote:"], 0) == 0


def test_a_long_line_announces_nothing() -> None:
    assert announces("On 1 May " + "x" * (announcing.MAX_CHARS - 16) + " wrote:")
    assert not announces("On 1 May " + "x" * (announcing.MAX_CHARS - 15) + " wrote:")


def test_a_signature_is_short() -> None:
    assert folds_from("Yes.\n-- \n" + "Mia\n" * folding.MAX_SIGNATURE_LINES) == 1
    assert folds_from("Yes.\n-- \n" + "Mia\n" * (folding.MAX_SIGNATURE_LINES + 1)) is None


def test_a_footer_of_a_list_is_short_and_says_where_the_list_is() -> None:
    ruler = "_" * folding.MIN_FOOTER_RULER_CHARS
    assert folds_from(f"Yes.\n{ruler}\nhttps://lists.example.org") == 1
    assert folds_from(f"Yes.\n{ruler[1:]}\nhttps://lists.example.org") is None
    assert folds_from(f"Yes.\n{ruler}\nthe end") is None
    assert folds_from(f"Yes.\n{ruler}\n" + "https://lists.example.org\n" * (folding.MAX_FOOTER_LINES + 1)) is None


def test_the_header_of_a_mail_says_who_and_what_about() -> None:
    header = ["From: Noa", "Sent: Monday", "To: Mia", "Subject: Plans"]
    assert all(
        marks.begins_header_of_mail(list(some), 0) == ({"From: Noa", "Subject: Plans"} <= set(some) and len(some) > 2)
        for count in (1, 2, 3, 4)
        for some in itertools.combinations(header, count)
    )
    long = ["From: Noa", *["one more <name@example.org>;"] * (marks.MAX_HEADER_LINES - 3), "To: Mia", "Subject: Plans"]
    assert marks.begins_header_of_mail(long, 0)
    assert not marks.begins_header_of_mail([long[0], long[1], *long[1:]], 0)


LINES = st.lists(
    st.sampled_from(
        [
            *(
                "> a",
                "On 1 May 2026 x wrote:",
                "On 1 May",
                "wrote:",
                "-----",
                "_" * 40,
                "From: a",
                "To: b",
                "Subject: c",
            ),
            *(
                "-- ",
                "words",
                "",
                "1.2.3",
                "-----Original Message-----",
                "---- Forwarded message ----",
                "diff --git a b",
            ),
        ]
    )
    | st.text(max_size=20),
    max_size=14,
)


@given(LINES)
def test_something_to_read_is_always_left(lines: list[str]) -> None:
    text = "\n".join(lines)
    at = folds_from(text)
    if at is not None:
        kept = text.split("\n")[:at]
        assert any(line.strip() for line in kept)
        assert "---- Forwarded message ----" not in kept
        assert text.split("\n")[at].strip()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "line",
    [
        *(
            ">",
            "On ",
            "> On x wrote:",
            "On 1 May 2026 at 10:00 <a@b.example> wrote",
            "wrote:",
            "wrote: " * 60,
            "From: a",
        ),
        *("-- ", "_" * 40, "-" * 2_000, "-----Original Message-----x", "1" * 500, ":", "<", "@" * 400 + ":", "Sent: b"),
    ],
)
def test_only_the_beginnings_of_lines_and_few_lines_together_are_looked_at(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted, not timed: what is looked at grows as the text does."""
    looked = 0
    real = announcing.announces

    def counting(one: str) -> bool:
        nonlocal looked
        assert len(one) <= announcing.MAX_CHARS
        looked += 1
        return real(one)

    monkeypatch.setattr(announcing, "announces", counting)
    count = min(1_000_000 // (len(line) + 1), folding.MAX_LINES - 8)
    folds_from(f"Yes.\n{QUOTED}" + f"{line}\n" * count)
    assert looked <= (2 * announcing.MAX_LINES + 3 * folding.MAX_FOOTER_LINES) * (count + 8)


def test_a_text_of_very_many_lines_is_read_whole() -> None:
    own = "Yes.\n" * (folding.MAX_LINES - 1)
    assert folds_from(f"{own}> When?") == folding.MAX_LINES - 1
    assert folds_from(f"{own}\n> When?") is None
