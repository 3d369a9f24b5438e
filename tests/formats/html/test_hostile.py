"""What strangers write cannot run, fetch or cover anything: known payloads, generated soup, and real mail."""

from __future__ import annotations

import email
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.formats.html import sanitize, text_fallback, text_to_html
from svc.formats.html.model import CleanHtml
from svc.formats.html.policy import DROPPED, RENAMED
from tests.formats.html import hostile_html
from tests.formats.html.invariants import assert_harmless, visible_text
from tests.formats.mime import corpus
from tests.peers.needs import CORPUS, needs
from tests.sizes import examples


@pytest.mark.parametrize("family", hostile_html.FAMILIES)
def test_nothing_harmful_comes_through(family: str) -> None:
    for payload in hostile_html.FAMILIES[family]:
        assert_harmless(sanitize(payload))


@pytest.mark.thorough
def test_payloads_are_as_harmless_inside_of_every_other_context() -> None:
    for payload in hostile_html.EVERYTHING:
        for before, after in _CONTEXTS:
            assert_harmless(sanitize(before + payload + after))


def test_no_payload_depends_on_the_one_before() -> None:
    assert len(hostile_html.EVERYTHING) >= 250
    assert_harmless(sanitize("".join(hostile_html.EVERYTHING)))
    assert_harmless(sanitize("<p>".join(reversed(hostile_html.EVERYTHING))))


def test_what_was_sanitized_is_harmless_when_it_is_sanitized_again() -> None:
    for payload in hostile_html.EVERYTHING:
        once = sanitize(payload).html
        twice = sanitize(once)
        assert_harmless(twice)
        assert visible_text(twice.html) == visible_text(once)


def test_the_text_of_a_payload_is_harmless_too() -> None:
    for payload in hostile_html.EVERYTHING:
        assert_harmless(CleanHtml(html=text_to_html(payload)))
        assert_harmless(text_fallback(payload))


_CONTEXTS = (
    ("<table><tr><td>", "</td></tr></table>"),
    ("<table>", ""),
    ("<b><i><a href=https://a.example/>", "</b></i>"),
    ("<svg>", "</svg>"),
    ("<math><mtext>", ""),
    ("<select>", ""),
    ("<p title='", "'>"),
    ("<!--", "-->"),
    ("<form><pre>", ""),
)

_NAMES = sorted(
    {
        *DROPPED,
        *RENAMED,
        "a",
        "b",
        "p",
        "div",
        "table",
        "tr",
        "td",
        "img",
        "li",
        "ul",
        "font",
        "h1",
        "foreignObject",
        "mi",
    }
)
_VALUES = st.sampled_from(
    (
        "javascript:alert(1)",
        "https://evil.example/a.png",
        "//evil.example/b",
        "color:red;position:fixed;background:url(//evil.example/)",
        "x\"'><script>",
        "0",
        "data:text/html,x",
        "\x00",
        "&quot;&gt;",
    )
)
_ATTRIBUTE = st.tuples(
    st.sampled_from(("href", "src", "style", "onclick", "id", "background", "srcset", "title", "width", "data-remote")),
    st.one_of(_VALUES, st.text(max_size=12)),
    st.sampled_from(("'", '"', "")),
)
_TAG = st.tuples(
    st.sampled_from(("<", "</", "< ", "<!--", "<!")), st.sampled_from(_NAMES), st.lists(_ATTRIBUTE, max_size=3)
)
_PIECE = st.one_of(
    _TAG.map(lambda tag: f"{tag[0]}{tag[1]} {' '.join(f'{n}={q}{v}{q}' for n, v, q in tag[2])}>"),
    st.sampled_from(("-->", "]]>", "<![CDATA[", "&lt", "&#x3c", "\x00", "/>", "</p>", "</br>", "x", " ", "\n", "'")),
    st.text(max_size=8),
)
_SOUP = st.lists(_PIECE, max_size=30).map("".join)


@pytest.mark.thorough
@settings(max_examples=examples(250))
@given(_SOUP)
def test_any_tag_soup_comes_out_harmless(soup: str) -> None:
    assert_harmless(sanitize(soup))


@settings(max_examples=examples(100))
@given(st.text(alphabet=st.characters(codec=None), max_size=200))
def test_any_text_at_all_comes_out_harmless(text: str) -> None:
    assert_harmless(sanitize(text))
    assert_harmless(CleanHtml(html=text_to_html(text)))
    assert_harmless(text_fallback(text))


@pytest.mark.peer
@needs(CORPUS)
def test_real_mail_comes_out_harmless_and_readable() -> None:
    read = 0
    for html in _html_parts(corpus.paths()):
        clean = sanitize(html)
        assert_harmless(clean)
        assert not clean.truncated
        read += 1
    assert read >= 20


def _html_parts(paths: tuple[Path, ...]) -> Iterator[str]:
    for path in paths:
        for part in email.message_from_bytes(path.read_bytes()).walk():
            if part.get_content_type() == "text/html":
                payload = part.get_payload(decode=True)
                yield payload.decode("latin-1") if isinstance(payload, bytes) else ""
