"""HTML that leaves: nothing in it could harm a reader, its images are its own parts or at https, its words all stay."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator
from typing import Any

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.formats.html import sanitize
from svc.formats.html.policy import ATTRIBUTES
from svc.formats.writing import outgoing_html
from svc.formats.writing.outgoing_rebuild import MAX_IMAGES
from tests.formats.html import hostile_html
from tests.formats.html.invariants import assert_harmless, visible_text

CID = "0.out_1@svc.invalid"


def elements(html: str) -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from list(html5lib.parseFragment(html, treebuilder="etree", namespaceHTMLElements=False).iter())[1:]


def assert_fit_to_leave(html: str, *, content_ids: Collection[str] = ()) -> None:
    """As the sanitizer's own output, but for links without a target and images with an address."""
    html.encode()
    for element in elements(html):
        assert element.tag in ATTRIBUTES
        assert set(element.attrib) <= {*ATTRIBUTES[element.tag], "style", "href", "src"}
        if element.tag == "img":
            source = element.attrib["src"]
            assert re.match(r"https://[^/\\@]", source) or source.removeprefix("cid:") in content_ids
        else:
            assert "src" not in element.attrib
    # Links and styles are held to the same invariants as in the frame: there, only images differ.
    assert_harmless(sanitize(html))


@pytest.mark.parametrize("family", hostile_html.FAMILIES)
def test_nothing_harmful_leaves(family: str) -> None:
    for payload in hostile_html.FAMILIES[family]:
        assert_fit_to_leave(outgoing_html(payload).html)


def test_nothing_harmful_leaves_whatever_stands_around_it() -> None:
    assert_fit_to_leave(outgoing_html("".join(hostile_html.EVERYTHING)).html)
    for payload in hostile_html.EVERYTHING:
        assert_fit_to_leave(outgoing_html(f"<table><tr><td>{payload}</td></tr></table>").html)


@given(st.lists(st.sampled_from(hostile_html.EVERYTHING) | st.text(max_size=20), max_size=6).map("".join))
def test_any_soup_is_fit_to_leave_and_says_what_the_frame_would(soup: str) -> None:
    out = outgoing_html(soup)
    assert_fit_to_leave(out.html)
    assert outgoing_html(out.html).html == out.html or "<pre>" in out.html or "<table" in out.html


def test_what_a_person_composes_leaves_as_composed() -> None:
    written = (
        '<div>Hi <b>Ann</b>, <i>see</i> <a href="https://x.example/a?b=1&amp;c=2">this</a>.</div>'
        "<ul><li>one</li><li>two</li></ul><ol><li>three</li></ol><blockquote>said</blockquote><div><br></div>"
        '<p style="color:#ff0000">red</p><a href="mailto:bo@x.example">Bo</a>'
    )
    assert outgoing_html(written).html == written


def test_an_image_of_the_message_is_shown_under_its_new_id() -> None:
    known = '<img src="cid:old%40x.example" alt="logo" width="40"><img src="CID:old@x.example">'
    html = f'{known}<img src="cid:lost" alt="gone">'
    out = outgoing_html(html, images={"old@x.example": CID})
    assert out.html == f'<img src="cid:{CID}" alt="logo" width="40"><img src="cid:{CID}">gone'
    assert out.content_ids == (CID,)


def test_an_image_that_is_not_shown_is_not_named() -> None:
    out = outgoing_html("<p>no image</p>", images={"old@x.example": CID})
    assert out.content_ids == ()


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("https://x.example/i.png?a=1&b=2", "https://x.example/i.png?a=1&amp;b=2"),
        (" HTTPS://x.example/i.png\n", "https://x.example/i.png"),
        ("//x.example/i.png", "https://x.example/i.png"),
        ("http://x.example/i.png", None),
        ("https://user@x.example/i.png", None),
        ("data:image/png;base64,AAAA", None),
        ("javascript:alert(1)", None),
        ("file:///etc/passwd", None),
        ("/files/fil_1/content", None),
        ("cid:", None),
        (f"cid:{'a' * 2_000}", None),
        ("", None),
    ],
)
def test_an_image_stays_at_an_https_address_only(source: str, kept: str | None) -> None:
    expected = f'<img src="{kept}" alt="told">' if kept else "told"
    assert outgoing_html(f'<img alt="told" src="{source}">').html == expected


def test_other_ways_to_an_image_are_closed() -> None:
    html = (
        '<img src="https://x.example/a" srcset="https://evil.example/b 2x" onerror="x()" ismap usemap="#m">'
        '<div style="background:url(https://evil.example/c)" background="https://evil.example/d">t</div>'
        '<input type="image" src="https://buttons.example/e" formaction="https://evil.example/g"><picture><source srcset="https://evil.example/f"></picture>'
    )
    # A button that is a picture is a picture like any other: of its address only, and only by https.
    kept = '<img src="https://x.example/a"><div>t</div><img src="https://buttons.example/e">'
    assert outgoing_html(html).html == kept


def test_images_without_end_are_cut() -> None:
    out = outgoing_html('<img src="https://x.example/a">' * (MAX_IMAGES + 5))
    assert out.html.count("<img") == MAX_IMAGES


def test_what_is_quoted_keeps_its_look() -> None:
    cell = '<td align="center"><font color="red">x</font></td>'
    html = f'<table bgcolor="#eeeeee" width="600"><tbody><tr>{cell}</tr></tbody></table>'
    assert outgoing_html(html).html == html
    assert visible_text(outgoing_html(html).html) == "x"
