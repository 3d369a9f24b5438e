"""Only a user's own folders are read: those of others, and those of a whole company, are left out and named."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from svc.mail.providers.imap.namespaces import own_folders
from svc.mail.providers.imap.protocol.framing import Framer
from svc.mail.providers.imap.protocol.responses import Folder, Namespaces, Response, response

DOVECOT = '* NAMESPACE (("" "/")) (("shared/" "/")) (("Public/" "/"))'
CYRUS = '* NAMESPACE (("INBOX." ".")) (("user." ".")) (("" "."))'
CYRUS_ALTERNATIVE = '* NAMESPACE (("" "/")) (("Other Users/" "/")) (("Shared Folders/" "/"))'
COURIER = '* NAMESPACE (("INBOX." ".")) NIL (("#shared." ".")("shared." "."))'
HMAIL = '* NAMESPACE (("" ".")) NIL (("#Public" "."))'
WITH_EXTENSION = '* NAMESPACE (("" "/" "X-PARAM" ("FLAG1" "FLAG2"))) (("~" "/")) NIL'


def read(*lines: str) -> list[Response]:
    framer = Framer()
    framer.feed("".join(f"{line}\r\n" for line in lines).encode())
    return [response(frame) for frame in iter(framer.next, None)]


def listed(names: Sequence[str]) -> list[Folder]:
    return [Folder(name=name.encode(), delimiter=b"/", attributes=frozenset()) for name in names]


@pytest.mark.parametrize(
    ("told", "own", "others"),
    [
        (DOVECOT, ["INBOX", "Sent", "sharedx", "Shared/My"], ["shared/bob/INBOX", "Public/News"]),
        (CYRUS, ["INBOX", "INBOX.Sent", "Inbox.Old"], ["user.bob", "user.bob.Sent", "bulletin"]),
        (CYRUS_ALTERNATIVE, ["INBOX", "Sent", "Others"], ["Other Users/bob", "Shared Folders/News"]),
        (COURIER, ["INBOX", "INBOX.Sent", "elsewhere"], ["#shared.bob.Work", "shared.news"]),
        (HMAIL, ["INBOX", "Sent"], ["#Public.News", "#Public"]),
        (WITH_EXTENSION, ["inbox", "Sent"], ["~bob/Sent"]),
    ],
)
def test_a_folder_belongs_to_the_namespace_that_names_most_of_it(told: str, own: list[str], others: list[str]) -> None:
    (namespaces,) = read(told)
    assert isinstance(namespaces, Namespaces)
    found, left_out = own_folders(listed([*own, *others]), namespaces)
    assert [one.name.decode() for one in found] == own
    assert list(left_out) == sorted(others)


@pytest.mark.parametrize(
    "told",
    [
        "* NAMESPACE NIL NIL NIL",
        '* NAMESPACE NIL NIL (("" "."))',
        "* NAMESPACE",
        "* NAMESPACE (()) (NIL) x",
        '* NAMESPACE (("" "/")) (("" "/")) (("" "/"))',
    ],
)
def test_an_answer_that_names_nothing_as_ones_own_leaves_nothing_out(told: str) -> None:
    (namespaces,) = read(told)
    assert isinstance(namespaces, Namespaces)
    assert own_folders(listed(["INBOX", "Sent", "a.b"]), namespaces) == (listed(["INBOX", "Sent", "a.b"]), ())


def test_a_level_without_mail_is_not_named() -> None:
    shared = Folder(name=b"shared/&AOk-", delimiter=b"/", attributes=frozenset({"\\hasnochildren"}))
    level = Folder(name=b"shared/bob", delimiter=b"/", attributes=frozenset({"\\noselect"}))
    assert own_folders([level, shared], Namespaces(personal=(b"",), foreign=(b"shared/",))) == ([], ("shared/é",))
