"""Mails made to exhaust the parser: each is read in bounded time, and time grows no faster than the mail."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

import pytest

from svc.formats.mime import parse_message

SIZE: Final = 1_000_000
MAX_CPU_S: Final = 10.0
"""Quadratic time would take minutes at this size; the slowest bomb here takes two seconds on one old core."""

MIXED: Final = b"Content-Type: multipart/mixed; boundary=b\n\n"


def filled(before: bytes, unit: bytes, after: bytes = b"\n\nx") -> bytes:
    return before + unit * (SIZE // len(unit)) + after


def filled_header(name: bytes, unit: bytes, before: bytes = b"") -> bytes:
    """Just below the limit on header bytes, so that it is all read."""
    return name + b": " + before + unit * (250_000 // len(unit)) + b"\n\nx"


def nested(depth: int, *, boundary: Callable[[int], bytes], filler: bytes = b"") -> bytes:
    return b"".join(
        b"Content-Type: multipart/mixed; boundary=%s\n%s\n\n--%s\n" % (boundary(level), filler, boundary(level))
        for level in range(depth)
    )


BOMBS: Final[Mapping[str, bytes]] = {
    "nested_5000_deep": nested(5_000, boundary=lambda level: b"b%d" % level),
    "nested_5000_deep_with_one_boundary": nested(5_000, boundary=lambda level: b"b"),
    "nested_with_prefix_boundaries_and_near_misses": nested(40, boundary=lambda level: b"b" * (level + 1))
    + (b"\n--" + b"b" * 45) * 40_000,
    "nested_below_long_headers": nested(33, boundary=lambda level: b"b%d" % level, filler=b"x: y\n" * 60_000)
    + b"\n--" * 200_000,
    "ten_thousand_parts": MIXED + b"--b\n\nx\n" * 10_000,
    "ten_thousand_empty_parts": MIXED + b"--b\n" * 10_000,
    "a_thousand_parts_of_headers": MIXED + (b"--b\n" + b"a:b\n" * 500 + b"\n") * 1_000,
    "headers_that_never_end": MIXED + (b"--b\n" + b"a:b\n" * 70_000) * 8,
    "nothing_but_near_boundaries": filled(MIXED, b"\n--"),
    "long_near_boundaries": filled(MIXED, b"\n--" + b"b" * 300),
    "multiparts_that_never_say_their_boundary": MIXED
    + (b"--b\nContent-Type: multipart/mixed\n\n" + b"--x\n" * 16_000) * 30,
    "five_megabyte_header_line": b"Subject: " + b"a" * 5_000_000 + b"\n\nx",
    "five_megabyte_folded_header": b"Subject: a" + b"\n a" * 1_700_000 + b"\n\nx",
    "five_megabytes_of_tiny_fields": b"a:\n" * 1_700_000 + b"\nx",
    "empty_lines": filled(b"", b"\r\n"),
    "carriage_returns": filled(b"a: b\n\n", b"\r"),
    "nuls": filled(b"a: b\n\n", b"\0"),
    "encoded_words_never_ended": filled_header(b"Subject", b"=?x?q?"),
    "encoded_words_ended_once": filled_header(b"Subject", b"=?x?q?") + b"?=",
    "encoded_words_within_words": filled_header(b"Subject", b"=?x?q?=?"),
    "encoded_words_of_many_charsets": b"Subject: " + b"".join(b"=?x%d?q?a?=" % n for n in range(15_000)) + b"\n\nx",
    "comments_never_ended": filled_header(b"To", b"("),
    "comments_nested": b"To: " + b"(" * 120_000 + b")" * 120_000 + b"\n\nx",
    "quotes_never_ended": filled_header(b"To", b'"\\'),
    "groups_in_groups": filled_header(b"To", b"a:"),
    "brackets": filled_header(b"To", b"<"),
    "brackets_never_ended": filled_header(b"To", b"<a"),
    "commas": filled_header(b"To", b","),
    "at_signs": filled_header(b"To", b"a@"),
    "colons": filled_header(b"To", b":", before=b"a@"),
    "one_long_name": filled_header(b"To", b"a "),
    "many_addresses": filled_header(b"To", b"a@b,"),
    "quoted_local_parts": filled_header(b"To", b'"a"@'),
    "semicolons": filled_header(b"Content-Type", b";", before=b"a/b"),
    "parameters_never_ended": filled_header(b"Content-Type", b'a="\\', before=b"a/b; "),
    "parameter_segments": filled_header(b"Content-Type", b"name*1*=a;", before=b"a/b; "),
    "blanks_before_a_type": filled_header(b"Content-Type", b" \t"),
    "slashes_in_a_type": filled_header(b"Content-Type", b"a/"),
    "a_long_filename": filled_header(b"Content-Disposition", b"/..", before=b"attachment; filename="),
    "digits_for_a_date": filled_header(b"Date", b"1"),
    "commas_for_a_date": filled_header(b"Date", b" ,"),
    "message_ids_never_ended": filled_header(b"References", b"<a"),
    "many_message_ids": filled_header(b"References", b"<a>"),
    "base64_of_paddings": filled(b"Content-Transfer-Encoding: base64\n\n", b"A="),
    "base64_of_junk": filled(b"Content-Transfer-Encoding: base64\n\n", b"!A"),
    "blanks_in_quoted_printable": filled(b"Content-Transfer-Encoding: quoted-printable\n\n", b" "),
    "blank_lines_in_quoted_printable": filled(b"Content-Transfer-Encoding: quoted-printable\n\n", b" \n"),
    "signs_in_quoted_printable": filled(b"Content-Transfer-Encoding: quoted-printable\n\n", b"=\r"),
    "one_line_of_uuencode": filled(b"Content-Transfer-Encoding: x-uuencode\n\nbegin 644 x\n", b"M"),
    "tiny_lines_of_uuencode": filled(b"Content-Transfer-Encoding: x-uuencode\n\nbegin 644 x\n", b"!\n"),
    "tags": filled(b"Content-Type: text/html\n\n", b"<a"),
    "comments_in_html": filled(b"Content-Type: text/html\n\n", b"<!--"),
    "digits_in_html": filled(b"Content-Type: text/html\n\n&#", b"9"),
    "versions_of_one_text": b"Content-Type: multipart/alternative; boundary=b\n\n"
    + (b"--b\nContent-Type: text/html\n\n" + b"x" * 2_000 + b"\n") * 999,
}


@pytest.mark.share(3)
@pytest.mark.thorough
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_read_in_bounded_time(name: str) -> None:
    raw = BOMBS[name]
    before = time.process_time()
    message = parse_message(raw)
    assert time.process_time() - before < MAX_CPU_S
    assert message.size == len(raw)


@pytest.mark.share(3)
@pytest.mark.thorough
@pytest.mark.parametrize(
    "charset", ["utf-7", "utf-8", "gb18030", "iso-2022-jp", "hz", "big5", "euc-kr", "utf-16", "cp1252"]
)
def test_damage_in_any_charset_is_read_in_bounded_time(charset: str) -> None:
    head = f"Content-Type: text/plain; charset={charset}\n\n".encode()
    for unit in (b"\xff", b"\x81 ", b"+AA!", b"\x1b$B", b"~{", b"\0\xd8"):
        before = time.process_time()
        parse_message(filled(head, unit))
        assert time.process_time() - before < MAX_CPU_S
