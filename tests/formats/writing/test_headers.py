"""Header fields: whatever text goes in reads back as it was meant, by our parser and by the standard library's."""

from __future__ import annotations

import email
import email.policy
import re
from email.header import decode_header, make_header
from email.utils import getaddresses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.formats.mime import parse_message
from svc.formats.mime.addresses import parse_addresses
from svc.formats.mime.fields import disposition, text_of
from svc.formats.mime.model import MAX_LINE_CHARS, MAX_NAME_CHARS, Problems
from svc.formats.mime.names import safe_filename
from svc.formats.person import Person
from svc.formats.text import clean_line, cut
from svc.formats.writing import NotAsMeant, references_of
from svc.formats.writing import headers as h

PIECES = st.sampled_from(
    [
        *(
            "=?utf-8?q?=0D=0ABcc:_evil=40x.example?=",
            "=?utf-8?b?DQpCY2M6IGV2aWxAeA==?=",
            "=?utf-8?q?",
            "?=",
            "=?",
            "=E2",
        ),
        *("\r\nBcc: evil@x.example", "\n", "\r", "\x00", "\x85", "\u2028", "\u2029", "\u202e", "\u200b", "\ud800"),
        *(" ", "  ", "\t", ",", ";", ":", "<", ">", '"', "\\", "(", ")", "@", ".", "'", "%", "*", "/", "C:"),
        *(
            "Re: ",
            "é",
            "日本語",
            "🏴\U000e0067\U000e007f",
            "👩\u200d💻",
            "e\u0301",
            "a" * 70,
            "long words and blanks " * 6,
        ),
    ]
)
TEXT = st.one_of(
    st.text(alphabet=st.characters(blacklist_categories=()), max_size=200),
    st.lists(PIECES, max_size=12).map("".join),
)


def value_of(field: bytes) -> str:
    """A field's value unfolded, as RFC 5322 section 2.2.3 has it."""
    _, _, value = field.decode("ascii").removesuffix("\r\n").partition(":")
    return value.replace("\r\n", "").strip(" ")


def assert_well_formed(field: bytes) -> None:
    assert field.endswith(b"\r\n")
    assert not re.search(rb"[^\x20-\x7e\r\n]", field)
    first, *others = field.removesuffix(b"\r\n").split(b"\r\n")
    assert re.match(rb"[A-Za-z-]+:", first)
    assert all(line.startswith(b" ") and line.strip() for line in others)
    assert b"\r" not in b"".join([first, *others])
    assert b"\n" not in b"".join([first, *others])


@given(TEXT)
def test_any_subject_reads_back_as_one_clean_line(text: str) -> None:
    field = h.field("Subject", h.text_words(text))
    assert_well_formed(field)
    assert all(len(line) <= h.FOLD_CHARS for line in field.split(b"\r\n"))
    meant = cut(clean_line(text), limit=MAX_LINE_CHARS)
    assert parse_message(field + b"\r\n").subject == meant
    assert str(make_header(decode_header(value_of(field)))) == meant
    assert email.message_from_bytes(field + b"\r\n", policy=email.policy.default)["subject"] == meant


@given(st.lists(TEXT, min_size=1, max_size=5))
def test_any_names_read_back_and_add_nobody(names: list[str]) -> None:
    people = [Person(name=name, address=f"p{index}@x.example") for index, name in enumerate(names)]
    field = h.field("To", h.mailbox_list_words(people))
    assert_well_formed(field)
    meant = [(cut(clean_line(one.name), limit=MAX_NAME_CHARS), one.address) for one in people]
    ours = parse_addresses([value_of(field)], problems=Problems())
    assert [(one.name, one.address) for one in ours] == meant
    theirs = [(str(make_header(decode_header(name))), address) for name, address in getaddresses([value_of(field)])]
    assert theirs == meant
    modern = email.message_from_bytes(field + b"\r\n", policy=email.policy.default)["to"].addresses
    assert [one.addr_spec for one in modern] == [one.address for one in people]


@given(TEXT, st.sampled_from(["application/pdf", "x/y"]))
def test_any_file_name_reads_back(raw: str, mime: str) -> None:
    name = h.settled_filename(raw, mime=mime)
    assert name == safe_filename(name, mime=mime)
    field = h.field("Content-Disposition", h.disposition_words("attachment", filename=name))
    assert_well_formed(field)
    kind, parameters = disposition(value_of(field))
    assert (kind, text_of(parameters, "filename", problems=Problems())) == ("attachment", name)
    for policy in (email.policy.compat32, email.policy.default):
        part = email.message_from_bytes(field + b"\r\n", policy=policy)
        quirk = policy is email.policy.default and name.startswith("<") and name.endswith(">")  # it takes them off
        assert part.get_filename() == (name[1:-1].strip() if quirk else name)
        assert part.get_content_disposition() == "attachment"


