"""Ordinary mail keeps its look and its words; what was taken away is counted."""

from __future__ import annotations

import time

import pytest

from svc.formats.html import FRAME_CSP, CleanHtml, plan, sanitize, text_fallback
from svc.formats.html.nesting import MAX_DEPTH
from svc.formats.html.plan import MAX_INLINE_CHARS, MAX_INLINE_TAGS, MAX_PROCESS_CHARS, MAX_PROCESS_TAGS
from svc.formats.html.policy import MAX_COLUMN_SPAN, MAX_TEXT_ATTRIBUTE_CHARS
from svc.formats.html.rebuild import MAX_OUTPUT_CHARS, MAX_REMOTE_IMAGES

NEW_WINDOW = 'target="_blank" rel="noopener noreferrer"'


def test_a_paragraph_stays_what_it_is() -> None:
    assert sanitize("<p>Dear <b>Mia</b>,<br>all is well.</p>").html == "<p>Dear <b>Mia</b>,<br>all is well.</p>"


def test_text_is_escaped_and_entities_are_resolved() -> None:
    assert sanitize("<p>5 &lt; 6 &amp; caf&eacute; &copy</p>").html == "<p>5 &lt; 6 &amp; café ©</p>"


def test_the_layout_of_a_newsletter_is_kept() -> None:
    html = (
        '<table align="center" bgcolor="#f4f1ea" border="0" cellpadding="0" role="presentation" width="600">'
        '<tbody><tr><td colspan="2" style="padding:24px 32px;font-family:Georgia,\'Noto Serif\',serif;color:#1d2b33">'
        '<font color="#333333" size="2">Hello</font></td></tr></tbody></table>'
    )
    assert _attributes_sorted(sanitize(html).html) == _attributes_sorted(html)


def test_what_the_body_looks_like_moves_to_a_div() -> None:
    clean = sanitize('<html><body bgcolor="#FAFAFA" text="navy" style="margin:0" onload="x()">Hi</body></html>')
    assert clean.html == '<div style="background-color:#fafafa;color:navy;margin:0">Hi</div>'


def test_a_colour_without_its_mark_gets_it() -> None:
    assert sanitize("<body bgcolor=000066>x").html == '<div style="background-color:#000066">x</div>'
    assert sanitize("<font color=FFF>x</font>").html == '<font color="#fff">x</font>'
    assert sanitize("<font face='Arial,\n Verdana'>x</font>").html == '<font face="Arial, Verdana">x</font>'
    assert sanitize("<font face=宋体>x</font>").html == '<font face="宋体">x</font>'
    assert '<table border="1" bordercolor="#cccccc">' in sanitize("<table border bordercolor=#CCCCCC><td>x").html


def test_a_body_without_a_look_leaves_no_trace() -> None:
    assert sanitize("<html><head><title>T</title></head><body>Hi</body></html>").html == "Hi"


@pytest.mark.parametrize(
    ("href", "written"),
    [
        ("https://tern.example/a?b=1&amp;c=2", "https://tern.example/a?b=1&amp;c=2"),
        ("  HTTP://tern.example ", "http://tern.example"),
        ("https:\\\\tern.example\\a", "https://tern.example\\a"),
        ("//tern.example/a b", "https://tern.example/a%20b"),
        ("ht\ntps://tern.example", "https://tern.example"),
        ("mailto:mia@tern.example?subject=Hi", "mailto:mia@tern.example?subject=Hi"),
        ("https://例え.example/ø", "https://例え.example/ø"),
    ],
)
def test_a_link_opens_a_new_window_that_knows_nothing_of_us(href: str, written: str) -> None:
    assert sanitize(f'<a href="{href}">x</a>').html == f'<a href="{written}" {NEW_WINDOW}>x</a>'


@pytest.mark.parametrize(
    "href", ["/trpc/x", "page.html", "#top", "https:", "https:///", "tel:1", "https://a@b.example"]
)
def test_a_link_that_leads_nowhere_safe_leaves_its_text(href: str) -> None:
    assert sanitize(f'<a href="{href}" style="color:red">x</a>').html == '<span style="color:red">x</span>'


def test_a_remote_image_becomes_an_index() -> None:
    clean = sanitize('<img src="https://news.example/logo.png" alt="Our logo" width="120" height="40px" class="x">')
    assert clean.html == '<img data-remote="0" alt="Our logo" height="40" width="120">'
    assert clean.remote_images == ("https://news.example/logo.png",)
    assert clean.blocked_images == 1


def test_the_same_image_has_one_index_and_counts_each_time() -> None:
    clean = sanitize("<img src=//a.example/1.png><img src=http://a.example/2.png><img src=https://a.example/1.png>")
    assert [part[0] for part in clean.html.split('data-remote="')[1:]] == ["0", "1", "0"]
    assert clean.remote_images == ("https://a.example/1.png", "http://a.example/2.png")
    assert clean.blocked_images == 3


def test_an_image_that_came_along_leaves_the_text_that_stands_for_it() -> None:
    clean = sanitize('<img src="cid:logo@x" alt="Tern &lt;3"> <img src="data:image/png;base64,AAAA"><img alt="none">')
    assert clean == CleanHtml(html="Tern &lt;3 none")


def test_a_forged_placeholder_is_dropped() -> None:
    assert sanitize('<img data-remote="0" alt="x"><p data-remote="0">y</p>').html == "x<p>y</p>"


@pytest.mark.parametrize(
    "html",
    [
        '<td background="https://a.example/b.png">',
        '<body background="//a.example/b.png">x',
        "<div style='background:url(https://a.example/b.png)'>x</div>",
        "<div style='background-image:url( \"http://a.example/b.png\" )'>x</div>",
        "<video poster=https://a.example/p.jpg></video>",
        "<img srcset='https://a.example/2x.png 2x'>",
    ],
)
def test_a_remote_picture_that_is_no_image_element_is_only_counted(html: str) -> None:
    clean = sanitize(f"<table><tr>{html}</table>" if html.startswith("<td") else html)
    assert clean.blocked_images == 1
    assert clean.remote_images == ()
    assert "a.example" not in clean.html


