"""The first reading of a mailbox: the newest mails come first, and after an interruption it goes on. Each mail is there
once, as it is now."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, cast

import pytest

from svc.clock import VirtualClock
from svc.mail.model import INBOX, STARRED, TRASH
from svc.mail.providers.imap import looking
from svc.mail.providers.imap.protocol.sets import MAX_UID
from svc.mail.providers.imap.roles import Place, own_label
from svc.mail.providers.imap.rows import folders as folder_rows
from svc.mail.providers.imap.rows import messages as message_rows
from svc.mail.providers.imap.rows.model import Flags
from svc.mail.providers.seam import Unreachable
from svc.nursery import open_task_group
from svc.store import Tx
from tests.mail.dying import Killed
from tests.mail.imap.dovecot_account import letter
from tests.mail.imap.folder_client import FolderClient
from tests.mail.imap.folder_server import COUNTING, PLAIN, Box, FolderServer, subject_of
from tests.mail.imap.label_server import TRASH_BOX, LabelServer

STEPS_A_LIFE = 72
"""A few of the commands that read two mails each, after those that every life begins with."""
STEPS_AT_LABELS = 52
"""The same at a server with labels, which begins with fewer."""


@pytest.mark.parametrize("able", [PLAIN, COUNTING])
@pytest.mark.parametrize("is_numbered_anew", [False, True])
async def test_a_first_reading_goes_on_where_it_was_interrupted(
    wall: VirtualClock, monkeypatch: pytest.MonkeyPatch, able: str, is_numbered_anew: bool
) -> None:
    monkeypatch.setattr(looking, "MEET_AT_ONCE", 2)
    server = FolderServer(able=able)
    names = [f"Mail {number}" for number in range(20)]
    for name in names:
        server.deliver("INBOX", letter(name))
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=server)
        lives = 0
        counts: list[list[tuple[int, int]]] = []

        async def listed(done: int, total: int) -> None:
            counts[-1].append((done, total))

        while True:
            lives += 1
            assert lives < 20, "it never comes to its end"
            provider, _ = client.started(last=None if is_numbered_anew and lives > 1 else STEPS_A_LIFE)
            counts.append([])
            try:
                await provider.profile(listed=listed)
            except Killed:
                pass
            else:
                break
            if lives == 1:
                server.flag("INBOX", names[-1], "\\Flagged")
                server.delete("INBOX", names[-2])
                if is_numbered_anew:
                    server.number_anew("INBOX")
        assert lives > 1 + (not is_numbered_anew)
        counts = list(filter(None, counts))
        assert len(counts) > 1
        for before, after in pairwise(counts):
            assert before == sorted(before)
            if not is_numbered_anew:  # it goes on where it was, but for the mail that was deleted
                assert after[0][0] >= before[-1][0] - 1
        assert all(0 <= done <= total <= len(names) for life in counts for done, total in life)
        client.cursor = (await client.started()[0].profile()).cursor
        told = await client.look()
        assert {one.kind for one in told} <= {"labels-added", "deleted"}  # of those that were read before
        rows = client.tx.all("select uid, flagged from mail_imap_places order by arrived_at, uid")
        assert sorted(uid for uid, _ in rows) == sorted(one.uid for one in server.boxes["INBOX"].mails)
        assert [uid for uid, flagged in rows if flagged] == [server.uid("INBOX", names[-1])]
        assert await client.look() == ()
        nursery.cancel_scope.cancel()


async def test_at_a_server_with_labels_a_first_reading_goes_on_where_it_was_interrupted(
    wall: VirtualClock, chance: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the ids of mails do not say under which numbers they were read."""
    monkeypatch.setattr(looking, "MEET_AT_ONCE", 2)
    server = _with_labels(chance)
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=cast(Any, server))
        await client.started()[0].list_messages(limit=3)
        with pytest.raises(Killed):
            await client.started(last=STEPS_AT_LABELS)[0].profile()
        assert 3 < len(client.places()) < 20
        server.relabel("Mail 19", add="Boats")
        server.mails.remove(server.find("Mail 18"))
        await client.started()[0].profile()
        asked = [int(uid) for one in server.heard if "HEADER" in one for uid in _numbers(one.split()[2])]
        assert sorted(asked) == list(range(1, 21)), "each is asked for once"
        rows = client.tx.all("select server_id, keywords from mail_imap_places where uid is not null")
        assert {number for number, _ in rows} == {f"{one.number:x}" for one in server.mails}
        assert [number for number, words in rows if "Boats" in str(words)] == [f"{server.find('Mail 19').number:x}"]
        nursery.cancel_scope.cancel()


