"""Moves between the folders of a server, killed at any step: each mail is there once, under the id that it had."""

from __future__ import annotations

from copy import deepcopy
from typing import Final

import pytest

from svc.clock import VirtualClock
from svc.mail.model import TRASH, UNREAD
from svc.mail.providers.imap.rows import queries
from svc.nursery import open_task_group
from tests.mail.bare import undone
from tests.mail.dying import Killed
from tests.mail.imap.dovecot_account import letter
from tests.mail.imap.folder_client import FolderClient
from tests.mail.imap.folder_server import MOVING, PLAIN, FolderServer

WAYS: Final = {
    "moves": (MOVING, True),
    "copies": (PLAIN, True),
    "copies without a word": (PLAIN, False),
}
CHANGE: Final = {"add": frozenset({TRASH}), "remove": frozenset({UNREAD})}


@pytest.mark.share(3)
@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("then", ["looks", "goes on"])
async def test_killed_at_any_step_of_a_move_each_mail_is_there_once_under_its_id(
    wall: VirtualClock, way: str, then: str
) -> None:
    """``then``: what the next process does first. One of the mails has a duplicate in the target folder."""
    able, tells = WAYS[way]
    server = FolderServer(able=able, tells_copyuid=tells)
    for name in ("One", "Two", "Stays"):
        server.deliver("INBOX", letter(name))
    server.deliver("Trash", letter("Two"))
    async with open_task_group() as nursery:
        begun = FolderClient(wall=wall, nursery=nursery, server=server)
        cursor = (await begun.started()[0].profile()).cursor
        before = begun.places()
        rows = await begun.started()[0].store.read(queries.kept, account_id="acc", message_ids=before)
        ids = [
            one.id for one in rows.values() if one.folder_name == b"INBOX" and one.uid != server.uid("INBOX", "Stays")
        ]
        last, is_dead = 0, True
        while is_dead:
            with undone(begun.tx):
                client = FolderClient(wall=wall, nursery=nursery, server=deepcopy(server), tx=begun.tx, cursor=cursor)
                provider, steps = client.started(last=last)
                try:
                    await provider.modify_many(ids, **CHANGE)
                    is_dead = False
                except Killed:
                    pass
                if then == "looks":
                    await client.look()
                await client.started()[0].modify_many(ids, **CHANGE)
                await client.look()
                await client.look()
                assert client.server.subjects("INBOX") == ["Stays"], last
                assert sorted(client.server.subjects("Trash")) == ["One", "Two", "Two"], last
                assert client.places() == {**before, **dict.fromkeys(ids, "Trash")}, last
                assert {one.kind for one in client.told} <= {"labels-added", "labels-removed"}, (last, client.told)
                for table in ("mail_imap_copies", "mail_imap_leftovers"):
                    assert client.tx.all(f"select * from {table}") == [], (last, table)
            last += 1
        assert last - 1 == steps.seen
        nursery.cancel_scope.cancel()
