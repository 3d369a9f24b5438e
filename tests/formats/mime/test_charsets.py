"""Charset labels as real mail writes them, and the transfer encodings with their usual damage."""

from __future__ import annotations

import codecs

import pytest

from svc.formats.mime.charsets import _CODECS, codecs_for, decode
from svc.formats.mime.model import Problems
from svc.formats.mime.transfer import base64_bytes, decode_transfer, quoted_printable_bytes
from tests.support.each import each


@pytest.mark.parametrize(
    ("label", "data", "text"),
    [
        ("utf8", "é".encode(), "é"),
        ('"UTF-8"', "é".encode(), "é"),
        ("latin1", b"\x80\xe9", "€é"),
        ("iso8859-1", b"\x93hi\x94", "“hi”"),
        ("us-ascii", b"caf\xe9", "café"),
        ("us-ascii", "café".encode(), "café"),
        ("ansi_x3.4-1968", b"a", "a"),
        ("default_charset", b"\xe9", "é"),
        ("unknown-8bit", b"\xe9", "é"),
        ("x-user-defined", "é".encode(), "é"),
        ("", b"\xe9", "é"),
        ("windows1251", b"\xcf", "П"),
        ("cp-1251", b"\xcf", "П"),
        ("koi8-r", b"\xf0", "П"),
        ("gb2312", b"\xd6\xd0\x80\x30\x81\x30"[:2], "中"),
        ("GB2312_CHARSET", b"\xd6\xd0", "中"),
        ("ks_c_5601-1987", b"\xc7\xd1", "한"),
        ("euc-kr", b"\xb0\xa2\x8c\x63", "각똠"),
        ("x-sjis", b"\x93\xfa\x87\x40", "日①"),
        ("euc-jp", b"\xc6\xfc", "日"),
        ("big5", b"\xa4\xa4", "中"),
        ("iso-8859-8-i", b"\xe0", "א"),
        ("iso-8859-9", b"\xfd\x80", "ı€"),
        ("tis-620", b"\xa1", "ก"),
        ("utf-7", b"+AOk-", "é"),
        ("utf-16", "é".encode("utf-16-le"), "é"),
        ("utf-16", "é".encode("utf-16"), "é"),
        ("utf-16be", "é".encode("utf-16-be"), "é"),
        ("utf-16", b"not really", "not really"),
        ("iso-8859-1", codecs.BOM_UTF8 + "é".encode(), "é"),
        ("utf-8", b"caf\xe9 na\xefve", "café naïve"),
        ("utf-8", "é".encode() + b"\xe9", "é\ufffd"),
        ("utf-8", b"cut \xe2\x82", "cut â‚"),
        ("=?utf-8?q?x?=", b"a", "a"),
    ],
)
def test_a_label_decodes(label: str, data: bytes, text: str) -> None:
    assert decode(data, label, problems=Problems()) == text


@pytest.mark.parametrize(
    "label",
    [
        "zlib",
        "hex",
        "rot13",
        "rot_13",
        "base64",
        "bz2",
        "quopri",
        "uu",
        "idna",
        "punycode",
        "unicode_escape",
        "raw_unicode_escape",
        "undefined",
        "mbcs",
        "oem",
        "charmap",
        "cp0",
        "x-foo",
        "latin-99",
    ],
)
def test_a_codec_that_is_no_charset_is_unknown(label: str) -> None:
    problems = Problems()
    assert decode(b"caf\xe9 \\x41", label, problems=problems) == "café \\x41"
    assert problems.notes == [f"unknown charset {label}"]


def test_every_codec_of_the_table_is_a_text_encoding_of_this_python() -> None:
    for names in _CODECS.values():
        for name in names:
            assert isinstance(codecs.decode(b"", name), str), name


@each(sorted(_CODECS))
def test_no_bytes_break_a_charset(label: str) -> None:
    everything = bytes(range(256))
    for data in (everything, everything[::-1] * 3, b"\x1b$B\xff", b"+AA\xff", b"~{\xff~}", b"\x81"):
        assert isinstance(decode(data, label, problems=Problems()), str)


def test_a_label_without_end_is_looked_up_by_its_beginning_only() -> None:
    assert codecs_for("utf-8" + " " * 1_000_000 + "x") == ("utf-8",)


@pytest.mark.parametrize(
    ("encoded", "decoded"),
    [
        (b"aGVsbG8=", b"hello"),
        (b"aGVsbG8", b"hello"),
        (b"aGVsbG8===", b"hello"),
        (b"aGVs\r\nbG8=\r\n", b"hello"),
        (b"> aGVs!\n> bG8=\n", b"hello"),
        (b"aGVsbG8=aGVsbG8=", b"hellohello"),
        (b"aGVsbG8=\n____\nA list's footer", b"hello"),
        (b"a", b""),
        (b"=", b""),
        (b"", b""),
        (b"\xff\xfe", b""),
    ],
)
def test_base64_decodes(encoded: bytes, decoded: bytes) -> None:
    assert base64_bytes(encoded) == decoded


@pytest.mark.parametrize(
    ("encoded", "decoded"),
    [
        (b"=C3=A9", b"\xc3\xa9"),
        (b"=c3=a9", b"\xc3\xa9"),
        (b"soft=\nbreak", b"softbreak"),
        (b"soft= \t\r\nbreak", b"softbreak"),
        (b"trailing  \r\nblanks", b"trailing\r\nblanks"),
        (b"trailing \nblank", b"trailing\nblank"),
        (b"trailing\t\r\ntab", b"trailing\r\ntab"),
        (b"trailing\t\ntab", b"trailing\ntab"),
        (b"=ZZ 100% =", b"=ZZ 100% "),
        (b"two  blanks", b"two  blanks"),
    ],
)
def test_quoted_printable_decodes(encoded: bytes, decoded: bytes) -> None:
    assert quoted_printable_bytes(encoded) == decoded


@pytest.mark.parametrize("encoding", ["", "7bit", "8BIT", " binary ", '"7bit"', "8bit; charset=x"])
def test_an_encoding_that_is_none_changes_nothing(encoding: str) -> None:
    problems = Problems()
    assert decode_transfer(b"=41 \xff", encoding, problems=problems) == b"=41 \xff"
    assert problems.notes == []


def test_an_unknown_encoding_changes_nothing_and_is_noted() -> None:
    problems = Problems()
    assert decode_transfer(b"x", "rot13", problems=problems) == b"x"
    assert problems.notes == ["unknown transfer encoding rot13"]


def test_uuencode_survives_stripped_and_overlong_lines() -> None:
    whole = b"begin 644 cat.txt\n#0V%T\n`\nend\ntrailing"
    assert decode_transfer(whole, "x-uuencode", problems=Problems()) == b"Cat"
    assert decode_transfer(b"begin 644 x\n#0V%TJUNK\n$   \nend", "uuencode", problems=Problems())[:3] == b"Cat"
    problems = Problems()
    assert decode_transfer(b"no begin", "uuencode", problems=problems) == b"no begin"
    assert problems.notes == ["uuencoded part without data"]
