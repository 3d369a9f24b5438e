"""What folds of an HTML mail, by the names and forms that many programs use; and what never does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.formats.html import sanitize, shows_something, text_fallback, text_to_html
from svc.formats.html.folding import folded_nodes
from svc.formats.html.model import FOLD, CleanHtml
from svc.formats.html.rebuild import parsed
from tests.formats.folded_texts import FOLDED as FOLDED_TEXTS
from tests.formats.folded_texts import WHOLE as WHOLE_TEXTS
from tests.formats.html import hostile_html
from tests.formats.html.folded_html import FOLDED, WHOLE
from tests.formats.html.invariants import assert_harmless, parse, visible_text
from tests.support.each import each


@each(list(FOLDED))
def test_what_was_said_before_folds(name: str) -> None:
    own, html = FOLDED[name]
    clean = sanitize(html)
    assert_harmless(clean)
    assert own_text(clean.html) == own
    assert shows_something(clean.html)
    assert len(visible_text(clean.html)) > len(own)


@each(list(FOLDED))
def test_nothing_is_lost(name: str) -> None:
    marked = sanitize(FOLDED[name][1]).html
    assert visible_text(marked) == visible_text(marked.replace(FOLD, ""))


@each(list(WHOLE))
def test_what_is_news_is_read_whole(name: str) -> None:
    assert "data-fold" not in sanitize(WHOLE[name]).html


@each(list(FOLDED_TEXTS))
def test_plain_texts_fold_too(name: str) -> None:
    own, old = FOLDED_TEXTS[name]
    html = text_to_html(f"{own}\n\n{old}", folds=True)
    assert_harmless(CleanHtml(html=html))
    said = "\n".join(line.lstrip("> ") for line in own.split("\n"))
    assert own_text(html).replace("_", "").split() == said.split()
    assert visible_text(html).split() == visible_text(text_to_html(f"{own}\n\n{old}")).split()


@each(list(WHOLE_TEXTS))
def test_plain_texts_that_are_news_are_read_whole(name: str) -> None:
    assert text_to_html(WHOLE_TEXTS[name], folds=True) == text_to_html(WHOLE_TEXTS[name])


def test_what_is_too_much_to_parse_folds_as_text() -> None:
    assert own_text(text_fallback("<p>Yes.<p>-- <br>Mia").html) == "Yes."


def test_text_between_elements_folds_in_elements_of_its_own() -> None:
    assert sanitize("Yes.<br>-- <br>Mia").html == (
        f"Yes.<br{FOLD}><span{FOLD}>-- </span><br{FOLD}><span{FOLD}>Mia</span>"
    )


def test_a_part_of_which_nothing_is_written_hands_its_fold_on() -> None:
    assert own_text(sanitize("Yes.<unknown class=gmail_quote><p>When? <b>Noa</b></p>Bye</unknown>").html) == "Yes."


PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "<p>words</p>",
                "<br>",
                "words",
                "&gt; old",
                "<b>On 1 May 2026 x wrote:</b>",
                "<blockquote type=cite>",
                "-- ",
            ),
            *(
                "</blockquote>",
                "<div class=gmail_quote>",
                "</div>",
                "<div>",
                "<table><tr><td>",
                "</table>",
                "<hr id=zwchr>",
            ),
            *(
                "---- Forwarded message ----",
                "<img src=https://x.example/1 width=9>",
                "<ul><li>",
                "</ul>",
                "<p>",
                "<a>",
            ),
        ]
    ),
    max_size=14,
)


@given(PIECES)
def test_something_to_read_is_always_left(pieces: list[str]) -> None:
    clean = sanitize("".join(pieces))
    assert_harmless(clean)
    if "data-fold" in clean.html:
        root = parse(clean.html)
        _without_folds(root)
        assert "".join(root.itertext()).strip() or root.findall(".//img")


@pytest.mark.thorough
def test_no_payload_is_the_less_harmless_for_what_folds_around_it() -> None:
    for payload in hostile_html.EVERYTHING:
        for before, after in (("Yes.<div class=gmail_quote>", ""), ("Yes.<hr id=zwchr>", ""), ("", "<p>-- <p>Mia")):
            assert_harmless(sanitize(f"{before}{payload}{after}"))


@pytest.mark.parametrize(
    "piece", ["<div>", "<b>x", "<blockquote type=cite>y", "<p>-- ", "<br>On 1 May x wrote:", "&gt; "]
)
def test_any_amount_of_anything_is_read(piece: str) -> None:
    folded_nodes(parsed("Yes." + piece * 20_000 + "No."))


def own_text(html: str) -> str:
    root = parse(html)
    _without_folds(root)
    return " ".join(" ".join(root.itertext()).split())


def _without_folds(element: Any) -> None:
    for child in list(element):
        if "data-fold" in child.attrib:
            at = list(element).index(child)
            if child.tail and at:
                element[at - 1].tail = (element[at - 1].tail or "") + child.tail
            elif child.tail:
                element.text = (element.text or "") + child.tail
            element.remove(child)
        else:
            _without_folds(child)
