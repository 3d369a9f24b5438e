"""Sets of UIDs, names of folders, and commands: what is written reads back the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.protocol.framing import Framer
from svc.mail.providers.imap.protocol.names import shown_name, written_name
from svc.mail.providers.imap.protocol.sets import MAX_UID, UidSet, in_written_order
from svc.mail.providers.imap.protocol.values import Atom, values
from svc.mail.providers.imap.protocol.writing import AtOnce, Bytes, Plain, Text, Word, written
from tests.sizes import EXAMPLES

some_uids = st.lists(st.integers(1, 60))

# Sets


@settings(max_examples=EXAMPLES)
@given(some_uids, some_uids)
def test_a_set_is_what_it_was_made_of(uids: list[int], others: list[int]) -> None:
    one, other = UidSet.of(uids), UidSet.of(others)
    assert [uid for uid in range(70) if uid in one] == one.uids(at_most=100) == sorted(set(uids))
    assert len(one) == len(set(uids))
    assert (one | other).uids(at_most=100) == sorted({*uids, *others})
    if uids:
        assert UidSet.read(str(one).encode()) == one


def test_a_range_of_four_billion_is_not_spelled_out() -> None:
    everything = UidSet.read(b"1:4294967295")
    assert (1 in everything, MAX_UID in everything, 0 in everything) == (True, True, False)
    with pytest.raises(ProtocolFault):
        everything.uids(at_most=1_000_000)


def test_a_range_may_stand_upside_down() -> None:
    assert UidSet.read(b"9:7,1") == UidSet(((1, 1), (7, 9)))


def test_two_sets_of_one_answer_correspond_in_their_order() -> None:
    assert in_written_order(b"304,319:320", at_most=9) == [304, 319, 320]
    with pytest.raises(ProtocolFault):
        in_written_order(b"1:4294967295", at_most=9)


@pytest.mark.parametrize("text", [b"", b"*", b"1:*", b"1,,2", b"-1", b"1:2:3", b"4294967296", b" 1"])
def test_what_is_no_set_is_a_fault(text: bytes) -> None:
    with pytest.raises(ProtocolFault):
        UidSet.read(text)


# Names


@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        ("INBOX", b"INBOX"),
        ("Entwürfe", b"Entw&APw-rfe"),
        ("A & B", b"A &- B"),
        ("~peter/mail/台北/日本語", b"~peter/mail/&U,BTFw-/&ZeVnLIqe-"),
        ("Корзина", b"&BBoEPgRABDcEOAQ9BDA-"),
        ("🐈", b"&2D3cCA-"),
    ],
)
def test_names_of_real_folders(name: str, encoded: bytes) -> None:
    assert written_name(name) == encoded
    assert shown_name(encoded) == name


@settings(max_examples=EXAMPLES)
@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"))))
def test_every_name_comes_back(name: str) -> None:
    assert shown_name(written_name(name)) == name


@settings(max_examples=EXAMPLES)
@given(st.binary(), st.booleans())
def test_a_name_that_is_encoded_wrongly_is_shown_all_the_same(name: bytes, utf8: bool) -> None:
    shown = shown_name(name, utf8=utf8)
    assert "\n" not in shown
    assert "\0" not in shown


@pytest.mark.parametrize(
    ("encoded", "shown"),
    [("Entwürfe".encode(), "Entwürfe"), (b"Entw\xfcrfe", "Entwürfe"), (b"a&b", "a&b"), (b"&!!-", "&!!-")],
)
def test_servers_that_do_not_encode_or_do_it_wrongly(encoded: bytes, shown: str) -> None:
    assert shown_name(encoded) == shown


# Commands

a_word = st.one_of(
    st.builds(Text, st.binary().filter(lambda data: b"\0" not in data)),
    st.builds(Bytes, st.binary()),
    st.builds(Plain, st.sampled_from(("UID", "STORE", "+FLAGS.SILENT"))),
)


@settings(max_examples=EXAMPLES)
@given(st.lists(a_word), st.sampled_from(("none", "small", "any")))
def test_a_server_reads_the_very_words_that_were_meant(words: list[Word], at_once: AtOnce) -> None:
    pieces = written("*", words, at_once=at_once)
    framer = Framer()
    framer.feed(b"".join(pieces))
    frame = framer.next()
    assert frame is not None
    assert framer.is_between
    meant = [Atom(word.text.encode()) if isinstance(word, Plain) else word.data for word in words]
    assert values(frame) == [Atom(b"*"), *meant]
    assert all(piece.endswith(b"}\r\n") and not piece.endswith(b"+}\r\n") for piece in pieces[:-1])
    if at_once == "any":
        assert len(pieces) == 1


@pytest.mark.parametrize("text", ["a\r\nb", "a\n", "", " a", "a ", "é", "a\0b"])
def test_words_of_our_own_never_end_a_line(text: str) -> None:
    with pytest.raises(ValueError):
        Plain(text)


def test_no_string_holds_a_nul() -> None:
    with pytest.raises(ValueError):
        written("a", [Text(b"a\0b")], at_once="any")


def test_what_is_secret_is_in_no_repr() -> None:
    assert "secret" not in repr([Text(b"secret"), Bytes(b"secret")])
