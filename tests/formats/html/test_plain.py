"""A plain-text mail reads as it was typed: lines, quotations, links."""

from __future__ import annotations

import re
import time

import pytest

from svc.formats.html import text_fallback, text_to_html
from svc.formats.html.plain import MAX_FALLBACK_TAGS, MAX_QUOTE_DEPTH, MAX_TEXT_CHARS

LINK = 'target="_blank" rel="noopener noreferrer"'


def test_lines_and_blanks_stay_as_typed() -> None:
    html = text_to_html("Dear Mia,\n\n  indented\t<tab> & more\r\nMia")
    assert "white-space:pre-wrap" in html
    assert "Dear Mia,<br><br>  indented\t&lt;tab&gt; &amp; more<br>Mia" in html


@pytest.mark.parametrize(
    ("text", "address", "shown"),
    [
        ("see https://a.example/b?c=1&d=2.", "https://a.example/b?c=1&amp;d=2", "https://a.example/b?c=1&amp;d=2"),
        ("(http://a.example/x)", "http://a.example/x", "http://a.example/x"),
        ("https://a.example/Tern_(bird)!", "https://a.example/Tern_(bird)", "https://a.example/Tern_(bird)"),
        ("<www.a.example/x>", "https://www.a.example/x", "www.a.example/x"),
        ("write to mia@tern.example, please", "mailto:mia@tern.example", "mia@tern.example"),
        ("mailto:mia@tern.example", "mailto:mia@tern.example", "mailto:mia@tern.example"),
        ('"https://a.example/" onclick=x', "https://a.example/", "https://a.example/"),
    ],
)
def test_addresses_become_links(text: str, address: str, shown: str) -> None:
    assert f'<a href="{address}" {LINK}>{shown}</a>' in text_to_html(text)


@pytest.mark.parametrize(
    "text", ["javascript:alert(1)", "data:text/html,x", "ftp://a.example", "https://", "a@b", "@x.example"]
)
def test_nothing_else_becomes_a_link(text: str) -> None:
    assert "<a " not in text_to_html(text)


def test_quoted_lines_become_nested_quotations() -> None:
    html = text_to_html("Yes.\n> Shall we?\n> > When?\n>> Soon?\n> Well\nBye")
    plain = re.sub(r" style=\"[^\"]*\"", "", html)
    outer, inner, end = "<blockquote>Shall we?", "<blockquote>When?<br>Soon?</blockquote>", "Well</blockquote>"
    assert plain == f"<div>Yes.<br>{outer}{inner}{end}Bye</div>"


def test_quotations_are_nested_only_so_far() -> None:
    assert text_to_html(">" * 5_000 + "x").count("<blockquote") == MAX_QUOTE_DEPTH


def test_an_endless_text_is_cut() -> None:
    assert len(text_to_html("x" * (MAX_TEXT_CHARS + 500))) < MAX_TEXT_CHARS + 200


def test_a_fallback_says_that_it_is_cut_and_only_then() -> None:
    assert not text_fallback("x" * MAX_TEXT_CHARS).truncated
    assert text_fallback("x" * (MAX_TEXT_CHARS + 1)).truncated
    assert not text_fallback("<b>" * MAX_FALLBACK_TAGS + "x").truncated
    assert text_fallback("<b>" * (MAX_FALLBACK_TAGS + 1) + "x").truncated


@pytest.mark.thorough
@pytest.mark.parametrize(
    "piece", ["a@", "www.", "https://", "(", "> ", ">", "a.", "@a.b", "mailto:", "\n>\n", ")))", "a-", "ſ@"]
)
def test_no_text_takes_long(piece: str) -> None:
    text = (piece * 200_000)[:200_000]
    started = time.process_time()
    text_to_html(text)
    assert time.process_time() - started < 2
