"""Drafts at a server that another program continues: their changes are followed here, and nothing is lost."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import VirtualClock
from svc.formats import mime
from svc.mail.model import DRAFT, INBOX, SENT, TRASH
from svc.mail.providers.seam import Unreachable
from svc.mail.sending import elsewhere
from svc.mail.sync.engine import MailEngine
from svc.principal import UNCLAIMED
from tests.mail.folder_provider import FolderMailbox
from tests.mail.sending.draft_writer import OTHER, DraftWriter, open_writer
from tests.recorded_log import RecordedLog
from tests.support.mailbox import mail
from tests.support.service import MIA

WAS_SENT = "Another program has sent this draft. What you see is kept here, and is not sent again by itself."
WAS_DELETED = "Another program has deleted this draft. It is kept here, and copied there again once you change it."


@pytest.fixture
async def box(wall: VirtualClock) -> FolderMailbox:
    box = FolderMailbox(address=MIA, clock=wall)
    box.deliver(b"Message-ID: <welcome@mail.test>\n" + mail("Welcome"), folder=INBOX)
    return box


@pytest.fixture
async def writer(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, box: FolderMailbox
) -> AsyncIterator[DraftWriter]:
    async with open_writer(tmp_path, wall, log, {MIA: box}) as opened:
        yield opened


async def copied(writer: DraftWriter, **more: Any) -> dict[str, Any]:
    """A draft of ours that lies there, too."""
    draft = await writer.save("Boats", to=[OTHER], **more)
    await writer.told()
    return draft


def another(raw: bytes, subject: str, *, keeps: str = "both") -> bytes:
    """What another program makes of a draft: with its Message-ID, our mark, or both."""
    parsed = mime.parse_message(raw)
    fields = {
        "Message-ID": f"<{parsed.message_id}>" if keeps in {"both", "id"} else "<new@elsewhere.test>",
        "From": f"Mia <{MIA}>",
        "To": "Bob <bob@else.test>",
        "Subject": subject,
        "Date": "Mon, 2 Jan 2040 10:00:00 +0000",
    }
    if keeps in {"both", "mark"}:
        fields["X-Svc-Outgoing"] = str(parsed.outgoing_mark)
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return head.encode() + b"Content-Type: text/plain\r\n\r\nWritten elsewhere\r\n"


def edit(box: FolderMailbox, subject: str, *, keeps: str = "both", removes: bool = True) -> str:
    ((_, raw),) = box.drafts
    there = box.deliver(another(raw, subject, keeps=keeps), folder=DRAFT)
    if removes:
        box.drafts.clear()
    return there


async def followed(writer: DraftWriter) -> None:
    await writer.service.workspace.service(MailEngine).sync_now(writer.accounts[MIA])
    await writer.told()


async def refused(writer: DraftWriter, procedure: str, **wanted: object) -> int:
    """The status of an attempt."""
    return (await writer.service.ask_as(UNCLAIMED, procedure, wanted)).status


async def mine(writer: DraftWriter) -> list[str]:
    return sorted(str(subject) for (subject,) in await writer.service.rows("select subject from mail_drafts"))


def subjects(box: FolderMailbox) -> list[str]:
    raws = [raw for _, raw in box.drafts] + [one.raw for one in box.kept.values() if one.place.folder == DRAFT]
    return sorted(mime.parse_message(raw).subject or "" for raw in raws)


@pytest.mark.parametrize("keeps", ["both", "id", "mark"])
async def test_an_edit_there_is_the_draft_here(writer: DraftWriter, box: FolderMailbox, keeps: str) -> None:
    draft = await copied(writer, cc=["car@else.test"])
    edit(box, "Ships", keeps=keeps)
    await followed(writer)
    now = await writer.service.query("mail.draft", id=draft["id"])
    assert (now["subject"], now["to"], now["cc"]) == ("Ships", ['"Bob" <bob@else.test>'], [])
    assert "Written elsewhere" in now["html"]
    assert now["version"] == draft["version"] + 1
    assert (subjects(box), await mine(writer)) == (["Ships"], ["Ships"])
    again = await writer.save("Ferries", id=now["id"], version=now["version"])
    await writer.told()
    assert (subjects(box), await mine(writer)) == (["Ferries"], ["Ferries"])
    edit(box, "Rafts", keeps=keeps)
    await followed(writer)
    assert (again["id"], await mine(writer)) == (draft["id"], ["Rafts"])


async def test_an_edit_of_what_was_only_opened_here_is_followed_too(writer: DraftWriter, box: FolderMailbox) -> None:
    draft = await copied(writer)
    first = edit(box, "Ships")
    await followed(writer)
    raw = box.kept[first].raw
    box.delete(first)
    box.deliver(another(raw, "Rafts"), folder=DRAFT)
    await followed(writer)
    assert (subjects(box), await mine(writer)) == (["Rafts"], ["Rafts"])
    await writer.service.mutate("mail.deleteDraft", id=draft["id"])
    await writer.told()
    assert subjects(box) == []


async def test_its_files_are_those_of_the_edit(writer: DraftWriter, box: FolderMailbox) -> None:
    fields = {"content-type": "text/plain", "x-svc-filename": "a.txt"}
    uploaded = (await writer.service.ask("POST", "/files", b"x", fields=fields)).json["id"]
    draft = await copied(writer, attachments=[uploaded])
    edit(box, "Ships")
    await followed(writer)
    assert (await writer.service.query("mail.draft", id=draft["id"]))["attachments"] == []
    assert await writer.service.rows("select 1 from files where origin like 'draft:%'") == []


async def test_an_edit_whose_old_one_goes_later_is_followed_then(writer: DraftWriter, box: FolderMailbox) -> None:
    await copied(writer)
    edit(box, "Ships", removes=False)
    await writer.service.workspace.service(MailEngine).sync_now(writer.accounts[MIA])
    await trio.sleep(elsewhere.LOOK_AGAIN_MS / 1_000)
    assert await mine(writer) == ["Boats"]
    box.drafts.clear()
    await followed(writer)
    assert (subjects(box), await mine(writer)) == (["Ships"], ["Ships"])


async def test_one_that_stays_beside_the_copy_is_another_draft(writer: DraftWriter, box: FolderMailbox) -> None:
    draft = await copied(writer)
    edit(box, "Ships", removes=False)
    await followed(writer)
    assert (subjects(box), await mine(writer)) == (["Boats", "Ships"], ["Boats"])
    box.drafts.clear()
    await followed(writer)
    assert await mine(writer) == ["Boats"]
    await writer.save("Boats on", id=draft["id"], version=draft["version"])
    await writer.told()
    assert subjects(box) == ["Boats on", "Ships"]


async def test_where_it_was_changed_here_meanwhile_both_stay_and_each_goes_on(
    writer: DraftWriter, box: FolderMailbox
) -> None:
    draft = await copied(writer)
    edit(box, "Ships")
    await writer.save("Ferries", id=draft["id"], version=draft["version"])
    await followed(writer)
    assert (subjects(box), await mine(writer)) == (["Ferries", "Ships"], ["Ferries"])
    ((theirs,),) = await writer.service.rows("select id from mail_messages where subject = 'Ships'")
    taken = (await writer.service.mutate("mail.takeUpDraft", messageId=theirs))["draftId"]
    await writer.save("Ships on", id=taken, version=1)
    await writer.told()
    assert subjects(box) == ["Ferries", "Ships on"]
    assert len({one.message_id for one in writer.copies()}) == 2
    assert await mine(writer) == ["Ferries", "Ships on"]


async def test_who_writes_here_at_that_moment_is_told_as_by_a_second_window(
    writer: DraftWriter, box: FolderMailbox
) -> None:
    draft = await copied(writer)
    edit(box, "Ships")
    await followed(writer)
    wanted = {"accountId": writer.accounts[MIA], "to": [OTHER], "subject": "Typed", "html": "<p>Typed</p>"}
    saved = await refused(writer, "mail.saveDraft", id=draft["id"], version=draft["version"], **wanted)
    sent = await refused(writer, "mail.send", draftId=draft["id"], draftVersion=draft["version"], **wanted)
    assert (saved, sent) == (409, 409)
    assert await mine(writer) == ["Ships"]


async def test_an_edit_of_which_the_server_can_not_be_asked_waits(writer: DraftWriter, box: FolderMailbox) -> None:
    await copied(writer)
    edit(box, "Ships")
    box.faults[:] = [Unreachable("No connection.")] * (elsewhere.LOOKS + 1)
    await followed(writer)
    assert await mine(writer) == ["Ships"]


def send(box: FolderMailbox, *, keeps: str = "both", removes: bool = True) -> None:
    ((_, raw),) = box.drafts
    box.deliver(another(raw, "Boats", keeps=keeps), folder=SENT, seen=True)
    if removes:
        box.drafts.clear()


@pytest.mark.parametrize("keeps", ["both", "id", "mark"])
async def test_one_that_is_sent_there_ends_here(writer: DraftWriter, box: FolderMailbox, keeps: str) -> None:
    draft = await copied(writer)
    send(box, keeps=keeps)
    await followed(writer)
    assert (await mine(writer), subjects(box)) == ([], [])
    wanted = {"accountId": writer.accounts[MIA], "to": [OTHER], "subject": "Boats", "html": "<p>Hi</p>"}
    assert await refused(writer, "mail.send", draftId=draft["id"], **wanted) == 404


async def test_one_that_was_sent_there_is_not_sent_while_the_server_can_not_be_asked(
    writer: DraftWriter, box: FolderMailbox
) -> None:
    draft = await copied(writer)
    send(box)
    box.faults[:] = [Unreachable("No connection.")] * 2
    await writer.service.workspace.service(MailEngine).sync_now(writer.accounts[MIA])
    wanted = {"accountId": writer.accounts[MIA], "to": [OTHER], "subject": "Boats", "html": "<p>Hi</p>"}
    assert await refused(writer, "mail.send", draftId=draft["id"], **wanted) == 409
    await followed(writer)
    assert await mine(writer) == []
    assert await writer.service.rows("select 1 from mail_outgoing") == []


async def test_one_that_is_sent_there_and_was_changed_here_stays_and_says_so(
    writer: DraftWriter, box: FolderMailbox
) -> None:
    draft = await copied(writer)
    send(box)
    await writer.save("Ferries", id=draft["id"], version=draft["version"])
    await followed(writer)
    assert await writer.notes() == {"Ferries": [WAS_SENT]}


async def test_one_that_waits_to_be_sent_here_and_is_sent_there_is_sent_once(
    writer: DraftWriter, box: FolderMailbox
) -> None:
    draft = await copied(writer)
    kept = list(box.drafts)
    wanted = {"accountId": writer.accounts[MIA], "to": [OTHER], "subject": "Boats", "html": "<p>Hi</p>"}
    await writer.service.mutate("mail.send", draftId=draft["id"], **wanted)
    box.drafts[:] = kept
    send(box, keeps="id")
    await followed(writer)
    await trio.sleep(60)
    ((state, reason),) = await writer.service.rows("select state, last_error from mail_outgoing")
    assert (state, reason) == ("cancelled", elsewhere.SENT_ELSEWHERE)
    assert await writer.notes() == {"Boats": [WAS_SENT]}
    assert len([one for one in box.kept.values() if one.place.folder == SENT]) == 1


async def test_one_that_is_thrown_into_the_trash_there_stays_here_and_is_not_copied_again(
    writer: DraftWriter, box: FolderMailbox
) -> None:
    draft = await copied(writer)
    ((_, raw),) = box.drafts
    box.drafts.clear()
    box.deliver(raw, folder=TRASH)
    await followed(writer)
    assert (subjects(box), await writer.notes()) == ([], {"Boats": [WAS_DELETED]})
    await writer.save("Ferries", id=draft["id"], version=draft["version"])
    await writer.told()
    assert (subjects(box), await writer.notes()) == (["Ferries"], {"Ferries": []})


async def test_a_strangers_mail_with_our_mark_is_no_edit(writer: DraftWriter, box: FolderMailbox) -> None:
    await copied(writer)
    ((_, raw),) = box.drafts
    box.deliver(re.sub(rb"(?m)^Date: .*$", b"", another(raw, "Ships")), folder=INBOX)
    box.drafts.clear()
    await followed(writer)
    assert await mine(writer) == ["Boats"]
