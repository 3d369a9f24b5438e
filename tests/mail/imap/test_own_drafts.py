"""Copies of drafts at a server, beside versions that another program made of them and left our mark and date in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import pytest

from svc.clock import VirtualClock
from svc.formats.mime import ParsedMessage
from svc.mail.providers.imap import own_drafts
from svc.mail.providers.imap.provider import ImapProvider
from svc.mail.providers.seam import Unreachable
from svc.nursery import open_task_group
from tests.mail.imap.folder_client import FolderClient
from tests.mail.imap.folder_server import COUNTING, FolderServer

MARK: Final = "drf_boats"


@pytest.fixture
async def client(wall: VirtualClock) -> AsyncIterator[FolderClient]:
    async with open_task_group() as nursery:
        yield FolderClient(wall=wall, nursery=nursery, server=FolderServer(able=COUNTING))
        nursery.cancel_scope.cancel()


def copy(subject: str, *, second: int) -> bytes:
    head = f"Message-ID: <boats@example.org>\r\nX-Svc-Outgoing: {MARK}\r\nDate: Mon, 2 Nov 2026 10:00:{second:02} +0000"
    return f"{head}\r\nSubject: {subject}\r\n\r\nAt 8:00.\r\n".encode()


async def kept(client: FolderClient) -> ImapProvider:
    provider, _ = client.started()
    client.cursor = (await provider.profile()).cursor
    await provider.drafts.keep(copy("Ours", second=1), mark=MARK)
    assert await client.look(provider) == ()
    return provider


@pytest.mark.parametrize("is_seen_before", [True, False])
@pytest.mark.parametrize("theirs", [b"At 9:00.", b"At 9:00, at the harbour."])
async def test_what_another_program_made_of_a_copy_comes_here_and_stays_there(
    client: FolderClient, theirs: bytes, is_seen_before: bool
) -> None:
    provider = await kept(client)
    edited = client.server.text("Drafts", "Ours").replace(b"At 8:00.", theirs).replace(b"Ours", b"Rope")
    client.server.delete("Drafts", "Ours")
    client.server.deliver("Drafts", edited, "\\Draft")
    if is_seen_before:
        assert [one.kind for one in await client.look(provider)] == ["added", "deleted"]
    assert not await provider.drafts.there(MARK)
    await provider.drafts.keep(copy("Newer", second=2), mark=MARK)
    assert sorted(client.server.subjects("Drafts")) == ["Newer", "Rope"]
    await client.look(provider)
    (added,) = (one for one in client.told if one.kind == "added")
    assert (await provider.get(added.message_id)).raw == edited
    await provider.drafts.drop(MARK)
    assert client.server.subjects("Drafts") == ["Rope"]


@pytest.mark.parametrize("searches_headers", [True, False])
async def test_a_copy_that_no_answer_named_or_that_is_numbered_anew_is_still_ours(
    client: FolderClient, searches_headers: bool
) -> None:
    client.server.searches_headers = searches_headers
    provider = await kept(client)
    client.server.number_anew("Drafts")
    assert [one.kind for one in await client.look(provider)] == []
    client.server.deliver("Drafts", client.server.text("Drafts", "Ours"), "\\Draft")
    assert await client.look(provider) == ()
    await provider.drafts.keep(copy("Newer", second=2), mark=MARK)
    assert client.server.subjects("Drafts") == ["Newer"]


async def test_a_copy_that_the_server_has_changed_is_still_ours_when_it_is_numbered_anew(client: FolderClient) -> None:
    client.server.adds = b"X-Server: Boats\r\n"
    provider = await kept(client)
    client.server.number_anew("Drafts")
    assert await client.look(provider) == ()
    await provider.drafts.keep(copy("Newer", second=2), mark=MARK)
    assert client.server.subjects("Drafts") == ["Newer"]


@pytest.mark.parametrize("theirs", ["Ours", "Rope"])
async def test_a_copy_that_the_server_has_changed_and_no_answer_named_is_ours_if_it_says_the_same(
    client: FolderClient, theirs: str
) -> None:
    client.server.adds = b"X-Server: Boats\r\n"
    client.server.answers_append = False
    provider, _ = client.started()
    client.cursor = (await provider.profile()).cursor
    with pytest.raises(Unreachable):
        await provider.drafts.keep(copy("Ours", second=1), mark=MARK)
    client.server.answers_append = True
    (lies,) = client.server.boxes["Drafts"].mails
    lies.raw = lies.raw.replace(b"Ours", theirs.encode())
    is_ours = theirs == "Ours"
    assert [one.kind for one in await client.look(provider)] == ([] if is_ours else ["added"])
    client.server.number_anew("Drafts")
    await client.look(provider)
    await provider.drafts.keep(copy("Newer", second=2), mark=MARK)
    assert sorted(client.server.subjects("Drafts")) == ["Newer"] + [theirs] * (not is_ours)


async def test_a_copy_that_cannot_be_read_is_another_programs_and_the_log_says_so(
    client: FolderClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(raw: bytes) -> ParsedMessage:
        raise RecursionError("too deep")

    client.server.adds = b"X-Server: Boats\r\n"
    client.server.answers_append = False
    provider, _ = client.started()
    client.cursor = (await provider.profile()).cursor
    with pytest.raises(Unreachable):
        await provider.drafts.keep(copy("Ours", second=1), mark=MARK)
    monkeypatch.setattr(own_drafts, "parse_message", breaks)
    assert [one.kind for one in await client.look(provider)] == ["added"]
    (told,) = (one for one in client.log.records if one["event"] == "mail.draft_unread")
    assert (told["level"], "RecursionError" in str(told)) == ("error", True)


async def test_a_copy_that_was_noted_before_texts_were_compared_is_still_ours(client: FolderClient) -> None:
    provider = await kept(client)
    client.tx.run("update mail_imap_drafts set size = null, sha256 = null")
    client.server.number_anew("Drafts")
    assert await client.look(provider) == ()
    await provider.drafts.keep(copy("Newer", second=2), mark=MARK)
    assert client.server.subjects("Drafts") == ["Newer"]