def test_a_form_goes_and_its_words_stay() -> None:
    html = "<form action=//a.example/><p>Vote: <input name=a><button>Yes</button><select><option>1</select></p></form>"
    assert sanitize(html).html == "<div><p>Vote: </p></div>"


def test_a_map_keeps_what_it_holds_without_its_areas() -> None:
    html = "<map name=m><p>Dear Mia</p><area href=//a.example><img src=//a.example/b.png></map><p>Jon</p>"
    clean = sanitize(html)
    assert clean.html == '<p>Dear Mia</p><img data-remote="0"><p>Jon</p>'
    assert clean.remote_images == ("https://a.example/b.png",)


def test_a_button_that_is_a_picture_leaves_the_picture() -> None:
    clean = sanitize('<form>Vote: <input type=IMAGE src="//a.example/go.png" alt=Go width=40><input type=text></form>')
    assert clean.html == '<div>Vote: <img data-remote="0" alt="Go" width="40"></div>'
    assert (clean.remote_images, clean.blocked_images) == (("https://a.example/go.png",), 1)


def test_style_sheets_scripts_and_comments_go_with_their_content() -> None:
    assert (
        sanitize("a<style>p{}</style><script>b()</script><!-- c --><title>d</title><noscript>e</noscript>f").html
        == "af"
    )


def test_what_stands_in_for_a_frame_is_not_shown() -> None:
    html = "a<iframe>Your browser has no frames</iframe><object>b</object><video>c</video><select><option>d</select>e"
    assert sanitize(html).html == "ae"


def test_an_endless_title_is_cut() -> None:
    assert len(sanitize(f"<p title='{'x' * 50_000}'>y</p>").html) < MAX_TEXT_ATTRIBUTE_CHARS + 50


def test_unknown_elements_are_unwrapped() -> None:
    assert sanitize("<p>Regards<o:p>,</o:p> <blink>Jon</blink></p>").html == "<p>Regards, Jon</p>"


def test_preformatted_text_keeps_its_first_empty_line() -> None:
    html = sanitize("<pre>\n\n  x</pre>").html
    assert sanitize(html).html == html == "<pre>\n\n  x</pre>"


def test_right_to_left_mail_stays_so() -> None:
    assert sanitize('<p dir="RTL" lang="ar">مرحبا</p>').html == '<p dir="rtl" lang="ar">مرحبا</p>'


def test_spans_that_would_stall_the_layout_are_cut() -> None:
    assert f'colspan="{MAX_COLUMN_SPAN}"' in sanitize("<table><td colspan=99999 width=1e9>x").html


# Bounds


def test_deep_nesting_is_flattened_and_keeps_its_words() -> None:
    clean = sanitize("<div>" * 5_000 + "deep")
    assert clean.html == "<div>" * MAX_DEPTH + "deep" + "</div>" * MAX_DEPTH
    assert not clean.truncated


def test_more_images_than_anyone_needs_are_counted_only() -> None:
    clean = sanitize("".join(f"<img src=https://a.example/{n}>" for n in range(MAX_REMOTE_IMAGES + 5)))
    assert len(clean.remote_images) == MAX_REMOTE_IMAGES
    assert clean.blocked_images == MAX_REMOTE_IMAGES + 5


def test_an_endless_mail_is_cut_where_its_tags_can_be_closed() -> None:
    clean = sanitize("<b><i>" + ("x" * 99_999 + "<br>") * 50)
    assert clean.truncated
    assert MAX_OUTPUT_CHARS < len(clean.html) < MAX_OUTPUT_CHARS + 100_100
    assert clean.html.endswith("</i></b>")


def test_ordinary_mail_is_handled_at_once() -> None:
    assert plan("<p>Hi</p>" * 300) == "inline"


@pytest.mark.parametrize(
    "html",
    [
        "x" * (MAX_INLINE_CHARS + 1),
        "<" * (MAX_INLINE_TAGS + 1),
        "<b>" + "<div>" * 1_000 + "</b>" * 1_000,
        "<template><tr><td>" * 300,
        "<caption><marquee>" * 700,
    ],
)
def test_what_may_be_slow_is_left_to_a_process_that_can_be_killed(html: str) -> None:
    assert plan(html) == "process"


@pytest.mark.parametrize("html", ["x" * (MAX_PROCESS_CHARS + 1), "<" * (MAX_PROCESS_TAGS + 1)])
def test_what_is_hopeless_is_not_parsed_at_all(html: str) -> None:
    assert plan(html) == "text"


def test_the_text_of_hopeless_html_is_shown() -> None:
    clean = text_fallback("<style>x</style><p>Hello <b>you</b></p><p>https://a.example/</p>")
    assert "Hello you" in clean.html
    assert f'<a href="https://a.example/" {NEW_WINDOW}>https://a.example/</a>' in clean.html


@pytest.mark.thorough
@pytest.mark.parametrize("piece", ["<p>", "<", "&amp;", "<!--", "x@"])
def test_the_text_of_hopeless_html_does_not_take_long(piece: str) -> None:
    html = piece * (MAX_PROCESS_CHARS // len(piece))
    started = time.process_time()
    assert text_fallback(html).truncated
    assert time.process_time() - started < 3


# The frame


def test_the_frame_may_load_nothing() -> None:
    assert FRAME_CSP.startswith("default-src 'none'")


def _attributes_sorted(html: str) -> list[str]:
    return sorted(html.replace(">", " ").split(" "))
