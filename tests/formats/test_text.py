"""Text cleaned, and HTML reduced to what it says."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.formats.text import clean_line, clean_text, text_from_html


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("plain", "plain"),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("<div>one</div>\n  <div>two</div>", "one\ntwo"),
        ("one<br>two<BR/>three", "one\ntwo\nthree"),
        ("<ul><li>a</li><li>b</li></ul>c", "a\nb\nc"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("a <b>bold</b>\n word", "a bold word"),
        ("a<!-- <b --> c", "a c"),  # what ends the comment ends no tag
        ("a<!-- <b>x</b> --> <i\n>c</i>", "a c"),
        ("<style><b </style>a<script>'<b>'</script>d", "ad"),
        ("a<b", "a"),
        ("a <bold>b</bold> <by> c", "a b c"),
        ("a &amp; b &lt;b&gt; &nbsp; &#8364; &euro;", "a & b <b> € €"),
        ("&#99999999999999999999; &#x110000; &#0;", "\ufffd \ufffd \ufffd"),
        ("<style>p { x }</style>a<script>b < c</script><title>t</title>d", "ad"),
        ("<!-- c > --> a <!doctype x> b <?php ?> c", "a b c"),
        ("<!--[if mso]>no<![endif]-->yes", "yes"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("a<script>never ends", "a"),
        ("a<!-- never ends", "a"),
        ("a<b never ends", "a"),
        ("<br><br><br><br>a<br><br><br><br>b<br>", "a\n\nb"),
        ("", ""),
    ],
)
def test_html_reads_as_text(html: str, text: str) -> None:
    assert text_from_html(html) == text


@given(st.text(alphabet=st.sampled_from("<>/!-&;#x9ap \n\"'\x00\ud800\u202estyle")))
def test_any_html_gives_clean_text(html: str) -> None:
    text = text_from_html(html)
    assert text == clean_text(text)
    text.encode()


@given(st.text(alphabet=st.characters(blacklist_categories=())))
def test_a_clean_line_stays_as_it_is(text: str) -> None:
    line = clean_line(text)
    assert clean_line(line) == line
    assert not set(line) & set("\r\n\t\x00\u2028\u2029\u202e\u2066\u200b\ufeff")
    line.encode()


@pytest.mark.parametrize("other", ["", "é", "\ud800"])
def test_no_control_character_stays_in_a_body_whatever_else_it_holds(other: str) -> None:
    controls = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0 if other else 0x80)]))
    assert clean_text(f"a{controls}b{other}") == f"a\t\n\n\n\nb{other.replace(chr(0xD800), chr(0xFFFD))}"


@pytest.mark.parametrize(
    "shape",
    [
        "<",
        "<a",
        "<p>",
        "<style>",
        "<style></style>",
        "<!--",
        "<!",
        "&",
        "&#",
        "&lt;",
        "< ",
        "</td>",
        "<a '",
        "\n ",
        "<b ",
        "<b -->",
    ],
)
def test_hostile_html_takes_linear_time(shape: str) -> None:
    html = shape * (1_000_000 // len(shape))
    before = time.process_time()
    text_from_html(html)
    assert time.process_time() - before < 3
