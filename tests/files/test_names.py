"""The name and type of a file are untrusted input: read strictly, kept as data, harmless wherever they are shown."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.errors import Invalid, Refusal
from svc.files.names import DEFAULT_NAME, DEFAULT_TYPE, MAX_NAME_BYTES, name_from_header, safe_name, type_from_headers


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("Angebot%20f%C3%BCr%20Mia.pdf", "Angebot für Mia.pdf"),
        ("%E5%A0%B1%E5%91%8A.txt", "報告.txt"),
        ("a b+c&d.txt", "a b+c&d.txt"),
        ("100%25.txt", "100%.txt"),
        ("%2525.txt", "%25.txt"),  # decoded once
        (".bashrc", ".bashrc"),
        ("archive.tar.gz", "archive.tar.gz"),
        ("CON", "CON"),  # no name of a device means anything to us: nobody opens a file by it
        ("a..b", "a..b"),
    ],
)
def test_a_name_is_read_as_it_was_written(header: str, name: str) -> None:
    assert name_from_header(header) == name


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\windows\\system.ini", "system.ini"),
        ("C:\\temp\\a.txt", "a.txt"),
        ("C:a.txt", "a.txt"),
        ("/etc/", "etc"),
        ("a/../../b", "b"),
        ("a\r\nSet-Cookie: evil=1", "a Set-Cookie: evil=1"),
        ("a\nb\u2028c\u2029d\x85e.txt", "a b c d e.txt"),
        ("a\0.png", "a.png"),
        ("a\x1b[31m\x7f\x9b.txt", "a[31m.txt"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),  # shown right to left it would end in .pdf
        ("a\u2066b\u2069\u200e\u061c.txt", "ab.txt"),
        ("pa\u200bss\ufeff\u00ad.txt", "pass.txt"),
        ("a\U000e0041.txt", "a.txt"),
        ("می\u200cخواهم.txt", "می\u200cخواهم.txt"),  # a word that needs its non-joiner
        ("👩\u200d🎨.png", "👩\u200d🎨.png"),
        ("inv\u200doi\u200cce.pdf", "invoice.pdf"),
        ('  "quoted.txt"  ', "quoted.txt"),
        ("'C:\"D:a\"..' .", "a"),
        ("trailing. . ", "trailing"),
        ("x\ue000\U0010ffff.txt", "x.txt"),
        ("", DEFAULT_NAME),
        (".", DEFAULT_NAME),
        ("..", DEFAULT_NAME),
        ("///", DEFAULT_NAME),
        (" \t\r\n", DEFAULT_NAME),
        ("\u202e\u200b", DEFAULT_NAME),
        ("\u200d\u200c", DEFAULT_NAME),
    ],
)
def test_nothing_of_a_path_nor_of_what_hides_or_reorders_is_left(raw: str, name: str) -> None:
    assert safe_name(raw) == name
    assert name_from_header(quote(raw)) == name


@pytest.mark.parametrize(
    "header", ["%", "a%", "a%4", "a%zz", "%u0041", "a%%41", "%ff", "%c3", "%ed%a0%80", "%c0%af", "caf\xe9", "a\tb"]
)
def test_what_is_no_percent_encoded_utf_8_is_refused(header: str) -> None:
    with pytest.raises(Invalid):
        name_from_header(header)


def test_without_a_name_there_is_a_default() -> None:
    assert name_from_header(None) == DEFAULT_NAME


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("x" * 255, "x" * 255),
        ("x" * 256, "x" * 255),
        ("x" * 300 + ".pdf", "x" * 251 + ".pdf"),
        ("x" * 300 + "." + "y" * 30, "x" * 255),
        ("é" * 200 + ".txt", "é" * 125 + ".txt"),
        ("." + "x" * 300, "." + "x" * 254),
    ],
)
def test_a_long_name_is_cut_before_its_extension(raw: str, name: str) -> None:
    assert safe_name(raw) == name


ODD = st.text(alphabet=st.sampled_from("aZ:/\\.\"' \u200c\u200d\u202eéя\n"), max_size=40)


@given(st.one_of(st.text(max_size=600), ODD, ODD.map(lambda text: "x" * 240 + text), ODD.map(lambda text: text * 20)))
def test_any_name_becomes_one_visible_component_that_stays_as_it_is(raw: str) -> None:
    name = safe_name(raw)
    assert 0 < len(name.encode()) <= MAX_NAME_BYTES
    assert not set(name) & set("/\\\0\r\n\t")
    assert name not in {".", ".."}
    assert all(symbol.isprintable() or symbol in "\u200c\u200d" for symbol in name)
    assert safe_name(name) == name


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=60))
def test_any_header_is_a_name_or_refused(header: str) -> None:
    with suppress(Invalid):
        assert name_from_header(header)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["image/png"], "image/png"),
        ([" text/plain; charset=utf-8 "], "text/plain; charset=utf-8"),
        (["application/vnd.oasis.opendocument.text"], "application/vnd.oasis.opendocument.text"),
        ([], DEFAULT_TYPE),
        ([""], DEFAULT_TYPE),
        (["nonsense"], DEFAULT_TYPE),
        (["a/b/c"], DEFAULT_TYPE),
        (["text/html, image/png"], DEFAULT_TYPE),
        (["text/plain; name=\xe9"], DEFAULT_TYPE),
        (["text/html", "image/png"], DEFAULT_TYPE),
        (["a/" + "b" * 300], DEFAULT_TYPE),
    ],
)
def test_a_type_is_kept_if_it_is_one(values: list[str], kind: str) -> None:
    assert type_from_headers(values) == kind


@pytest.mark.parametrize(
    "values", [["multipart/form-data; boundary=x"], ["MULTIPART/mixed"], ["image/png", " multipart/form-data"]]
)
def test_a_form_is_refused(values: list[str]) -> None:
    with pytest.raises(Refusal) as refusal:
        type_from_headers(values)
    assert refusal.value.row.status == 415
