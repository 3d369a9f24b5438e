"""What stands beside a mail: labels in any language, read and starred as other mail programs write them."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from svc.formats.mailbox import Marks, read_marks, takeout
from svc.formats.mailbox.maildir import flags_for, flags_of, folder_of, in_folder, with_flags
from svc.formats.mailbox.marks import split_labels

MAIL = b"Subject: x\r\n\r\nHello\r\n"


def test_encoded_labels_are_decoded_before_they_are_split() -> None:
    """A comma may stand inside of an encoded word, and a word may end in the middle of a name."""
    head = b"X-GM-THRID: 17\nX-Gmail-Labels: =?UTF-8?Q?Posteingang,Ungelesen,B=C3=BC?=\n =?UTF-8?Q?ro,Wichtig?=\n"
    marks, raw = read_marks(head + MAIL)
    assert (marks.system, marks.own, raw) == (frozenset({"INBOX", "UNREAD", "IMPORTANT"}), ("Büro",), MAIL)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Inbox", "INBOX"),
        ("Boîte de réception", "INBOX"),
        ("受信トレイ", "INBOX"),
        ("Gesendet", "SENT"),
        ("Enviados", "SENT"),
        ("Papierkorb", "TRASH"),
        ("Sent Items", "SENT"),
        ("Category Updates", "CATEGORY_UPDATES"),
        ("Opened", ""),
        ("Archiviert", ""),
        ("Beérkező levelek", "INBOX"),
        ("Entwu\u0308rfe", "DRAFT"),  # as a Mac names a folder
        ("Kategorie: Werbung", "CATEGORY_PROMOTIONS"),
        ("Work", None),
    ],
)
def test_names_of_the_systems_labels_are_known_in_many_languages(name: str, label: str | None) -> None:
    assert takeout.label_of(name) == label


def test_no_name_of_the_table_stands_for_two_labels() -> None:
    names = [name for names in takeout._MORE.values() for name in names.split("|")]
    assert len(names) == len(set(names))


def test_a_name_in_quotes_is_a_label_of_ones_own() -> None:
    marks, _ = read_marks(b'X-Gmail-Labels: "Inbox","a, b",Sent\n' + MAIL)
    assert (marks.system, marks.own) == (frozenset({"SENT"}), ("Inbox", "a, b"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        (",,", []),
        ('"open, x', ['"open', "x"]),
        ('"a"b,c', ['"a"b', "c"]),
        (" a , b ", ["a", "b"]),
        (",".join(map(str, range(200))), list(map(str, range(100)))),
    ],
)
def test_a_list_of_labels_is_split_whatever_it_is(text: str, names: list[str]) -> None:
    assert [name for name, _ in split_labels(text)] == names


@pytest.mark.parametrize(
    ("head", "system", "deleted"),
    [
        (b"", frozenset(), False),
        (b"Status: RO\n", frozenset(), False),
        (b"Status: O\n", frozenset({"UNREAD"}), False),
        (b"Status: RO\nX-Status: AF\n", frozenset({"STARRED"}), False),
        (b"X-Mozilla-Status: 0001\n", frozenset(), False),
        (b"X-Mozilla-Status: 0000\n", frozenset({"UNREAD"}), False),
        (b"X-Mozilla-Status: 0005\n", frozenset({"STARRED"}), False),
        (b"X-Mozilla-Status: 0009\n", frozenset(), True),
        (b"X-Mozilla-Status: zz\n", frozenset(), False),
    ],
)
def test_other_programs_say_read_and_starred_in_their_own_ways(
    head: bytes, system: frozenset[str], deleted: bool
) -> None:
    marks, raw = read_marks(head + MAIL)
    assert (marks.system, marks.is_deleted) == (system, deleted)
    assert raw == head + MAIL, "what no export of ours has added stays"


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("Mail/cur/1.a:2,S", "Mail"),
        ("cur/1.a", "INBOX"),
        (".Work.2024/new/1.a", "Work/2024"),
        ("Work/2024/cur/1.a", "Work/2024"),
        (".Entw&APw-rfe.a&-b/cur/1.a", "Entwürfe/a&b"),
        ("R&D-x/cur/1.a", "R&D-x"),
        (".R&Design-2024/cur/1.a", "R&Design-2024"),
        (".Q&A.2024-01/cur/1.a", "Q&A/2024-01"),
        (".A&AAo-B/cur/1.a", "AB"),
        ("cur/.hidden", None),
        ("tmp/1.a", None),
        ("note.txt", None),
    ],
)
def test_the_folders_of_a_maildir(path: str, folder: str | None) -> None:
    assert folder_of(PurePosixPath(path)) == folder


def test_the_tags_of_thunderbird_are_labels() -> None:
    marks, _ = read_marks(b"X-Mozilla-Keys: $label1 NonJunk $Forwarded Boats   \n" + MAIL)
    assert marks.own == ("Important", "Boats")
    assert not marks.said_labels


def test_the_flags_in_a_name_win_over_what_stands_in_the_mail() -> None:
    marks = Marks(system=frozenset({"UNREAD", "INBOX"}), said_labels=True)
    assert with_flags(marks, flags_of("1.a:2,FS"), is_new=False).system == {"INBOX", "STARRED"}
    assert with_flags(marks, flags_of("1.a"), is_new=True).system == {"INBOX", "UNREAD"}
    assert with_flags(Marks(), flags_of("1.a:2,ST"), is_new=False).system == {"TRASH"}
    assert flags_for(frozenset({"STARRED", "UNREAD"})) == "F"
    assert flags_for(frozenset({"DRAFT"})) == "DS"


def test_a_folder_gives_its_label_where_the_mail_names_none() -> None:
    assert in_folder(Marks(), "Sent Items").system == {"SENT"}
    assert in_folder(Marks(), "Work/2024").own == ("Work/2024",)
    assert in_folder(Marks(said_labels=True), "Work").own == ()
    assert in_folder(Marks(), "Unread").system == frozenset()
