"""Only a user's own folders are read: those of others, and those of a whole company, are left out and named."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from svc.clock import VirtualClock
from svc.mail.providers.imap.namespaces import own_folders
from svc.mail.providers.imap.protocol.framing import Framer
from svc.mail.providers.imap.protocol.responses import Folder, Namespaces, Response, response
from svc.mail.providers.imap.session import NAMESPACE_REFUSALS
from svc.mail.providers.seam import Throttled
from svc.nursery import open_task_group
from tests.mail.imap.dovecot_account import letter
from tests.mail.imap.folder_client import FolderClient
from tests.mail.imap.folder_server import PLAIN, Box, FolderServer

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


OWN_AND_SHARED = '(("" "/")) (("shared/" "/")) NIL'


@pytest.mark.parametrize(
    "said",
    [
        ["NO", "NO", OWN_AND_SHARED],
        [OWN_AND_SHARED, "NO", "NO"],
        [OWN_AND_SHARED, "BAD", "NO"],
        [OWN_AND_SHARED, "nothing", "NO"],
    ],
)
async def test_no_folder_of_others_is_read_while_the_server_does_not_say_which_they_are(
    wall: VirtualClock, said: list[str]
) -> None:
    server = _shared_by_bob(said)
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=server)
        provider, _ = client.started()
        for answer in said:
            if answer == "NO" and not client.cursor:
                with pytest.raises(Throttled, match="which folders are yours"):
                    await provider.profile()
                assert client.places() == {}
            else:
                client.cursor = (await provider.profile()).cursor
                await client.look(provider)
                assert set(client.places().values()) == {"INBOX"}
            await provider.aclose()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("said", [["BAD"], ["nothing"], ["NO"] * NAMESPACE_REFUSALS])
async def test_a_server_that_never_says_whose_the_folders_are_counts_as_one_that_does_not_know(
    wall: VirtualClock, said: list[str]
) -> None:
    server = _shared_by_bob(said)
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=server)
        provider, _ = client.started()
        for _ in said[1:]:
            with pytest.raises(Throttled):
                await provider.profile()
        await provider.profile()
        assert set(client.places().values()) == {"INBOX", "shared/bob"}
        nursery.cancel_scope.cancel()


def _shared_by_bob(said: list[str]) -> FolderServer:
    boxes = {"INBOX": Box(), "shared/bob": Box()}
    server = FolderServer(able=f"{PLAIN} NAMESPACE", namespaces=list(said), boxes=boxes)
    for box in boxes:
        server.deliver(box, letter(f"In {box}"))
    return server
