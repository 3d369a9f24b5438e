"""The readers of header values: encoded words, addresses, dates, parameters and the names of files."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from svc.formats.mime import parse_message
from svc.formats.mime.addresses import parse_addresses
from svc.formats.mime.dates import parse_date
from svc.formats.mime.fields import disposition, media_type, text_of
from svc.formats.mime.model import MAX_ADDRESS_CHARS, MAX_FILENAME_BYTES, MAX_LINE_CHARS, Problems
from svc.formats.mime.names import safe_filename
from svc.formats.mime.words import header_line


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("plain", "plain"),
        ("=?utf-8?q?a_b=5F=C3=A9?=", "a b_é"),
        ("=?UTF-8?b?w6k=?=", "é"),
        ("=?utf-8?b?w6k?=", "é"),
        ("=?utf-8?b?w6k===?=", "é"),
        ("=?utf-8*en?q?a?=", "a"),
        ("=?utf-8?q?a?= =?utf-8?q?b?=", "ab"),
        ("=?utf-8?q?a?= =?iso-8859-1?q?b?=", "ab"),
        ("=?utf-8?q?a?= x =?utf-8?q?b?=", "a x b"),
        ("=?utf-8?q?=C3?= =?UTF-8?q?=A9?=", "é"),
        ("pre=?utf-8?q?a?=post", "preapost"),
        ("=?utf-8?q?a?==?utf-8?q?b?=", "ab"),
        ("=?utf-8?q?with blanks inside?=", "with blanks inside"),
        ("=?utf-8?q?really??=", "really?"),
        ("=?utf-8?q?broken =?utf-8?q?whole?=", "=?utf-8?q?broken whole"),
        ("=?utf-8?q?never ends", "=?utf-8?q?never ends"),
        ("=?utf-8?x?a?=", "=?utf-8?x?a?="),
        ("=?gb2312?B?1tDOxA==?=", "中文"),
        ("=?ks_c_5601-1987?B?x9Gx2w==?=", "한글"),
        ("=?shift_jis?B?k/qWew==?=", "日本"),
        ("=?utf-7?q?+AOk-?=", "é"),
        ("=?zlib?b?eJw=?=", "xœ"),
        ("=?utf-7?q?+2AA-?=", "\ufffd"),
        ("a\u202eb\u200bc\u2028d\u00ade", "abc de"),
        ("pay\u200dpal", "paypal"),
        ("می\u200cخواهم \U0001f469\u200d\U0001f4bb", "می\u200cخواهم \U0001f469\u200d\U0001f4bb"),
    ],
)
def test_a_subject_reads(written: str, read: str) -> None:
    assert header_line(written, problems=Problems()) == read


def test_a_line_without_end_is_cut_with_an_ellipsis() -> None:
    line = header_line("a" * (MAX_LINE_CHARS * 2), problems=Problems())
    assert len(line) == MAX_LINE_CHARS
    assert line.endswith("…")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a@b.example", [("", "a@b.example")]),
        ("<a@b.example>", [("", "a@b.example")]),
        ("Ann <a@b.example>", [("Ann", "a@b.example")]),
        ('"Ann, of B" <a@b.example>', [("Ann, of B", "a@b.example")]),
        (r'"Ann \"A\" B" <a@b.example>', [('Ann "A" B', "a@b.example")]),
        ("a@b.example (Ann B)", [("Ann B", "a@b.example")]),
        ("a@b.example (Ann (the (first)))", [("Ann (the (first))", "a@b.example")]),
        ("Ann (B) <a@b.example>", [("Ann", "a@b.example")]),
        ("a@b, c@d ,, e@f", [("", "a@b"), ("", "c@d"), ("", "e@f")]),
        ("a@b; c@d", [("", "a@b"), ("", "c@d")]),
        ("Team: a@b, Jo <c@d>; e@f", [("", "a@b"), ("Jo", "c@d"), ("", "e@f")]),
        ("undisclosed-recipients:;", []),
        ("<undisclosed-recipients:;>", []),
        ("Ann a@b.example", [("Ann", "a@b.example")]),
        ("a@b.example <a@b.example>", [("a@b.example", "a@b.example")]),
        ("Ann <a@b.example", [("Ann", "a@b.example")]),
        ("Ann <a@b>, Bo <c@d", [("Ann", "a@b"), ("Bo", "c@d")]),
        ("Ann <a@b> Bo <c@d>", [("Ann", "a@b"), ("Bo", "c@d")]),
        ("<<a@b.example>>", [("", "a@b.example")]),
        ("<@relay,@other:a@b.example>", [("", "a@b.example")]),
        ("<mailto:a@b.example>", [("", "a@b.example")]),
        ("a @ b . example", [("", "a@b.example")]),
        ("Jo a @b.example", [("Jo", "a@b.example")]),
        ("Ann [a@b.example]", [("Ann", "a@b.example")]),
        ("Ann (a@b.example)", [("Ann", "a@b.example")]),
        ("Ann <Ann> a@b.example", [("Ann Ann", "a@b.example")]),
        ('"a@b.example" <Ann>', [("Ann", "a@b.example")]),
        ("Ann <a@b.example:;>", [("Ann", "a@b.example")]),
        ("Ann <smtp:a@b.example>", [("Ann", "a@b.example")]),
        ("a@b.example:;", [("", "a@b.example")]),
        ("<a @ b.example>", [("", "a@b.example")]),
        ('"john doe"@b.example', [("", '"john doe"@b.example')]),
        ("a@[IPv6:::1]", [("", "a@[IPv6:::1]")]),
        ("a@evil.example@good.example", [("", "a@evil.example@good.example")]),
        ('"a@good.example" <x@evil.example>', [("a@good.example", "x@evil.example")]),
        ("root", [("", "root")]),
        ("Mail Delivery System", [("Mail Delivery System", "")]),
        ("Ann <>", [("Ann", "")]),
        ('Ann "B <a@b.example>', [("Ann B", "a@b.example")]),
        ("Ann (B <a@b.example>", [("Ann B", "a@b.example")]),
        ("=?utf-8?q?D=C3=B6?= =?utf-8?q?_X?= <a@b>", [("Dö X", "a@b")]),
        ('"=?utf-8?q?D=C3=B6?=" <a@b>', [("Dö", "a@b")]),
        ("=?utf-8?q?Doe, Jo?= <a@b>", [("Doe, Jo", "a@b")]),
        ("=?utf-8?q?Jo_<a=40b.example>?=", [("Jo", "a@b.example")]),
        ("=?utf-8?q?a=2C_c=40d?= <a@b>", [("a, c@d", "a@b")]),
        ("ann\u202e@b\u200b.example", [("", "ann@b.example")]),
        ("jörg@bücher.example", [("", "jörg@bücher.example")]),
        (',;:<>()"', []),
        ("", []),
    ],
)
def test_an_address_list_reads(written: str, read: list[tuple[str, str]]) -> None:
    found = parse_addresses([written], problems=Problems())
    assert [(one.name, one.address) for one in found] == read


@pytest.mark.parametrize(
    ("written", "sender", "named"),
    [
        ("Facebook ,_<bad@evil.example>", ("Facebook, _", "bad@evil.example"), 2),
        ('"PayPal"<69496118<info@evil.example>', ("PayPal", "info@evil.example"), 2),
        ("service@paypal.com, <bad@evil.example>", ("", "service@paypal.com"), 2),
        ("Doe, John <j@x.example>", ("Doe, John", "j@x.example"), 2),
        ("PayPal, Inc. <service> <bad@evil.example>", ("PayPal, Inc.", "bad@evil.example"), 3),
        ("PayPal; <bad@evil.example>", ("PayPal", "bad@evil.example"), 2),
        ("PayPal <>, bad@evil.example", ("PayPal", "bad@evil.example"), 2),
        ("PayPal", ("", "PayPal"), 1),
        ("Ann <a@b.example>, Bo <c@d.example>", ("Ann", "a@b.example"), 2),
    ],
)
def test_the_sender_is_the_first_who_has_an_address(written: str, sender: tuple[str, str], named: int) -> None:
    message = parse_message(f"From: {written}\nTo: a@b\n\n".encode())
    assert message.sender is not None
    assert (message.sender.name, message.sender.address) == sender
    assert len(message.senders) == named


def test_a_name_without_an_address_gets_the_one_of_who_handed_it_in() -> None:
    message = parse_message(b"From: PayPal\nSender: x, <bad@evil.example>\n\n")
    assert message.sender is not None
    assert (message.sender.name, message.sender.address) == ("PayPal", "bad@evil.example")


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (b"=?iso-8859-1?q?Fr\xf6sche?=", "Frösche"),
        (b"=?iso-8859-1?Q?Fr\xc3\xb6sche?=", "Frösche"),
        (b"=?utf-8?q?Fr\xc3\xb6sche_=C3=A4?=", "Frösche ä"),
        (b"=?koi8-r?q?\xf0\xd2\xc9?=", "При"),
        (b"=?utf-8?q?Fr\xf6sche?=", "Frösche"),
        (b"caf\xc3\xa9 =?iso-8859-1?q?Fr\xf6sche?= caf\xc3\xa9", "café Frösche café"),
        (b"=?x-klingon?q?Fr\xf6sche?=", "Frösche"),
        (b"Fr\xc3\xb6sche =?utf-8?q?=C3=B6?=", "Frösche ö"),
    ],
)
def test_bare_bytes_in_an_encoded_word_are_read_as_what_they_are(raw: bytes, read: str) -> None:
    message = parse_message(b"Subject: " + raw + b"\nFrom: " + raw + b" <a@b.example>\n\n")
    assert message.subject == read
    assert message.sender is not None
    assert (message.sender.name, message.sender.address) == (read, "a@b.example")


def test_fields_of_one_kind_are_one_list() -> None:
    message = parse_message(b"To: a@b\nTo: c@d\n\n")
    assert [one.address for one in message.to] == ["a@b", "c@d"]


def test_an_address_longer_than_a_line_is_no_address() -> None:
    problems = Problems()
    (mailbox,) = parse_addresses([f"Ann <{'a' * MAX_ADDRESS_CHARS}@b>"], problems=problems)
    assert (mailbox.name, mailbox.address) == ("Ann", "")
    assert problems.notes


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Tue, 27 Oct 2026 09:00:00 +0100", "2026-10-27T08:00:00"),
        ("27 Oct 2026 08:00 GMT", "2026-10-27T08:00:00"),
        ("Tue,27 Oct 2026 08:00:00 +0000 (UTC (really))", "2026-10-27T08:00:00"),
        ("Tuesday, 27 October 2026 08:00:00 Z", "2026-10-27T08:00:00"),
        ("Tue, 27 Oct 2026 01:00:00 PDT", "2026-10-27T08:00:00"),
        ("Tue, 27 Oct 2026 08:00:00 NOWHERE", "2026-10-27T08:00:00"),
        ("Tue, 27 Oct 2026 08:00:00 -0000", "2026-10-27T08:00:00"),
        ("Tue, 27 Oct 2026 08:00:00", "2026-10-27T08:00:00"),
        ("Tue, 27 Oct 2026 10:00:00 GMT+02:00", "2026-10-27T08:00:00"),
        ("Tue, 27 Oct 2026 08:00:00 +9900", "2026-10-27T08:00:00"),
        ("Tue, 27 Oct 2026 1:30:00 PM +0530", "2026-10-27T08:00:00"),
        ("27-Oct-26 08:00:00", "2026-10-27T08:00:00"),
        ("Thu, 22 Aug 102 12:00:00 +0000", "2002-08-22T12:00:00"),
        ("Thu, 22 Aug 0102 12:00:00 +0000", "2002-08-22T12:00:00"),
        ("Wed, 1 Jan 70 00:00:00 +0000", "1970-01-01T00:00:00"),
        ("Sat, 31 Dec 2016 23:59:60 +0000", "2016-12-31T23:59:59"),
        ("Thu Aug 22 12:36:23 2002", "2002-08-22T12:36:23"),
        ("Thu Aug 22 12:36:23 EDT 2002", "2002-08-22T16:36:23"),
        ("Aug 22, 2002 12:36:23", "2002-08-22T12:36:23"),
        ("2002-08-22T12:36:23.5Z", "2002-08-22T12:36:23"),
        ("2002/09/14 Sat 13:06:03 GMT", "2002-09-14T13:06:03"),
        ("22 Aug 2002", "2002-08-22T00:00:00"),
    ],
)
def test_a_date_reads(written: str, read: str) -> None:
    expected = datetime.fromisoformat(read).replace(tzinfo=UTC)
    assert parse_date(written) == round(expected.timestamp() * 1_000)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "yesterday",
        "Tue, 30 Feb 2026 09:00:00 +0000",
        "Tue, 27 Oct 2026 25:00:00 +0000",
        "Tue, 27 Foo 2026 09:00:00 +0000",
        "Wed, 31 Dec 1969 23:59:59 +0000",
        "Thu, 1 Jan 1970 00:00:00 +0100",
        "31 Dec 9999 23:59:59 -0100",
        "9" * 200,
    ],
)
def test_what_is_no_date_or_out_of_range_is_none(written: str) -> None:
    assert parse_date(written) is None


@pytest.mark.parametrize(
    ("written", "mime", "charset"),
    [
        ("Text/HTML; Charset=UTF-8", "text/html", "UTF-8"),
        ('text/plain; charset="utf-8"; format=flowed', "text/plain", "utf-8"),
        ("text/plain charset=us-ascii", "text/plain", "us-ascii"),
        ("text/plain; charset = 'koi8-r' junk", "text/plain", "koi8-r"),
        ('text/plain;; ;charset="utf-8', "text/plain", "utf-8"),
        ('text/plain; x="a;charset=no"; charset=yes', "text/plain", "yes"),
        ("text/plain; charset=one; charset=two", "text/plain", "one"),
        ("text", "", ""),
        ("", "", ""),
    ],
)
def test_a_content_type_reads(written: str, mime: str, charset: str) -> None:
    found, parameters = media_type(written)
    assert found == mime
    assert (parameters.get("charset", "").strip("'").split("'")[0]) == charset


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("attachment; filename=a.txt", "a.txt"),
        ("attachment; filename=two words.txt", "two words.txt"),
        ('attachment; filename="a;b.txt"', "a;b.txt"),
        ("attachment; filename*=utf-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
        ("attachment; filename*=iso-8859-1'en'%A3.txt; filename=pound.txt", "£.txt"),
        ("attachment; filename*0*=utf-8''%e2%82; filename*1*=%ac; filename*2=\".txt\"", "€.txt"),
        ("attachment; filename*1=b.txt; filename*0=a", "ab.txt"),
        ("attachment; filename*0=a; filename*2=c", "a"),
        ("attachment; filename*=broken%zz", "broken%zz"),
        ('attachment; filename="=?utf-8?q?r=C3=A9sum=C3=A9.pdf?="', "résumé.pdf"),
        ('attachment; filename="=?utf-8?q?r=C3=A9?=\n =?utf-8?q?sum=C3=A9.pdf?="', "résumé.pdf"),
        (r'attachment; filename="a \"b\".txt"', 'a "b".txt'),
        ("filename=no-token.txt", "no-token.txt"),
    ],
)
def test_a_filename_parameter_reads(written: str, read: str) -> None:
    _, parameters = disposition(written)
    assert text_of(parameters, "filename", problems=Problems()) == read


@pytest.mark.parametrize(
    ("raw", "mime", "name"),
    [
        ("a.txt", "text/plain", "a.txt"),
        ("../../etc/passwd", "text/plain", "passwd"),
        ("C:\\a\\b.txt", "text/plain", "b.txt"),
        ("C:b.txt", "text/plain", "b.txt"),
        ("/", "application/pdf", "attachment.pdf"),
        ("..", "application/pdf", "attachment.pdf"),
        ("", "message/rfc822", "message.eml"),
        ("\u202e\u200b", "x/y", "attachment.bin"),
        ("gpj\u202e.exe", "x/y", "gpj.exe"),
        ("a\r\nX: y\x00.txt", "text/plain", "a X: y.txt"),
        ("name. . ", "text/plain", "name"),
        (".bashrc", "text/plain", ".bashrc"),
    ],
)
def test_a_filename_is_made_harmless(raw: str, mime: str, name: str) -> None:
    assert safe_filename(raw, mime=mime) == name


def test_a_long_filename_keeps_its_extension_within_255_bytes() -> None:
    name = safe_filename("é" * 300 + ".pdf", mime="application/pdf")
    assert name.endswith("é.pdf")
    assert len(name.encode()) <= MAX_FILENAME_BYTES
    assert len(safe_filename("x." + "é" * 300, mime="a/b").encode()) <= MAX_FILENAME_BYTES


@pytest.mark.parametrize(
    ("header", "read"),
    [
        ("<a@b>", ("a@b",)),
        ("<a@b><c@d>", ("a@b", "c@d")),
        ("<a@b> (comment) <a@b>", ("a@b",)),
        ("<folded\n @id>", ("folded@id",)),
        ("a@b c@d", ("a@b", "c@d")),
        ("<broken@b", ("broken@b",)),
        ("<>", ()),
    ],
)
def test_references_read(header: str, read: tuple[str, ...]) -> None:
    assert parse_message(f"References: {header}\n\n".encode()).references == read


def test_an_old_in_reply_to_names_the_message_not_its_sender() -> None:
    raw = b'In-Reply-To: Message from Ann <ann@x> of "Thu, 22 Aug 2002." <real@id>\n\n'
    assert parse_message(raw).in_reply_to == "real@id"
