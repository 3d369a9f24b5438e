"""Rebuilt HTML is read as it was written: by our own sanitizer once more, and by the parser of another project."""

from __future__ import annotations

import email
import html as _html
import re
import warnings
from collections.abc import Iterator
from typing import Any, Final

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.formats.html import CleanHtml, sanitize
from svc.formats.html.nesting import MAX_DEPTH
from svc.formats.html.policy import ATTRIBUTES, RENAMED, VOID
from svc.formats.writing.outgoing_html import outgoing_html
from tests.formats.html.invariants import visible_text
from tests.formats.mime import corpus
from tests.peers.needs import CORPUS, needs
from tests.sizes import SOAK, examples

NEW_WINDOW: Final = 'target="_blank" rel="noopener noreferrer"'
A: Final = f'<a href="https://a.example" {NEW_WINDOW}>'
B: Final = f'<a href="https://b.example" {NEW_WINDOW}>'
_YOUNGER: Final = re.compile("<(?:figcaption|hgroup|main)[ >]")
"""Elements that the other parser does not know to end a search for an open ``li``; it is older than they are."""
MAX_CHARS: Final = 64 * 1024
"""Of a real body that the other parser reads too: its time grows with the square."""


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<ul><li>1<form><li>2</form></ul>", "<ul><li>1<div></div></li><li>2</li></ul>"),
        ("<ul><li><b>1<form><li>2", "<ul><li><b>1<div></div></b></li><b><li>2</li></b></ul>"),
        ("<ul><li>1<ul><li>2</ul></ul>", "<ul><li>1<ul><li>2</li></ul></li></ul>"),
        ("<dl><dt>1<form><dd>2", "<dl><dt>1<div></div></dt><dd>2</dd></dl>"),
        ("<p>1<marquee><p>2</marquee>3", "<p>1</p><div><p>2</p></div>3"),
        ("<p><i>1<marquee>2</marquee>3", "<p><i>1</i></p><i><div>2</div>3</i>"),
        ("<p><span lang=en>1<legend>2", '<p><span lang="en">1</span></p><span lang="en"><div>2</div></span>'),
        ("<p>1<legend><hr>2", "<p>1</p><div></div><hr>2"),
        ("<h1>1<label><h2>2", "<h1>1</h1><h2>2</h2>"),
        ("<h1>1<b><h2>2", "<h1>1<b><h2>2</h2></b></h1>"),
        ("<nobr>1<marquee><nobr>2", "<nobr>1<div></div></nobr><div><nobr>2</nobr></div>"),
        ("<nobr>1<table><nobr>2", "<nobr>1</nobr><nobr>2</nobr><table></table>"),
        ("<ruby>1<rt>2<label><rt>3", "<ruby>1<rt>2</rt><rt>3</rt></ruby>"),
        ("<b><b><b><b>1<p><b>2</p>3", "<b><b><b>1<p>2</p>3</b></b></b>"),
        (
            "<font size=7><center><font color=red><center><font color=red><font color=red><font color=red>1",
            '<font size="7"><center><font color="red"><center><font color="red"><font color="red">1</font></font>'
            "</center></font></center></font>",
        ),
        ("<body bgcolor=white text=#00000>1", '<div style="background-color:white">1</div>'),
        ("<p><b></p><table><colgroup> <rt>1", "<p><b></b></p><table><colgroup> </colgroup></table>1"),
        (
            "<p><b></p><table><colgroup> <img src=//a.example>",
            '<p><b></b></p><table><colgroup> </colgroup></table><img data-remote="0">',
        ),
        ("<pre><label>\n1", "<pre>\n\n1</pre>"),
        ("<pre>&#1;<label>&#10;1", "<pre>\n\n1</pre>"),
        ("<xmp>\n1", "<pre>\n\n1</pre>"),
        (
            "<a href=//a.example>1<table><a href=//b.example>2<tr><td><a href=//a.example>3",
            f"{A}1</a>{B}2</a><table><tbody><tr><td>{A}3</a></td></tr></tbody></table>",
        ),
        (
            "<a href=//a.example>1<center>2<table><a href=//b.example>3</a></table>4",
            f"{A}1<center>2</center></a><center>{B}3</a><table></table>4</center>",
        ),
        (
            "<p>1<a href=//a.example>2<legend>3</legend>4</a>5",
            f"<p>1{A}2</a></p>{A}<div>3</div>4</a>5",
        ),
    ],
)
def test_what_a_browser_would_close_is_closed_and_what_stood_in_between_goes_on(html: str, written: str) -> None:
    assert sanitize(html).html == written
    _assert_read_as_written(html)


@pytest.mark.parametrize("above", range(MAX_DEPTH - 6, MAX_DEPTH + 2))
def test_at_the_deepest_a_table_is_whole_or_its_words_stand_without_it(above: int) -> None:
    html = "<div>" * above + "<table><caption>a<tr><td>b<table><tr><td>c<tr><td>d" + "</div>" * above
    once = sanitize(html).html
    assert visible_text(once).replace(" ", "") == "abcd"
    assert once.count("<td>") in {0, 1, 3}
    assert _again(CleanHtml(html=once)) == once


def test_the_words_after_a_link_that_made_way_are_not_read_as_its_own() -> None:
    html = "<a href=//a.example>b.example<table><a href=//a.example>a.example</a></table> is far</a>"
    assert sanitize(html).warnings == ("A link shows b.example but goes to a.example",)


def test_a_link_that_is_opened_again_is_told_once_and_read_whole() -> None:
    html = "<p><a href=//a.example>b.<legend>example</legend></a>"
    assert sanitize(html).warnings == ("A link shows b.example but goes to a.example",)


