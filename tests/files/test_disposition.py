"""Which files a browser may show inline, and how names are written into a header."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.files.disposition import content_disposition, content_type, may_show_inline

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 24


@pytest.mark.parametrize(
    ("mime", "head"),
    [
        ("image/png", PNG),
        ("IMAGE/PNG; name=x", PNG),
        ("image/jpeg", b"\xff\xd8\xff\xe0"),
        ("image/webp", b"RIFF\0\0\0\0WEBPVP8 "),
        ("video/mp4", b"\0\0\0\x18ftypmp42"),
        ("text/plain", b"hello"),
    ],
)
def test_what_cannot_run_is_shown_in_place(mime: str, head: bytes) -> None:
    assert may_show_inline(mime, head)


@pytest.mark.parametrize(
    ("mime", "head"),
    [
        ("text/html", b"<html>"),
        ("image/svg+xml", b"<svg>"),
        ("application/pdf", b"%PDF-1.7"),
        ("application/xml", b"<?xml"),
        ("application/octet-stream", PNG),
        ("image/png", b"<html><script>"),
        ("image/webp", b"RIFF\0\0\0\0WAVE"),
        ("text/plain", b"\0\0binary"),
        ("", b""),
    ],
)
def test_what_a_browser_could_run_or_what_lies_about_itself_is_an_attachment(mime: str, head: bytes) -> None:
    assert not may_show_inline(mime, head)


RUNNABLE = [
    "text/html",
    "text/html; charset=x",
    "text/html,image/png",
    "TEXT/HTML",
    "application/xhtml+xml",
    "image/svg+xml",
    "application/xml",
    "text/xml",
    "text/xsl",
    "application/rss+xml",
    "application/mathml+xml",
    "text/javascript",
    "application/javascript",
    "application/x-javascript",
    "application/ecmascript",
    "text/jscript",
    "text/livescript",
    "text/javascript1.5",
    "text/css",
    "application/wasm",
    "multipart/related",
    "message/rfc822",
    "nonsense",
    "a/b/c",
    "a /b",
    "*/*",
    "a/b\r\nX: y",
]


@pytest.mark.parametrize("mime", RUNNABLE)
def test_a_type_that_could_run_is_never_declared(mime: str) -> None:
    assert content_type(mime, inline=False) == "application/octet-stream"


@pytest.mark.parametrize(
    "mime",
    [
        "application/pdf",
        "application/zip",
        "text/csv",
        "image/png",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ],
)
def test_a_type_that_is_only_kept_or_saved_is_declared(mime: str) -> None:
    assert content_type(mime, inline=False) == mime


def test_a_name_goes_out_in_both_forms() -> None:
    assert (
        content_disposition("Angebot für Mia.pdf", inline=False)
        == "attachment; filename=\"Angebot f_r Mia.pdf\"; filename*=UTF-8''Angebot%20f%C3%BCr%20Mia.pdf"
    )


@pytest.mark.thorough
@given(st.text())
def test_no_name_breaks_out_of_its_header(name: str) -> None:
    header = content_disposition(name, inline=False)
    assert header.isascii()
    assert header.isprintable()
    quoted = header.split('filename="')[1].split('"; filename*=')[0]
    assert '"' not in quoted
    assert "\\" not in quoted