async def test_a_server_with_labels_that_numbers_anew_in_the_first_reading_is_read_anew(
    wall: VirtualClock, chance: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "MEET_AT_ONCE", 2)
    server = _with_labels(chance)
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=cast(Any, server))
        with pytest.raises(Killed):
            await client.started(last=STEPS_AT_LABELS)[0].profile()
        before = client.places()
        assert 0 < len(before) < 20
        server.number_anew()
        profile = await client.started()[0].profile()
        rows = client.tx.all("select server_id, uid from mail_imap_places")
        assert sorted(rows) == sorted((f"{one.number:x}", one.uid) for one in server.mails)
        assert before.keys() < client.places().keys()
        client.cursor = profile.cursor
        assert await client.look() == ()
        nursery.cancel_scope.cancel()


def _numbers(written: str) -> list[int]:
    ends = [part.split(":") for part in written.split(",")]
    return [uid for one in ends for uid in range(int(one[0]), int(one[-1]) + 1)]


@pytest.mark.parametrize("able", [PLAIN, COUNTING])
@pytest.mark.parametrize("last", [None, *range(4, 40, 4)])
async def test_the_newest_can_be_read_before_the_mailbox_is_listed(
    wall: VirtualClock, able: str, last: int | None
) -> None:
    server = FolderServer(able=able)
    names = [f"Mail {number}" for number in range(9)]
    for name in names:
        server.deliver("INBOX", letter(name))
    server.deliver("Archive", letter("Old"))
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=server)
        first: dict[str, str] = {}
        for steps in (last, None):
            provider, _ = client.started(last=steps)
            with suppress(Killed):
                listed = await provider.list_messages(limit=3)
                assert listed.next_page_token is not None
                first = {subject_of((await provider.get(one.id)).raw): one.id for one in listed.messages}
                assert sorted(first) == names[-3:]
        server.flag("INBOX", names[-1], "\\Flagged")
        server.delete("INBOX", names[-2])
        for steps in (last, None):
            provider, _ = client.started(last=steps)
            with suppress(Killed):
                profile = await provider.profile()
        client.cursor = profile.cursor
        everything = await provider.list_messages()
        found = {subject_of((await provider.get(one.id)).raw): one.id for one in everything.messages}
        assert sorted(found) == sorted([*names[:-2], names[-1], "Old"])
        assert {first[name] == found.get(name) for name in (names[-1], names[-3])} == {True}
        flagged = await provider.list_messages(label=STARRED)
        assert [one.id for one in flagged.messages] == [first[names[-1]]]
        told = {(one.kind, one.message_id) for one in await client.look()}
        assert told <= {("labels-added", first[names[-1]]), ("deleted", first[names[-2]])}
        assert await client.look() == ()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("asks", [1, 2])
async def test_what_changed_since_the_newest_were_read_is_told_after_the_first_look(
    wall: VirtualClock, asks: int
) -> None:
    """Sync has stored those as they were. It may ask twice for the place in the history, having died in between."""
    server = FolderServer(able=COUNTING)
    for number in range(3):
        server.deliver("INBOX", letter(f"Mail {number}"))
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=server)
        provider, _ = client.started()
        newest = (await provider.list_messages(limit=2)).messages[0]
        read = await provider.get(newest.id)
        assert STARRED not in read.labels
        server.flag("INBOX", subject_of(read.raw), "\\Flagged")
        for _ in range(asks):
            client.cursor = (await provider.profile()).cursor
        told = [(one.kind, one.message_id, one.labels) for one in await client.look(provider)]
        assert told == [("labels-added", newest.id, frozenset({STARRED}))]
        assert await client.look(provider) == ()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(("large", "small"), [("INBOX", "Archive"), ("Archive", "INBOX")])
async def test_what_is_read_after_an_interruption_counts_and_is_no_news(
    wall: VirtualClock, monkeypatch: pytest.MonkeyPatch, large: str, small: str
) -> None:
    monkeypatch.setattr(looking, "MEET_AT_ONCE", 2)
    server = FolderServer(able=COUNTING)
    for number in range(20):
        server.deliver(large, letter(f"Mail {number}"))
    server.deliver(small, letter("Alone"))
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=server)
        await client.started()[0].list_messages(limit=3)
        with pytest.raises(Killed):
            await client.started(last=STEPS_A_LIFE + 12)[0].profile()
        assert 3 < len(client.places()) < 21
        profile = await client.started()[0].profile()
        assert profile.messages_total == len(client.places()) == 21
        client.cursor = profile.cursor
        assert await client.look() == ()
        nursery.cancel_scope.cancel()