@given(TEXT)
def test_a_file_name_has_a_plain_fallback(raw: str) -> None:
    name = h.settled_filename(raw, mime="application/pdf")
    field = h.field("Content-Type", h.file_type_words("application/pdf", filename=name))
    assert_well_formed(field)
    fallback = email.message_from_bytes(field + b"\r\n").get_param("name")
    assert isinstance(fallback, str)
    assert 0 < len(fallback) <= h.MAX_FALLBACK_CHARS
    assert fallback.isascii()


def test_a_fallback_keeps_what_ascii_can_hold() -> None:
    assert h.ascii_filename("Bücher und Texte.pdf", mime="application/pdf") == "Bucher und Texte.pdf"
    assert h.ascii_filename("請求書.pdf", mime="application/pdf") == "_.pdf"
    assert h.ascii_filename("請求書", mime="application/pdf") == "attachment.pdf"
    long = h.ascii_filename("a" * 200 + ".pdf", mime="application/pdf")
    assert (len(long), long[-5:]) == (h.MAX_FALLBACK_CHARS, "a.pdf")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", b"Subject:\r\n"),
        ("Lunch?", b"Subject: Lunch?\r\n"),
        ("Zwei Grüße", b"Subject: =?utf-8?b?WndlaSBHcsO8w59l?=\r\n"),
        ("Ein paar Grüße", b"Subject: =?utf-8?q?Ein_paar_Gr=C3=BC=C3=9Fe?=\r\n"),
        ("日本語", b"Subject: =?utf-8?b?5pel5pys6Kqe?=\r\n"),
        ("=?utf-8?q?x", b"Subject: =?utf-8?b?PT91dGYtOD9xP3g=?=\r\n"),
    ],
)
def test_text_is_encoded_only_where_it_must_be_and_the_shorter_way(text: str, written: bytes) -> None:
    assert h.field("Subject", h.text_words(text)) == written


def test_a_name_is_quoted_where_it_must_be() -> None:
    people = [("Ann Smith", "Ann Smith"), ("Smith, Ann", '"Smith, Ann"'), ('A "B" \\', '"A \\"B\\" \\\\"'), ("", "")]
    for name, written in people:
        assert " ".join(h.mailbox_words(Person(name=name, address="a@x"))) == f"{written} <a@x>".strip()


def test_nothing_but_printable_ascii_gets_into_a_field() -> None:
    for word in ("a\r\nBcc: x", "a\n", "\n", "", " ", " a", "a ", "é", "\x00", "a\tb", "\x7f"):
        with pytest.raises(NotAsMeant):
            h.field("Subject", ["fine", word])
    with pytest.raises(NotAsMeant):
        h.field("Subject: x\r\nBcc", ["a"])


@pytest.mark.parametrize(
    "block",
    [
        b"To: a\r\nBcc: b\r\n",
        b"To: a\r\nTo: b\r\n",
        b"Cc: a\r\n",
        b"",
        b"To: a\n",
        b"To: a\rBcc: b\r\n",
        b"To: a\r\n\r\n",
        b"To: a\r\n \r\n",
        b"To: \x00\r\n",
        b"To: " + b"a" * 1_000 + b"\r\n",
    ],
)
def test_a_block_that_is_not_as_meant_is_found_out(block: bytes) -> None:
    h.verify_block(b"To: a\r\n b\r\n", names=["To"])
    with pytest.raises(NotAsMeant):
        h.verify_block(block, names=["To"])


@given(st.lists(TEXT, max_size=8), st.none() | TEXT)
def test_any_references_are_ids_on_lines_of_their_own_or_left_out(references: list[str], parent: str | None) -> None:
    ids = references_of(references, parent=parent)
    assert all(map(h.usable_id, ids))
    if ids:
        field = h.field("References", h.id_words(ids))
        assert_well_formed(field)
        assert parse_message(field + b"\r\n").references == ids
        assert email.message_from_bytes(field + b"\r\n", policy=email.policy.default)["references"].split() == [
            f"<{one}>" for one in ids
        ]


def test_references_keep_the_first_and_the_latest() -> None:
    many = [f"{index}@x.example" for index in range(50)]
    ids = references_of(many, parent="parent@x.example")
    assert len(ids) == h.MAX_REFERENCES
    assert ids[0] == "0@x.example"
    assert ids[-1] == "parent@x.example"
    assert ids[1:-1] == tuple(many[-18:])


def test_references_end_with_the_parent_and_name_nobody_twice() -> None:
    assert references_of(["a@x", "b@x", "a@x", "b@x"], parent="a@x") == ("b@x", "a@x")
    assert references_of([], parent="a@x") == ("a@x",)
    assert references_of(["a@x"], parent=None) == ("a@x",)


def test_references_fit_in_a_sane_field() -> None:
    long = [f"{index}{'x' * 300}@x.example" for index in range(9)]
    ids = references_of(long, parent="parent@x.example")
    assert sum(len(one) + 3 for one in ids) <= h.MAX_REFERENCES_CHARS
    assert (ids[0], ids[-1]) == (long[0], "parent@x.example")
    parent = "p" * 890
    assert references_of(long, parent=parent) == (parent,)
