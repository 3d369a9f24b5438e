"""The mbox format: what is written is read back to the byte, and what strangers write is read as they mean it."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.formats.mailbox import Mail, TooLong, entry, envelope_date, is_mbox, mails, read_marks, with_marks

NOV_23 = 1_795_415_745_000
"""2026-11-23T06:35:45Z"""

PIECES = (
    b"From a@b.example Mon Jan  1 00:00:00 2024\n",
    b">From x\n",
    b"From foo\n",
    b"Status: RO\r\n",
    b"X-Status: F\r\n",
    b"X-Gmail-Labels: Inbox\n",
    b"X-GM-THRID: 1\r\n",
    b"X-Svc-Unended: yes\r\n",
    b"\r\n",
    b"\n",
    b"\r",
    b"\x00\xff",
    b"Subject: x\r\n",
)
RAW = st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join))
SYSTEM = st.frozensets(st.sampled_from(["INBOX", "UNREAD", "STARRED", "SENT", "TRASH", "CATEGORY_SOCIAL", "IMPORTANT"]))
NAMES = st.one_of(
    st.sampled_from(["Work", "Inbox", "a,b", 'q"uote', '"x"', "Ünïcode", "=?x?=", "Opened", "x" * 225, "日本" * 60]),
    st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30),
)
OWN = st.lists(NAMES, unique=True, max_size=4).map(tuple)


@given(st.lists(st.tuples(RAW, SYSTEM, OWN), max_size=4))
def test_what_is_written_is_read_back_bytes_labels_and_marks(
    written: list[tuple[bytes, frozenset[str], tuple[str, ...]]],
) -> None:
    box = b"".join(
        entry(with_marks(raw, system=system, own=own), sender="a@b.example", at=NOV_23) for raw, system, own in written
    )
    read = list(mails(io.BytesIO(box)))
    assert all(isinstance(mail, Mail) and mail.at == NOV_23 for mail in read)
    found = [read_marks(mail.raw) for mail in read if isinstance(mail, Mail)]
    assert [(raw, marks.system, marks.own) for marks, raw in found] == written


@pytest.mark.parametrize(
    ("line", "at"),
    [
        (b"From 1789@xxx Mon Nov 23 06:35:45 +0000 2026", NOV_23),
        (b"From - Mon Nov 23 06:35:45 2026", NOV_23),
        (b"From a b@c.example Mon Nov 23 06:35 2026", NOV_23 - 45_000),
        (b"From a@b.example Mon, 23 Nov 2026 07:35:45 +0100", NOV_23),
        (b"From MAILER-DAEMON Mon Nov 23 06:35:45 EST 2026", NOV_23),
        (b"From the desk of Bob", None),
        (b"From a@b.example Mon Feb 31 06:35:45 2026", None),
        (b"From me to you on Mon Nov 23", None),
        (b"from a@b.example Mon Nov 23 06:35:45 2026", None),
        (b"From " + b"x" * 2_000 + b" Mon Nov 23 06:35:45 2026", None),
    ],
)
def test_only_a_line_with_a_date_begins_a_mail(line: bytes, at: int | None) -> None:
    assert envelope_date(line) == at


def test_a_line_that_begins_with_from_and_has_no_date_belongs_to_its_mail() -> None:
    box = b"From a@b.example Mon Nov 23 06:35:45 2026\nSubject: x\n\nFrom here on\nall is well\n\n"
    assert [mail.raw for mail in mails(io.BytesIO(box)) if isinstance(mail, Mail)] == [
        b"Subject: x\n\nFrom here on\nall is well\n"
    ]


@pytest.mark.parametrize("line", [b"From \r\n", b"From - \r\n", b"From a@b.example\r\n"])
def test_a_line_without_a_date_begins_a_mail_between_a_blank_line_and_a_header(line: bytes) -> None:
    first = b"X-Mozilla-Status: 0001\r\nSubject: a\r\n\r\nx\r\nFrom \r\nTo: you\r\nCc: me\r\n\r\nFrom \r\nhere: on\r\n"
    second, dated = b"Received: by x;\r\n  Mon\r\n\r\n", b"From - Mon Nov 23 06:35:45 2026\r\n"
    box = line + first + b"all is well\r\n\r\n" + line + second + b"\r\n" + dated + b"Subject: b\r\n\r\n\r\n"
    assert is_mbox(box[:2_000])
    assert list(mails(io.BytesIO(box))) == [
        Mail(first + b"all is well\r\n", None),
        Mail(second, None),
        Mail(b"Subject: b\r\n\r\n", NOV_23),
    ]
    assert not is_mbox(line + b"hello there\r\n")


def test_line_ends_stay_as_they_are_and_the_blank_line_between_two_mails_goes() -> None:
    first, second = b"Subject: a\r\n\r\nx\r\n", b"Subject: b\r\n\r\n\r\n"
    line = b"From a@b.example Mon Nov 23 06:35:45 2026\r\n"
    box = line + first + b"\r\n" + line + second + b"\r\n"
    assert [mail.raw for mail in mails(io.BytesIO(box)) if isinstance(mail, Mail)] == [first, second]


def test_a_mail_that_is_too_long_is_passed_over_and_the_next_is_read() -> None:
    line = b"From a@b.example Mon Nov 23 06:35:45 2026\n"
    box = line + b"x" * 5_000 + b"\n\n" + line + b"Subject: b\n\n"
    found = list(mails(io.BytesIO(box), limit=1_000))
    assert isinstance(found[0], TooLong)
    assert found[0].size > 5_000
    assert found[1] == Mail(b"Subject: b\n", NOV_23)


@given(st.binary(max_size=400))
def test_any_bytes_are_read_to_their_end(data: bytes) -> None:
    for mail in mails(io.BytesIO(b"From a@b.example Mon Nov 23 06:35:45 2026\n" + data)):
        assert isinstance(mail, Mail)
        read_marks(mail.raw)
