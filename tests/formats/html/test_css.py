"""Inline styles: what is known to be harmless comes out as it was meant, anything else not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.formats.html.css import FUNCTIONS, MAX_STYLE_CHARS, PROPERTIES, clean_style


@pytest.mark.parametrize(
    ("style", "kept"),
    [
        ("color: #FFF; font-size:14PX", "color:#fff;font-size:14px"),
        ("margin:0 auto;padding:.5em 1.25rem", "margin:0 auto;padding:.5em 1.25rem"),
        ('font-family:"Segoe UI",Arial,sans-serif', "font-family:'Segoe UI',Arial,sans-serif"),
        ("font:italic bold 12px/1.5 'Gill Sans',serif", "font:italic bold 12px/1.5 'Gill Sans',serif"),
        ("font-family:-apple-system,'微软雅黑'", "font-family:-apple-system,'微软雅黑'"),
        ("font-family:宋体,楷体_GB2312,Neue Haas", "font-family:宋体,楷体_GB2312,Neue Haas"),
        ("color:rgba(0, 0, 0, .5)", "color:rgba(0, 0, 0, .5)"),
        ("background:#fff url(x.png) no-repeat", "background:#fff no-repeat"),
        (
            "background:linear-gradient(90deg,rgb(1,2,3) 0%,#fff)",
            "background:linear-gradient(90deg,rgb(1,2,3) 0%,#fff)",
        ),
        ("color:red!important;display:none ! IMPORTANT", "color:red;display:none"),
        ("color/**/:/* x */red", "color:red"),
        ("letter-spacing:-.02em;text-indent:-10px", "letter-spacing:-.02em;text-indent:-10px"),
        ("mso-table-lspace:0pt;color:red", "color:red"),
    ],
)
def test_what_newsletters_use_is_kept(style: str, kept: str) -> None:
    assert clean_style(style).text == kept


@pytest.mark.parametrize(
    "style",
    [
        "position:fixed",
        "z-index:9",
        "behavior:url(x)",
        "-moz-binding:url(x)",
        "background-image:url(x)",
        "width:expression(1)",
        "width:calc(1px)",
        "width:\\31 px",
        "color:var(--x)",
        "color:rgb(0",
        "color:rgb)0(",
        "color:rgb(hsl(rgb(1)))",
        "color:#12",
        "color:#12345",
        "color:'red'",
        "font-family:'a",
        "font-family:'a\nb'",
        "width:99999px",
        "width:1e3px",
        "width:10vw",
        "margin:-20px",
        "color:red}",
        "color:<!--",
        "color:a@b",
        "--x:1",
        "color",
        "",
    ],
)
def test_what_is_not_known_is_refused(style: str) -> None:
    assert clean_style(style).text == ""


def test_one_refused_declaration_does_not_cost_the_others() -> None:
    assert clean_style("position:fixed;color:red;width:expression(1);height:5px").text == "color:red;height:5px"


@pytest.mark.parametrize(
    ("style", "count"),
    [
        ("background:url(https://a.example/x.png)", 1),
        ("background:url( '//a.example/x.png' );background-image:url(http://a.example/y.png)", 2),
        ("list-style-image:url(//a.example/x.png)", 1),
        ("background:url(data:image/png,xx);background:url(cid:x)", 0),
        ("color:red", 0),
    ],
)
def test_remote_pictures_are_counted(style: str, count: int) -> None:
    assert clean_style(style).blocked_images == count


def test_an_endless_style_is_refused_whole() -> None:
    assert clean_style("color:red;" * MAX_STYLE_CHARS).text == ""


_SIGNS = r"""url ( ) : ; ' " \ /* */ #fff 12px -3em !important , / @import red position fixed { } < é"""
_TOKENS = st.sampled_from((*sorted(PROPERTIES)[:12], *sorted(FUNCTIONS), *_SIGNS.split(), " ", "\n", "\x00"))


@given(st.lists(_TOKENS, max_size=40).map("".join))
def test_clean_style_is_written_the_same_again(style: str) -> None:
    once = clean_style(style).text
    assert clean_style(once).text == once
    assert not set(once) & set("\\@<>{}&!\n\x00")
    assert "url" not in once
    assert once.count("(") == once.count(")")
    assert once.count("'") % 2 == 0
