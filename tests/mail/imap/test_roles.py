"""Which folder is which, at servers that say it and at those that do not."""

from __future__ import annotations

import pytest

from svc.mail.model import DRAFT, SENT, SPAM, TRASH
from svc.mail.providers.folders import ARCHIVE
from svc.mail.providers.imap.leaving import without_bcc
from svc.mail.providers.imap.protocol.responses import Folder
from svc.mail.providers.imap.roles import keyword_label, keyword_name, places


def labels(*folders: tuple[str, str], delimiter: bytes = b"/") -> dict[str, str]:
    """By name: the label of a folder with these attributes."""
    listed = [
        Folder(name=name.encode(), delimiter=delimiter, attributes=frozenset(attributes.split()))
        for name, attributes in folders
    ]
    return {one.name.decode(): one.label for one in places(listed)}


def test_what_the_server_says_goes_before_names() -> None:
    found = labels(
        ("Inbox", ""),
        ("Sent", ""),
        ("Outbound", "\\sent"),
        ("Trash", "\\trash"),
        ("Junk", "\\junk"),
        ("A", "\\archive"),
    )
    assert found == {
        "Inbox": "INBOX",
        "Outbound": SENT,
        "Sent": "folder/Sent",
        "Trash": TRASH,
        "Junk": SPAM,
        "A": ARCHIVE,
    }


def test_names_that_are_known_do_where_nothing_is_said() -> None:
    found = labels(
        ("INBOX", ""), ("INBOX.Gesendet", ""), ("INBOX.Entw&APw-rfe", ""), ("INBOX.a.Trash", ""), delimiter=b"."
    )
    assert found == {
        "INBOX": "INBOX",
        "INBOX.Gesendet": SENT,
        "INBOX.Entw&APw-rfe": DRAFT,
        "INBOX.a.Trash": "folder/INBOX.a.Trash",
    }


def test_one_of_two_with_known_names_is_it() -> None:
    found = labels(("INBOX", ""), ("Sent Messages", ""), ("Sent Items", ""))
    assert found["Sent Items"] == SENT
    assert found["Sent Messages"] == "folder/Sent Messages"


def test_what_only_shows_what_lies_elsewhere_is_no_place() -> None:
    found = labels(("INBOX", ""), ("All", "\\all"), ("Starred", "\\flagged"), ("Parent", "\\noselect"))
    assert found == {"INBOX": "INBOX"}


@pytest.mark.parametrize(
    ("flag", "name"),
    [
        ("Boats", "Boats"),
        ("$label2", "Work"),
        ("$Forwarded", None),
        ("NonJunk", None),
        ("\\seen", None),
        ("Junk", None),
    ],
)
def test_keywords_are_labels_but_for_what_programs_note(flag: str, name: str | None) -> None:
    label = keyword_label(flag)
    assert (None if label is None else keyword_name(label)) == name


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_others_see_no_blind_copy(end: str) -> None:
    head = ["From: a@x", "Bcc: eve@x,", " kim@x", "bcc: more@x", "Subject: Bcc: no"]
    raw = end.join([*head, "", "Bcc: in the text", ""]).encode()
    expected = end.join(["From: a@x", "Subject: Bcc: no", "", "Bcc: in the text", ""]).encode()
    assert without_bcc(raw) == expected
    last = end.join(["From: a@x", "Bcc: eve@x", "", "x"]).encode()
    assert without_bcc(last) == end.join(["From: a@x", "", "x"]).encode()