def close(server: FolderServer) -> None:
    server.closed.add("Boats")


def remove(server: FolderServer) -> None:
    del server.boxes["Boats"]


def rename(server: FolderServer) -> None:
    server.boxes["Ships"] = server.boxes.pop("Boats")


@pytest.mark.parametrize("able", [PLAIN, COUNTING])
@pytest.mark.parametrize("at_first", [True, False])
@pytest.mark.parametrize("happens", [close, remove, rename])
async def test_a_mail_that_comes_after_the_first_reading_is_always_news(
    wall: VirtualClock, able: str, at_first: bool, happens: Callable[[FolderServer], None]
) -> None:
    """Sync asks for the number of mails after it has asked for the changes; it must not look at the mailbox then, and
    keep to itself what it finds."""
    server = FolderServer(able=able)
    server.deliver("Boats", letter("Rope"))
    if at_first:
        happens(server)
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=server)
        provider, _ = client.started()
        client.cursor = (await provider.profile()).cursor
        if not at_first:
            happens(server)
        await client.look(provider)
        server.deliver("INBOX", letter("Lunch"))
        await provider.profile()
        assert [one.kind for one in await client.look(provider)] == ["added"]
        nursery.cancel_scope.cancel()


async def read_without_news(wall: VirtualClock, server: FolderServer, *, places: list[str]) -> None:
    """Read the mailbox for the first time, and look once more: each mail is there, and none of them is news."""
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=server)
        profile = await client.started()[0].profile()
        assert sorted(client.places().values()) == places
        assert profile.messages_total == len(places)
        client.cursor = profile.cursor
        assert await client.look() == ()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("able", [PLAIN, COUNTING])
async def test_a_folder_that_is_refused_for_a_moment_belongs_to_the_first_reading(
    wall: VirtualClock, able: str
) -> None:
    """Read later, its mail would be news."""
    server = FolderServer(able=able)
    server.deliver("INBOX", letter("Lunch"))
    server.deliver("Boats", letter("Rope"))
    server.closed.add("Boats")

    def open_again() -> None:
        if "UID FETCH" in server.heard[-1]:  # the other folders are being read
            server.closed.clear()

    server.between = open_again
    await read_without_news(wall, server, places=["Boats", "INBOX"])


@pytest.mark.parametrize("able", [PLAIN, COUNTING])
@pytest.mark.parametrize("command", ["UID SEARCH", "UID FETCH"])
async def test_a_folder_that_is_numbered_anew_in_its_first_reading_is_no_news(
    wall: VirtualClock, able: str, command: str
) -> None:
    """Who has it open finds nothing in it any more; its mail would come later, as new mail."""
    server = FolderServer(able=able)
    for number in range(3):
        server.deliver("Boats", letter(f"Rope {number}"))

    def number_anew() -> None:
        if command in server.heard[-1] and server.boxes["Boats"].validity == 1:
            server.number_anew("Boats")

    server.between = number_anew
    await read_without_news(wall, server, places=["Boats"] * 3)
    assert server.boxes["Boats"].validity == 2


@pytest.mark.parametrize("able", [PLAIN, COUNTING])
async def test_a_mail_that_is_moved_in_the_first_reading_is_no_news(wall: VirtualClock, able: str) -> None:
    """From a folder that is not read yet to one that was asked for its messages before."""
    server = FolderServer(able=able)
    server.deliver("Archive", letter("Old"))
    server.deliver("INBOX", letter("Lunch"))

    def move_it() -> None:
        if "UID FETCH" in server.heard[-1] and server.subjects("INBOX"):
            server.move("INBOX", "Lunch", "Archive")

    server.between = move_it
    await read_without_news(wall, server, places=["Archive", "Archive"])


async def test_a_mail_that_comes_after_we_made_a_folder_is_news(wall: VirtualClock) -> None:
    server = FolderServer()
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=server)
        provider, _ = client.started()
        client.cursor = (await provider.profile()).cursor
        folder_rows.add_folder(
            client.tx,
            account_id="acc",
            place=Place(name=b"Ships", label=own_label(b"Ships"), shown="Ships"),
            uid_validity=1,
        )
        server.boxes["Ships"] = Box()
        server.deliver("INBOX", letter("Lunch"))
        await provider.profile()
        assert [one.kind for one in await client.look(provider)] == ["added"]
        nursery.cancel_scope.cancel()


