"""Drafts: kept as typed, with their files, through two windows, a closed browser and the deletion of an upload."""

from __future__ import annotations

from typing import Any

import pytest

from svc.mail.sending.drafts import SNIPPET_CHARS, SNIPPET_SOURCE_CHARS
from svc.mail.sending.model import MAX_ATTACHED_BYTES
from tests.mail.sending.mailer import TO, Mailer
from tests.support.service import RpcError


async def save(mailer: Mailer, **more: object) -> dict[str, Any]:
    wanted = {"accountId": mailer.account_id, "to": [TO], "subject": "Draft", "html": "<p>So far</p>", **more}
    answer: dict[str, Any] = await mailer.service.mutate("mail.saveDraft", **wanted)
    return answer


async def uploaded(mailer: Mailer, content: bytes = b"content", name: str = "a.txt") -> str:
    fields = {"content-type": "text/plain", "x-svc-filename": name}
    return str((await mailer.service.ask("POST", "/files", content, fields=fields)).json["id"])


async def test_a_draft_is_kept_as_it_was_typed(mailer: Mailer) -> None:
    saved = await save(mailer, to=["not an address yet", ""], subject="")
    (row,) = await mailer.service.query("mail.drafts")
    assert (row["id"], row["to"], row["snippet"]) == (saved["id"], ["not an address yet", ""], "So far")
    draft = await mailer.service.query("mail.draft", id=saved["id"])
    assert (draft["html"], draft["version"]) == ("<p>So far</p>", 1)


async def test_a_draft_that_is_made_again_by_its_key_is_the_same_one(mailer: Mailer) -> None:
    key = "the-key-of-this-draft-alone"
    first, again = await save(mailer, idempotencyKey=key), await save(mailer, idempotencyKey=key)
    assert first == again
    assert len(await mailer.service.query("mail.drafts")) == 1
    with pytest.raises(RpcError, match="used for something else"):
        await save(mailer, idempotencyKey=key, subject="Another")


async def test_a_draft_stays_with_its_account_and_its_thread(mailer: Mailer) -> None:
    (thread,) = await mailer.service.synced("Plans", address=mailer.address)
    saved = await save(mailer, replyTo=thread)
    draft = await mailer.service.query("mail.draft", id=saved["id"])
    assert (draft["accountId"], draft["replyTo"]) == (mailer.account_id, thread)


async def test_a_draft_says_which_thread_it_is_about_a_forward_too(mailer: Mailer) -> None:
    (thread,) = await mailer.service.synced("Plans", address=mailer.address)
    (message,) = (await mailer.service.query("mail.thread", id=thread))["messages"]
    quote = {"messageId": message["id"], "kind": "forward"}
    forward = await save(mailer, quote=quote)
    reply = await save(mailer, replyTo=thread)
    alone = await save(mailer)
    rows = {row["id"]: (row["threadId"], row["quote"]) for row in await mailer.service.query("mail.drafts")}
    assert rows == {forward["id"]: (thread, quote), reply["id"]: (thread, None), alone["id"]: (None, None)}
    assert (await mailer.service.query("mail.draft", id=forward["id"]))["threadId"] == thread


