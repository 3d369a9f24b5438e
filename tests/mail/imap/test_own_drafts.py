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
from tests.mail.imap.folder_desk import FolderDesk
from tests.mail.imap.folder_server import COUNTING, FolderServer

MARK: Final = "drf_boats"


@pytest.fixture
async def desk(wall: VirtualClock) -> AsyncIterator[FolderDesk]:
    async with open_task_group() as nursery:
        yield FolderDesk(wall=wall, nursery=nursery, server=FolderServer(able=COUNTING))
        nursery.cancel_scope.cancel()


def copy(subject: str, *, second: int) -> bytes:
    head = f"Message-ID: <boats@example.org>\r\nX-Svc-Outgoing: {MARK}\r\nDate: Mon, 2 Nov 2026 10:00:{second:02} +0000"
    return f"{head}\r\nSubject: {subject}\r\n\r\nAt 8:00.\r\n".encode()


async def kept(desk: FolderDesk) -> ImapProvider:
    provider, _ = desk.started()
    desk.cursor = (await provider.profile()).cursor
    await provider.drafts.keep(copy("Ours", second=1), mark=MARK)
    assert await desk.look(provider) == ()
    return provider


@pytest.mark.parametrize("is_seen_before", [True, False])
@pytest.mark.parametrize("theirs", [b"At 9:00.", b"At 9:00, at the harbour."])
async def test_what_another_program_made_of_a_copy_comes_here_and_stays_there(
    desk: FolderDesk, theirs: bytes, is_seen_before: bool
) -> None:
    provider = await kept(desk)
    edited = desk.server.text("Drafts", "Ours").replace(b"At 8:00.", theirs).replace(b"Ours", b"Rope")
    desk.server.delete("Drafts", "Ours")
    desk.server.deliver("Drafts", edited, "\\Draft")
    if is_seen_before:
        assert [one.kind for one in await desk.look(provider)] == ["added", "deleted"]
    assert not await provider.drafts.there(MARK)
    await provider.drafts.keep(copy("Newer", second=2), mark=MARK)
    assert sorted(desk.server.subjects("Drafts")) == ["Newer", "Rope"]
    await desk.look(provider)
    (added,) = (one for one in desk.told if one.kind == "added")
    assert (await provider.get(added.message_id)).raw == edited
    await provider.drafts.drop(MARK)
    assert desk.server.subjects("Drafts") == ["Rope"]


@pytest.mark.parametrize("searches_headers", [True, False])
async def test_a_copy_that_no_answer_named_or_that_is_numbered_anew_is_still_ours(
    desk: FolderDesk, searches_headers: bool
) -> None:
    desk.server.searches_headers = searches_headers
    provider = await kept(desk)
    desk.server.number_anew("Drafts")
    assert [one.kind for one in await desk.look(provider)] == []
    desk.server.deliver("Drafts", desk.server.text("Drafts", "Ours"), "\\Draft")
    assert await desk.look(provider) == ()
    await provider.drafts.keep(copy("Newer", second=2), mark=MARK)
    assert desk.server.subjects("Drafts") == ["Newer"]


async def test_a_copy_that_the_server_has_changed_is_still_ours_when_it_is_numbered_anew(desk: FolderDesk) -> None:
    desk.server.adds = b"X-Server: Boats\r\n"
    provider = await kept(desk)
    desk.server.number_anew("Drafts")
    assert await desk.look(provider) == ()
    await provider.drafts.keep(copy("Newer", second=2), mark=MARK)
    assert desk.server.subjects("Drafts") == ["Newer"]


@pytest.mark.parametrize("theirs", ["Ours", "Rope"])
async def test_a_copy_that_the_server_has_changed_and_no_answer_named_is_ours_if_it_says_the_same(
    desk: FolderDesk, theirs: str
) -> None:
    desk.server.adds = b"X-Server: Boats\r\n"
    desk.server.answers_append = False
    provider, _ = desk.started()
    desk.cursor = (await provider.profile()).cursor
    with pytest.raises(Unreachable):
        await provider.drafts.keep(copy("Ours", second=1), mark=MARK)
    desk.server.answers_append = True
    (lies,) = desk.server.boxes["Drafts"].mails
    lies.raw = lies.raw.replace(b"Ours", theirs.encode())
    is_ours = theirs == "Ours"
    assert [one.kind for one in await desk.look(provider)] == ([] if is_ours else ["added"])
    desk.server.number_anew("Drafts")
    await desk.look(provider)
    await provider.drafts.keep(copy("Newer", second=2), mark=MARK)
    assert sorted(desk.server.subjects("Drafts")) == ["Newer"] + [theirs] * (not is_ours)


async def test_a_copy_that_cannot_be_read_is_another_programs_and_the_log_says_so(
    desk: FolderDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(raw: bytes) -> ParsedMessage:
        raise RecursionError("too deep")

    desk.server.adds = b"X-Server: Boats\r\n"
    desk.server.answers_append = False
    provider, _ = desk.started()
    desk.cursor = (await provider.profile()).cursor
    with pytest.raises(Unreachable):
        await provider.drafts.keep(copy("Ours", second=1), mark=MARK)
    monkeypatch.setattr(own_drafts, "parse_message", breaks)
    assert [one.kind for one in await desk.look(provider)] == ["added"]
    (told,) = (one for one in desk.log.records if one["event"] == "mail.draft_unread")
    assert (told["level"], "RecursionError" in str(told)) == ("error", True)


async def test_a_copy_that_was_noted_before_texts_were_compared_is_still_ours(desk: FolderDesk) -> None:
    provider = await kept(desk)
    desk.tx.run("update mail_imap_drafts set size = null, sha256 = null")
    desk.server.number_anew("Drafts")
    assert await desk.look(provider) == ()
    await provider.drafts.keep(copy("Newer", second=2), mark=MARK)
    assert desk.server.subjects("Drafts") == ["Newer"]
