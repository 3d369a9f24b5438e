"""The text alternative: what the HTML says, in lines that any reader can show and a clever one can join again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.formats.html import text_to_html
from svc.formats.writing import outgoing_html, text_alternative
from svc.formats.writing.text import LINE_CHARS, MAX_QUOTE_DEPTH
from tests.formats.html import hostile_html
from tests.sizes import examples

LONG = "one two three four five six seven eight nine ten " * 4


def text_of(html: str) -> str:
    return text_alternative(outgoing_html(html).html)


def unflowed(text: str) -> list[tuple[int, str]]:
    """As RFC 3676 section 4 reads it: how deep each line is quoted, and its text."""
    lines: list[tuple[int, str]] = []
    going_on = False
    for line in text.split("\n"):
        content = line.lstrip(">")
        depth = len(line) - len(content)
        content = content.removeprefix(" ")
        if going_on and lines[-1][0] == depth:
            lines[-1] = (depth, lines[-1][1] + content)
        else:
            lines.append((depth, content))
        going_on = content.endswith(" ") and content != "-- "
    return lines


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("plain &lt;b&gt; &amp;amp; text", "plain <b> &amp; text"),
        ("<div>a</div><div>b</div>", "a\nb"),
        ("<div>a<br></div><div><br></div><div>b</div>", "a\n\nb"),
        ("<p>a</p><p>b<br>c</p>", "a\n\nb\nc"),
        ("<p>a</p><div><br></div><p>b</p>", "a\n\nb"),
        ("<p> a\n <b>b</b>  c </p>", "a b c"),
        ("a<br><br><br><br><br>b", "a\n\n\nb"),
        ("<div>a</div>" + "<div><br></div>" * 9, "a"),
        ("<div><br></div><div>a</div>", "a"),
        ("a <b> b </b> c", "a b c"),
        ("a&nbsp;&nbsp;b", "a  b"),
        ("<div>&nbsp;&nbsp;in<br>&nbsp; code</div><p>&nbsp;</p><p> plain&nbsp;</p>", "   in\n   code\n\nplain"),
        ("<ul><li>one</li><li>two<ul><li>deep</li></ul></li></ul>after", "- one\n- two\n   - deep\n\nafter"),
        ("<ol><li>a</li><li>b</li></ol><ol start=9><li>c</li></ol>", "1. a\n2. b\n\n9. c"),
        ("<ol><li><p>a</p><p>b</p></li><li><p>c</p></li></ol>", "1. a\n   b\n2. c"),
        ("<blockquote>a<blockquote>b</blockquote>c</blockquote>d", "> a\n>\n>> b\n>\n> c\n\nd"),
        ("<h1>T</h1>x<hr>y", "T\n\nx\n\n--------------------\n\ny"),
        ("<pre>\na  b\n  c\n</pre>", "a  b\n   c"),
        ("<table><tr><td>a </td><td>b</td></tr><tr><td>c</td><td></td></tr></table>", "a | b\nc"),
        ("<table><tr><td><div>a</div></td><td><div>b</div></td></tr></table>", "a\nb"),
        ('<img src="https://x.example/i" alt="logo">!', "[logo]!"),
        ('x<span style="display:none">hidden</span>y', "xy"),
        ("<div>-- <br>Ann</div>", "-- \nAnn"),
        ("<div>From here</div><div>&gt; no quote</div>", " From here\n > no quote"),
        ("1 < 2 > 0", "1 < 2 > 0"),
    ],
)
def test_html_reads_as_text(html: str, text: str) -> None:
    assert text_of(html) == text


@pytest.mark.parametrize(
    ("link", "text"),
    [
        ('<a href="https://x.example/p?a=1&amp;b=2">the page</a>', "the page (https://x.example/p?a=1&b=2)"),
        ('<a href="https://x.example/">x.example</a>', "x.example"),
        ('<a href="https://x.example/">https://x.example</a>', "https://x.example"),
        ('<a href="mailto:a@x.example">a@x.example</a>', "a@x.example"),
        ('<a href="mailto:a@x.example">Ann</a>.', "Ann (a@x.example)."),
        ('<a href="https://x.example/"><b>bold </b></a>after', "bold (https://x.example/)after"),
        ('<a href="https://x.example/"><img src="https://x.example/i" alt="logo"></a>', "[logo] (https://x.example/)"),
        ('<a href="https://x.example/"><img src="https://x.example/i"></a>', ""),
        ('<a href="https://x.example/"><h2>Title</h2></a>after', "Title\n\n(https://x.example/) after"),
        ('<a href="javascript:x()">no link</a>', "no link"),
    ],
)
def test_a_link_says_where_it_leads(link: str, text: str) -> None:
    assert text_of(link) == text


def test_long_lines_flow_at_every_depth() -> None:
    for depth in range(MAX_QUOTE_DEPTH + 3):
        text = text_of("<blockquote>" * depth + LONG)
        assert all(len(line) <= LINE_CHARS for line in text.split("\n"))
        assert unflowed(text) == [(min(depth, MAX_QUOTE_DEPTH), LONG.strip())]


def test_a_word_without_end_is_not_broken() -> None:
    address = "https://x.example/" + "a" * 300
    assert unflowed(text_of(f"see {address} there")) == [(0, f"see {address} there")]
    assert f"\n{address} \n" in text_of(f"see {address} there {LONG}")


def test_code_is_not_broken() -> None:
    assert text_of(f"<pre>{LONG}</pre>") == LONG.rstrip()


def test_a_plain_original_keeps_its_lines_and_marks() -> None:
    written = "hi\n> quoted\n>> twice\n\n   indented  twice"
    assert text_of(text_to_html(written)) == "hi\n\n> quoted\n>\n>> twice\n\n    indented  twice"


@settings(max_examples=examples(300))
@given(st.text(alphabet="ab ->From.\u00e9日", max_size=300).map(lambda text: " ".join(text.split())))
def test_any_line_flows_back_to_what_it_was(line: str) -> None:
    shown = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    expected = "-- " if line == "--" else line
    assert unflowed(text_of(f"<div>{shown}</div>")) == [(0, expected)]
    assert unflowed(text_of(f"<blockquote>{shown}</blockquote>")) == ([(1, expected)] if line else [(0, "")])


@given(st.lists(st.sampled_from(hostile_html.EVERYTHING) | st.text(max_size=20), max_size=6).map("".join))
def test_any_html_has_a_text(soup: str) -> None:
    for html in (soup, outgoing_html(soup).html):
        text = text_alternative(html)
        assert "\r" not in text
        assert all(line == line.rstrip(" ") or line.endswith(" ") for line in text.split("\n"))
