"""Drafts that another program began: continued here, replaced there once changed, never doubled and never lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from svc.clock import VirtualClock
from svc.formats import mime
from svc.mail.model import DRAFT, INBOX, TRASH
from svc.mail.providers.seam import LostAnswer, Unreachable
from svc.mail.sending import drafts
from svc.mail.sync.engine import MailEngine
from svc.principal import UNCLAIMED
from tests.mail.folder_provider import FolderMailbox, FolderProvider
from tests.mail.sending.draft_writer import DraftWriter, open_writer
from tests.recorded_log import RecordedLog
from tests.support.mailbox import mail
from tests.support.service import MIA, RpcError

GONE = "Another program has sent or deleted this draft, or changed it. What you see is kept here."
PICTURE = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def theirs(
    subject: str = "Harbour", *, text: str = "As  it\n\n  was.", rich: str | None = None, **fields: str
) -> bytes:
    """A draft as another program files it."""
    message = EmailMessage()
    message["From"] = fields.pop("From", f"Mia <{MIA}>")
    message["To"] = "Bob Brook <bob@else.test>"
    message["Cc"] = "car@else.test"
    message["Bcc"] = "dan@else.test"
    message["Subject"] = subject
    message["Message-ID"] = f"<{subject.lower()}@elsewhere.test>"
    for name, value in fields.items():
        message[name.replace("_", "-")] = value
    message.set_content(text)
    if rich is not None:
        message.add_alternative(rich, subtype="html")
        related = message.get_payload()[1]  # type: ignore[index]
        related.add_related(PICTURE, "image", "png", cid="<pic@elsewhere.test>", filename="wall.png")  # type: ignore[union-attr]
        message.add_attachment(b"plan", maintype="application", subtype="pdf", filename="plan.pdf")
    return message.as_bytes()


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


async def synced(writer: DraftWriter) -> None:
    await writer.service.workspace.service(MailEngine).sync_now(writer.accounts[MIA])


async def stored(writer: DraftWriter, subject: str) -> str:
    await synced(writer)
    ((message_id,),) = await writer.service.rows("select id from mail_messages where subject = :s", s=subject)
    return str(message_id)


async def taken(writer: DraftWriter, message_id: str) -> dict[str, Any]:
    answer = await writer.service.mutate("mail.takeUpDraft", messageId=message_id)
    found: dict[str, Any] = await writer.service.query("mail.draft", id=answer["draftId"])
    return found


async def refused(writer: DraftWriter, message_id: str) -> int:
    """The status of an attempt."""
    reply = await writer.service.ask_as(UNCLAIMED, "mail.takeUpDraft", {"messageId": message_id})
    return reply.status


async def changed(writer: DraftWriter, draft: dict[str, Any], **more: object) -> dict[str, Any]:
    """As the app saves it."""
    kept = {name: draft[name] for name in ("accountId", "to", "cc", "bcc", "subject", "html", "id", "version")}
    files = [one["fileId"] for one in draft["attachments"]]
    wanted = {**kept, "attachments": files, "replyTo": draft["replyTo"], **more}
    answer: dict[str, Any] = await writer.service.mutate("mail.saveDraft", **wanted)
    return answer


def subjects(box: FolderMailbox) -> list[str | None]:
    """All that lies among the drafts there."""
    raws = [raw for _, raw in box.drafts] + [one.raw for one in box.kept.values() if one.place.folder == DRAFT]
    return [mime.parse_message(raw).subject for raw in raws]


async def listed(writer: DraftWriter) -> list[str]:
    """The subjects of all drafts that a person sees, those of the mailbox and their own."""
    await synced(writer)
    there = await writer.service.query("mail.threads", labelName="Draft")
    own = await writer.service.query("mail.drafts")
    return sorted([one["subject"] for one in there["threads"]] + [one["subject"] for one in own])


async def test_a_draft_of_another_program_is_continued_with_all_that_it_has(
    writer: DraftWriter, box: FolderMailbox
) -> None:
    rich = '<p>The <b>wall</b><script>x()</script></p><img src="cid:pic@elsewhere.test" alt="wall">'
    box.deliver(
        theirs(rich=rich, In_Reply_To="<welcome@mail.test>", References="<first@mail.test> <welcome@mail.test>"),
        folder=DRAFT,
    )
    box.deliver(
        b"Message-ID: <later@mail.test>\nIn-Reply-To: <welcome@mail.test>\n" + mail("Re: Welcome"), folder=INBOX
    )
    draft = await taken(writer, await stored(writer, "Harbour"))
    assert (draft["to"], draft["cc"], draft["bcc"]) == (
        ['"Bob Brook" <bob@else.test>'],
        ["car@else.test"],
        ["dan@else.test"],
    )
    assert (draft["subject"], draft["notes"]) == ("Harbour", [])
    assert "<b>wall</b>" in draft["html"]
    assert "script" not in draft["html"]
    assert [one["filename"] for one in draft["attachments"]] == ["wall.png", "plan.pdf"]
    await changed(writer, draft, html="<p>Changed</p>")
    await writer.told()
    ((_, raw),) = box.drafts
    copy = mime.parse_message(raw)
    assert (copy.message_id, copy.in_reply_to, copy.references) == (
        "harbour@elsewhere.test",
        "welcome@mail.test",
        ("first@mail.test", "welcome@mail.test"),
    )
    assert [one.content for one in copy.attachments] == [PICTURE, b"plan"]


async def test_plain_text_is_kept_as_it_is(writer: DraftWriter, box: FolderMailbox) -> None:
    text = "Hi  Bob,\n\na  b <here>\n\n> quoted\n> more\n\n-- \nMia"
    box.deliver(theirs(text=text), folder=DRAFT)
    draft = await taken(writer, await stored(writer, "Harbour"))
    await changed(writer, draft, subject="Harbours")
    await writer.told()
    ((_, raw),) = box.drafts
    assert (mime.parse_message(raw).text or "").rstrip() == text


async def test_it_is_from_the_alias_that_it_was_written_from(writer: DraftWriter, box: FolderMailbox) -> None:
    wanted = {"accountId": writer.accounts[MIA], "address": "hello@studio.example"}
    await writer.service.mutate("mail.setAddress", **wanted, name="The Studio")
    box.deliver(theirs(From="Studio <Hello@studio.example>"), folder=DRAFT)
    box.deliver(theirs("Stranger", From="x@nobody.example"), folder=DRAFT)
    assert (await taken(writer, await stored(writer, "Harbour")))["fromAddress"] == "hello@studio.example"
    assert (await taken(writer, await stored(writer, "Stranger")))["fromAddress"] is None


async def test_opening_writes_nothing_there_and_is_the_same_draft_each_time(
    writer: DraftWriter, box: FolderMailbox
) -> None:
    box.deliver(theirs(), folder=DRAFT)
    message = await stored(writer, "Harbour")
    first, second = await taken(writer, message), await taken(writer, message)
    assert first["id"] == second["id"]
    await writer.told()
    assert subjects(box) == ["Harbour"]
    assert box.drafts_put == 0
    assert await listed(writer) == ["Harbour"]


async def test_a_change_replaces_it_there_and_it_is_listed_once(writer: DraftWriter, box: FolderMailbox) -> None:
    box.deliver(theirs(), folder=DRAFT)
    draft = await taken(writer, await stored(writer, "Harbour"))
    await changed(writer, draft, subject="Harbours")
    await writer.told()
    assert subjects(box) == ["Harbours"]
    assert await listed(writer) == ["Harbours"]


@pytest.mark.parametrize("fault", [Unreachable("No connection."), LostAnswer("Cut.")], ids=["unreachable", "lost"])
@pytest.mark.parametrize("at", range(3))
async def test_a_fault_at_any_step_leaves_one(
    writer: DraftWriter, box: FolderMailbox, fault: Exception, at: int
) -> None:
    box.deliver(theirs(), folder=DRAFT)
    draft = await taken(writer, await stored(writer, "Harbour"))
    box.faults[:] = [*[None] * at, fault]  # type: ignore[list-item]
    await changed(writer, draft, subject="Harbours")
    await writer.told()
    assert subjects(box) == ["Harbours"]
    assert await listed(writer) == ["Harbours"]


@pytest.mark.parametrize("is_changed", [False, True], ids=["untouched", "changed"])
@pytest.mark.parametrize("how", ["mail.deleteDraft", "mail.send"])
async def test_it_goes_there_when_it_is_thrown_away_or_sent_here(
    writer: DraftWriter, box: FolderMailbox, how: str, is_changed: bool
) -> None:
    box.deliver(theirs(In_Reply_To="<welcome@mail.test>"), folder=DRAFT)
    draft = await taken(writer, await stored(writer, "Harbour"))
    if is_changed:
        await changed(writer, draft, subject="Harbours")
    sent = {name: draft[name] for name in ("accountId", "to", "subject", "html", "replyTo")}
    asked = {"id": draft["id"]} if how == "mail.deleteDraft" else {"draftId": draft["id"], **sent}
    answer = await writer.service.mutate(how, **asked)
    await writer.told()
    assert subjects(box) == []
    assert await listed(writer) == []
    if how == "mail.send":
        ((parent,),) = await writer.service.rows("select in_reply_to from mail_outgoing")
        assert parent == "welcome@mail.test"
        await writer.service.mutate("mail.cancelSend", id=answer["outgoingId"])
        await writer.told()
        assert subjects(box) == ["Harbour"]
        ((_, raw),) = box.drafts
        assert mime.parse_message(raw).in_reply_to == "welcome@mail.test"


@pytest.mark.parametrize("what", ["deleted", "trashed", "edited"])
@pytest.mark.parametrize("is_changed", [False, True], ids=["untouched", "changed"])
async def test_what_another_program_does_with_it_meanwhile_takes_nothing_away(
    writer: DraftWriter, box: FolderMailbox, what: str, is_changed: bool
) -> None:
    there = box.deliver(theirs(), folder=DRAFT)
    draft = await taken(writer, await stored(writer, "Harbour"))
    if what == "trashed":
        box.move(there, TRASH)
    else:
        box.delete(there)
    if what == "edited":
        box.deliver(theirs("Ships"), folder=DRAFT)
    await synced(writer)
    if is_changed:
        await changed(writer, draft, subject="Harbours")
    else:
        assert await writer.notes() == {"Harbour": [GONE]}
    await writer.told()
    mine = ["Harbours"] if is_changed else ["Harbour"]
    edit = ["Ships"] if what == "edited" else []
    assert await listed(writer) == sorted(mine + edit)
    assert subjects(box) == (mine if is_changed else []) + edit
    assert (TRASH in {one.place.folder for one in box.kept.values()}) == (what == "trashed")


async def test_one_that_is_thrown_away_here_is_not_taken_up_again(writer: DraftWriter, box: FolderMailbox) -> None:
    box.deliver(theirs(), folder=DRAFT)
    message = await stored(writer, "Harbour")
    draft = await taken(writer, message)
    box.faults[:] = [Unreachable("No connection.")]
    await writer.service.mutate("mail.deleteDraft", id=draft["id"])
    assert await refused(writer, message) == 409
    await writer.told()
    assert await listed(writer) == []


async def test_what_is_no_draft_is_not_taken_up(writer: DraftWriter) -> None:
    assert await refused(writer, await stored(writer, "Welcome")) == 404


async def test_where_no_drafts_are_kept_for_us_it_goes_to_the_trash_with_the_first_change(
    writer: DraftWriter, box: FolderMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FolderProvider, "drafts", None)
    there = box.deliver(theirs(), folder=DRAFT)
    draft = await taken(writer, await stored(writer, "Harbour"))
    await writer.told()
    assert box.kept[there].place.folder == DRAFT
    await changed(writer, draft, subject="Harbours")
    await writer.told()
    assert box.kept[there].place.folder == TRASH
    assert await listed(writer) == ["Harbours"]


async def test_what_was_only_opened_does_not_keep_a_person_from_writing(
    writer: DraftWriter, box: FolderMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "MAX_DRAFTS", 1)
    for subject in ("Harbour", "Pier"):
        box.deliver(theirs(subject), folder=DRAFT)
    opened = [await taken(writer, await stored(writer, subject)) for subject in ("Harbour", "Pier")]
    await writer.save("Boats")
    with pytest.raises(RpcError, match="There are 1 drafts already"):
        await writer.save("Ships")
    assert [(await changed(writer, one))["version"] for one in opened] == [2, 2]