def test_opening_again_cannot_blow_a_mail_up() -> None:
    inline, times = "<b title=x>" * 40, 10
    for closes in ("<p>", "<ul><li>", "<a href=//a.example>", "<nobr>", "<dl><dt>"):
        for inside in ("<form><li>", "<legend><p>", "<table><a href=//b.example>", "<marquee><nobr>", "<label><dd>"):
            html = (closes + inline + inside) * times
            assert len(sanitize(html).html) < 20 * len(html)


_UNWRAPPED: Final = ("label", "map", "rb", "rtc", "center-x", "html", "body", "tbody-x")
_DROPPED: Final = ("button", "object", "svg", "select", "template", "noscript")
_NAMES: Final = sorted({*ATTRIBUTES, *RENAMED, *_UNWRAPPED} - {"a", "img", "plaintext"})
_LINKS: Final = ("<a href=//a.example>", "<a href='https://b.example/'>", "<a name=x>", "<a style='color:red' href=/>")
_KINDS: Final = """
    address b caption colgroup dd div dt fieldset form h1 h2 hr label legend li listing marquee nobr p rb ruby rt span
    table td tr ul
"""
"""One of each kind that parsers treat alike."""
_LIKELY: Final = "p a nobr li dd dt h1 h2 ruby rt b div form marquee table tr td caption pre legend"
_FORMATS: Final = ("<font color=red>", "<font>", "<b>", "</font>", "</b>")
_TEXTS: Final = (
    "x",
    " ",
    "\n",
    "\n\n",
    "&#10;",
    "&#1;",
    "&lt;",
    "\xa0",
    "<br>",
    "<!--x-->",
    "<img src=//a.example/i.png>",
)


def _start(name: str) -> str:
    return f"<{name}>"


_PIECE: Final = st.one_of(
    st.sampled_from(_LIKELY.split()).map(_start),
    st.sampled_from(_NAMES).map(_start),
    st.sampled_from((*_NAMES, "a", *_LIKELY.split())).map(lambda name: f"</{name}>"),
    st.sampled_from(_LINKS),
    st.sampled_from(_FORMATS),
    st.sampled_from(_DROPPED).map(lambda name: f"<{name}>x</{name}>"),
    st.sampled_from(_TEXTS),
)
_NESTED: Final = st.recursive(
    st.sampled_from(_TEXTS),
    lambda inner: st.builds(
        lambda name, held: f"<{name}>{''.join(held)}</{name}>",
        st.sampled_from((*_NAMES, "a href=//a.example", "a href=//b.example")),
        st.lists(inner, max_size=4),
    ),
    max_leaves=16,
)


@pytest.mark.thorough
@settings(max_examples=examples(300))
@given(st.lists(_PIECE, max_size=24).map("".join))
def test_any_order_of_tags_is_read_as_it_was_written(html: str) -> None:
    _assert_read_as_written(html)


@settings(max_examples=examples(100))
@given(_NESTED)
def test_any_nesting_is_read_as_it_was_written(html: str) -> None:
    _assert_read_as_written(html)


@pytest.mark.thorough
def test_every_element_within_every_other_is_read_as_it_was_written() -> None:
    names = _NAMES if SOAK else _KINDS.split()
    for outer in names:
        for inner in names:
            _assert_read_as_written(f"1<{outer}>2<{inner}>3<{outer}>4<{inner}>5</{inner}>6</{outer}>7")


@pytest.mark.peer
@needs(CORPUS)
def test_real_mail_is_read_as_it_was_written() -> None:
    read = 0
    for html in _bodies():
        _assert_read_as_written(html)
        read += 1
    assert read >= 20


def _bodies() -> Iterator[str]:
    for path in corpus.paths():
        for part in email.message_from_bytes(path.read_bytes()).walk():
            payload = part.get_payload(decode=True) if part.get_content_type() == "text/html" else None
            if isinstance(payload, bytes) and len(payload) <= MAX_CHARS:
                yield payload.decode("latin-1")


def _assert_read_as_written(html: str) -> None:
    once = sanitize(html)
    assert _unfolded(_again(once)) == _unfolded(once.html)
    if not _YOUNGER.search(once.html):
        assert _read_by_another(once.html) == once.html
    leaves = outgoing_html(html).html
    assert outgoing_html(leaves).html == leaves


def _unfolded(html: str) -> str:
    """What folds is told by marks of mail programs, which are gone from what is clean."""
    return html.replace(' data-fold=""', "")


def _again(clean: CleanHtml) -> str:
    """A placeholder is dropped where a stranger writes one, so that each is first the image it stands for."""
    html = clean.html
    for place, address in enumerate(clean.remote_images):
        html = html.replace(f'<img data-remote="{place}"', f'<img src="{_html.escape(address)}"')
    return sanitize(html).html


def _read_by_another(html: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = html5lib.parseFragment(html, treebuilder="etree", namespaceHTMLElements=False)
    return "".join(_written(tree))[len("<DOCUMENT_FRAGMENT>") : -len("</DOCUMENT_FRAGMENT>")]


def _written(element: Any) -> Iterator[str]:
    attributes = "".join(
        f' {name}="{_html.escape(value, quote=False).replace(chr(34), "&quot;")}"'
        for name, value in element.attrib.items()
    )
    yield f"<{element.tag}{attributes}>"
    text = element.text or ""
    yield "\n" if element.tag == "pre" and text.startswith("\n") else ""
    yield _html.escape(text, quote=False)
    for child in element:
        yield from _written(child)
        yield _html.escape(child.tail or "", quote=False)
    if element.tag not in VOID:
        yield f"</{element.tag}>"