async def test_of_mails_read_before_the_list_only_their_own_flags_are_asked_for_some_at_once(
    wall: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All flags of a large mailbox are megabytes, and each mail that is listed comes with its own."""
    monkeypatch.setattr(looking, "FLAGS_AT_ONCE", 2)
    server = FolderServer(able=COUNTING)
    for number in range(9):
        server.deliver("INBOX", letter(f"Mail {number}"))
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=server)
        await client.started()[0].list_messages(limit=3)
        server.heard.clear()
        await client.started()[0].profile()
        asked = [one.split()[2] for one in server.heard if one.endswith("(UID FLAGS)")]
        assert asked == ["7:8", "9"]
        nursery.cancel_scope.cancel()


async def test_all_flags_are_asked_for_some_at_once_and_only_those_that_changed_are_written(
    wall: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "FLAGS_AT_ONCE", 4)
    written = list[Flags]()
    store_flags = message_rows.store_flags

    def noted(tx: Tx, *, account_id: str, folder_id: int, found: Sequence[Flags]) -> None:
        written.extend(found)
        store_flags(tx, account_id=account_id, folder_id=folder_id, found=found)

    monkeypatch.setattr(message_rows, "store_flags", noted)
    server = FolderServer(able=PLAIN)
    for number in range(9):
        server.deliver("INBOX", letter(f"Mail {number}"))
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=server)
        provider, _ = client.started()
        client.cursor = (await provider.profile()).cursor
        wall.offset_ms += looking.ALL_FLAGS_EVERY_MS + 1
        for name in ("Mail 0", "Mail 7"):
            server.flag("INBOX", name, "\\Flagged")
        server.flag("INBOX", "Mail 4", "\\Deleted")
        server.deliver("INBOX", letter("Lunch"))
        server.heard.clear()
        told = await client.look(provider)
        asked = [one.split()[2] for one in server.heard if one.endswith("(UID FLAGS)")]
        assert asked[:3] == ["1:4", "5:8", f"9:{MAX_UID}"]
        assert sorted(one.uid for one in written) == [1, 8]
        assert sorted((one.kind, *one.labels) for one in told) == [
            ("added",),
            ("deleted",),
            ("labels-added", STARRED),
            ("labels-added", STARRED),
        ]
        nursery.cancel_scope.cancel()


async def test_before_the_mailbox_is_listed_no_folder_is_made_that_may_be_there(wall: VirtualClock) -> None:
    server = FolderServer(able=COUNTING, boxes={name: Box() for name in ("INBOX", "Boats", "Deleted Items")})
    server.deliver("INBOX", letter("Rope"))
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=server)
        provider, _ = client.started()
        (newest,) = (await provider.list_messages(limit=3)).messages
        for folder in (TRASH, own_label(b"Boats")):
            with pytest.raises(Unreachable):
                await provider.modify(newest.id, add=frozenset({folder}), remove=frozenset({INBOX}))
        await provider.profile()
        await provider.modify(newest.id, add=frozenset({TRASH}), remove=frozenset({INBOX}))
        assert {name: server.subjects(name) for name in server.boxes} == {
            "INBOX": [],
            "Boats": [],
            "Deleted Items": ["Rope"],
        }
        nursery.cancel_scope.cancel()


async def test_before_the_mailbox_is_listed_a_server_with_labels_is_not_said_to_have_no_trash(
    wall: VirtualClock, chance: random.Random
) -> None:
    server = LabelServer(chance=chance)
    server.deliver(letter("Rope"), "\\Inbox")
    async with open_task_group() as nursery:
        client = FolderClient(wall=wall, nursery=nursery, server=cast(Any, server))
        provider, _ = client.started()
        (newest,) = (await provider.list_messages(limit=3)).messages
        with pytest.raises(Unreachable):
            await provider.modify(newest.id, add=frozenset({TRASH}), remove=frozenset({INBOX}))
        await provider.profile()
        await provider.modify(newest.id, add=frozenset({TRASH}), remove=frozenset({INBOX}))
        assert server.find("Rope").box == TRASH_BOX
        nursery.cancel_scope.cancel()


def _with_labels(chance: random.Random) -> LabelServer:
    """A server with labels, and twenty mails in its inbox."""
    server = LabelServer(chance=chance)
    for number in range(20):
        server.deliver(letter(f"Mail {number}"), "\\Inbox")
    return server