async def test_the_line_of_a_draft_is_made_of_its_beginning_alone(mailer: Mailer) -> None:
    """However long the draft, saving it parses no more than that: it is saved as one types."""
    blank = "<i></i>" * (SNIPPET_SOURCE_CHARS // 7)
    early = "<p>early"
    html = blank[: SNIPPET_SOURCE_CHARS - len(early)].rpartition("<i></i>")[0]
    html = html + " " * (SNIPPET_SOURCE_CHARS - len(early) - len(html)) + early + " late</p>" + "<b>" + "far " * 100
    await save(mailer, html=html)
    assert (await mailer.service.query("mail.drafts"))[0]["snippet"] == "early"
    other = await save(mailer, html=f"<p>{'word ' * 100}</p>")
    (line,) = [row["snippet"] for row in await mailer.service.query("mail.drafts") if row["id"] == other["id"]]
    assert SNIPPET_CHARS - len("word ") <= len(line) <= SNIPPET_CHARS


async def test_of_two_windows_the_second_is_told_that_the_first_has_saved(mailer: Mailer) -> None:
    saved = await save(mailer)
    await save(mailer, id=saved["id"], version=saved["version"], subject="First window")
    with pytest.raises(RpcError) as late:
        await save(mailer, id=saved["id"], version=saved["version"], subject="Second window")
    assert late.value.code == "CONFLICT"
    assert (await mailer.service.query("mail.draft", id=saved["id"]))["subject"] == "First window"


async def test_a_deleted_draft_takes_its_files_with_it(mailer: Mailer) -> None:
    saved = await save(mailer, attachments=[await uploaded(mailer)])
    await mailer.service.mutate("mail.deleteDraft", id=saved["id"])
    assert await mailer.service.query("mail.drafts") == []
    assert await mailer.service.rows("select id from files where origin like 'draft:%'") == []
    with pytest.raises(RpcError):
        await save(mailer, id=saved["id"])


async def test_an_upload_that_is_deleted_takes_nothing_away_from_a_draft_or_a_mail(mailer: Mailer) -> None:
    file_id = await uploaded(mailer, b"kept")
    saved = await save(mailer, attachments=[file_id])
    await mailer.service.mutate("files.delete", id=file_id)
    again = await save(mailer, id=saved["id"], attachments=[file_id])  # the window knows no other id
    (attached,) = (await mailer.service.query("mail.draft", id=again["id"]))["attachments"]
    assert (attached["filename"], attached["mime"], attached["size"]) == ("a.txt", "text/plain", 4)
    answer = await mailer.send(draftId=saved["id"], attachments=[attached["fileId"]])
    await mailer.until(answer["outgoingId"], "sent")
    assert [one.content for one in mailer.accepted()[-1].attachments] == [b"kept"]
    assert await mailer.service.rows("select id from files where origin like 'outgoing:%'") == []
    assert await mailer.problems() == []


async def test_files_go_with_the_mail_that_is_taken_back(mailer: Mailer) -> None:
    answer = await mailer.send(attachments=[await uploaded(mailer)])
    await mailer.service.mutate("mail.cancelSend", id=answer["outgoingId"])
    draft_id = (await mailer.service.query("mail.outgoingDraft", id=answer["outgoingId"]))["draftId"]
    draft = await mailer.service.query("mail.draft", id=draft_id)
    assert [one["filename"] for one in draft["attachments"]] == ["a.txt"]
    again = await mailer.send(draftId=draft_id, attachments=[one["fileId"] for one in draft["attachments"]])
    await mailer.until(again["outgoingId"], "sent")
    assert [one.filename for one in mailer.accepted()[-1].attachments] == ["a.txt"]
    assert await mailer.problems() == []


async def test_a_file_that_leaves_a_draft_is_gone_from_it(mailer: Mailer) -> None:
    first, second = await uploaded(mailer, b"one", "one.txt"), await uploaded(mailer, b"two", "two.txt")
    saved = await save(mailer, attachments=[first, second])
    await save(mailer, id=saved["id"], attachments=[second])
    draft = await mailer.service.query("mail.draft", id=saved["id"])
    assert [one["filename"] for one in draft["attachments"]] == ["two.txt"]
    assert len(await mailer.service.rows("select id from files where origin like 'draft:%'")) == 1


async def test_files_that_no_mail_can_carry_are_refused_when_it_is_sent(
    mailer: Mailer, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = b"x" * (1 << 16)
    monkeypatch.setattr("svc.mail.sending.actions.MAX_ATTACHED_BYTES", 100_000)
    files = [await uploaded(mailer, half, "a.bin"), await uploaded(mailer, half + b"y", "b.bin")]
    with pytest.raises(RpcError) as refused:
        await mailer.send(attachments=files)
    assert refused.value.code == "PAYLOAD_TOO_LARGE"
    assert MAX_ATTACHED_BYTES == 25 * 1024 * 1024
    empty = await uploaded(mailer, b"", "empty.bin")
    answer = await mailer.send(attachments=[empty, empty])
    await mailer.until(answer["outgoingId"], "sent")
    assert [(one.filename, one.content) for one in mailer.accepted()[-1].attachments] == [("empty.bin", b"")]


async def test_a_mail_whose_file_is_damaged_fails_and_says_so(mailer: Mailer) -> None:
    answer = await mailer.send(attachments=[await uploaded(mailer, b"precious")])
    ((sha256,),) = await mailer.service.rows("select sha256 from files where origin like 'outgoing:%'")
    (mailer.service.workspace.home.blobs / sha256[:2] / sha256).write_bytes(b"precioux")
    row = await mailer.until(answer["outgoingId"], "failed")
    assert "missing or damaged" in row["lastError"]
    assert mailer.accepted() == []


async def test_nothing_is_kept_of_a_mail_that_was_not_accepted(mailer: Mailer) -> None:
    file_id = await uploaded(mailer)
    with pytest.raises(RpcError):
        await mailer.send(to=["nobody"], attachments=[file_id])
    assert await mailer.service.rows("select origin from files where origin <> 'upload'") == []
