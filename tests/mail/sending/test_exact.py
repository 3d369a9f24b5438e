"""Small mistakes that no other test would notice: limits on both sides, each column in its own field."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from svc.clock import DAY_MS, HOUR_MS
from svc.errors import TooLarge
from svc.files import File
from svc.mail.sending import actions, building, queries, wire
from svc.mail.sending.building import CannotBuild
from svc.mail.sending.drafts import SNIPPET_CHARS, SNIPPET_SOURCE_CHARS
from svc.mail.sending.holding_back import REVERSAL
from svc.mail.sending.model import (
    KEEP_ENDED_MS,
    MAX_ATTACHED_BYTES,
    MAX_ATTACHMENTS,
    MAX_ATTEMPTS,
    MAX_LATE_MS,
    MAX_RECIPIENTS,
    Answers,
)
from svc.mail.sending.moving import MAX_REASON_CHARS
from tests.mail.sending.mailer import Mailer

OUTGOING = (
    *("id", "owner_id", "device_id", "account_id", "from_address", "to", "cc", "bcc", "subject", "html"),
    *("attachments", "thread_id", "quoted", "in_reply_to", "references", "provider_thread_id", "draft_id"),
    *("restored_draft_id", "message_id_header", "state", "doubt", "version", "send_at", "next_at", "attempts"),
    *("last_error", "message_id", "created_at", "dismissed", "sent_by", "sent_by_name"),
)
DRAFT = (
    *("id", "owner_id", "account_id", "to", "cc", "bcc", "subject", "html", "snippet", "attachments", "thread_id"),
    *("quote", "version", "updated_at", "from_address"),
)
NOTES = (None, None, None, 0, None, None)
"""What a draft's last columns say where there is nothing to say."""
EMPTY = {"accountId": "acc", "to": [], "subject": "", "html": ""}
LISTS = {"to", "cc", "bcc", "attachments", "references"}


def row_of(names: tuple[str, ...]) -> tuple[Any, ...]:
    """A row whose columns all differ."""
    return tuple(None if name in {"quoted", "quote"} else f'["{name}"]' if name in LISTS else name for name in names)


def test_each_column_comes_back_in_its_own_field() -> None:
    for read, names, more in ((queries._outgoing, OUTGOING, ()), (queries._draft, DRAFT, NOTES)):
        record = read((*row_of(names), *more))
        found = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
        wanted: dict[str, Any] = {name: (name,) if name in LISTS else name for name in names}
        told = {"quoted": None, "quote": None, "doubt": True, "dismissed": True}
        kept = {name: told.get(name, value) for name, value in wanted.items()}
        assert found == kept | ({"answers": None, "notes": (), "about_thread_id": None} if more else {})


def test_what_a_draft_answers_and_what_is_said_of_it_come_back() -> None:
    for elsewhere, says in ((None, "changed it"), ("sent", "has sent"), ("thrown", "has deleted")):
        draft = queries._draft((*row_of(DRAFT), "parent", '["first", "parent"]', "Too large.", 1, None, elsewhere))
        assert draft.answers == Answers(in_reply_to="parent", references=("first", "parent"))
        refused, other = draft.notes
        assert (refused.partition(" ")[0], says in other) == ("Not", True)


def file_of(size: int) -> File:
    return File(id="fil", sha256="0" * 64, name="a", mime="text/plain", size=size, created_at=0)


def test_attachments_may_be_as_large_as_a_mail_can_carry_and_no_larger() -> None:
    actions._check_size([file_of(MAX_ATTACHED_BYTES - 1), file_of(1)])
    with pytest.raises(TooLarge, match=r"^The attachments are 26\.0 MiB together; a mail can carry 25 MiB\."):
        actions._check_size([file_of(MAX_ATTACHED_BYTES), file_of(1 << 20)])


async def test_a_mail_may_be_as_large_as_its_provider_takes_and_no_larger(
    mailer: Mailer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def built(self: object, row: object) -> bytes:
        return b"x" * (2 << 20)

    monkeypatch.setattr(building.Builder, "_build", built)
    builder = object.__new__(building.Builder)
    row: Any = None
    assert len(await builder.build(row, max_bytes=2 << 20)) == 2 << 20
    with pytest.raises(CannotBuild, match="larger than the 1 MiB that"):
        await builder.build(row, max_bytes=(2 << 20) - 1)


@pytest.mark.parametrize(
    ("field", "most"),
    [
        ({"html": "x" * wire.MAX_HTML_CHARS}, "x"),
        ({"subject": "x" * wire.MAX_SUBJECT_CHARS}, "x"),
        ({"to": ["x" * wire.MAX_MAILBOX_CHARS]}, "x"),
        ({"attachments": ["f"] * MAX_ATTACHMENTS}, ["f"]),
        ({"cc": ["x"] * MAX_RECIPIENTS}, ["x"]),
    ],
)
def test_a_draft_may_be_as_long_as_its_limits_and_no_longer(field: dict[str, Any], most: Any) -> None:
    ((name, value),) = field.items()
    msgspec.convert({**EMPTY, **field}, wire.SaveDraftInput)
    longer = [value[0] + most] if name == "to" else value + most
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**EMPTY, name: longer}, wire.SaveDraftInput)


def test_the_limits_are_those_that_the_documentation_tells() -> None:
    """In round numbers: who writes to one of them must not meet another."""
    assert (wire.MAX_HTML_CHARS, wire.MAX_SIGNATURE_CHARS) == (1 << 20, 64 << 10)
    assert (MAX_ATTACHMENTS, MAX_ATTACHED_BYTES) == (100, 25 << 20)
    assert (wire.MAX_SUBJECT_CHARS, wire.MAX_MAILBOX_CHARS) == (2_000, 1_000)
    assert (MAX_RECIPIENTS, MAX_ATTEMPTS, MAX_LATE_MS, KEEP_ENDED_MS) == (500, 10, 12 * HOUR_MS, 30 * DAY_MS)
    assert (SNIPPET_CHARS, SNIPPET_SOURCE_CHARS, MAX_REASON_CHARS) == (200, 16 << 10, 500)


async def test_a_step_of_a_mail_that_is_not_there_any_more_is_not_open(mailer: Mailer) -> None:
    step: Any = SimpleNamespace(inverse=b'{"outgoing_id":"out_none"}')
    assert not await mailer.service.workspace.store.read(REVERSAL.is_open, step)


async def test_versions_of_a_draft_are_counted_from_one(mailer: Mailer) -> None:
    wanted = {**EMPTY, "accountId": mailer.account_id}
    saved = await mailer.service.mutate("mail.saveDraft", **wanted)
    assert saved["version"] == 1
    again = await mailer.service.mutate("mail.saveDraft", **{**wanted, "id": saved["id"], "version": 1})
    assert again["version"] == 2
    sent = await mailer.send()
    assert await mailer.service.mutate("mail.cancelSend", id=sent["outgoingId"]) == {}
    restored = (await mailer.service.query("mail.outgoingDraft", id=sent["outgoingId"]))["draftId"]
    assert (await mailer.service.query("mail.draft", id=restored))["version"] == 1


async def test_an_answer_to_a_thread_is_to_its_newest_mail_and_not_to_a_draft(mailer: Mailer) -> None:
    inject = {"address": mailer.address, "from": "Noa <noa@example.org>", "text": "x", "threadKey": "one"}
    await mailer.service.mutate("fake.mail.inject", subject="Lunch", **inject)
    draft = {**inject, "from": mailer.address}
    await mailer.service.mutate("fake.mail.inject", subject="Re: Lunch", labels=["DRAFT"], **draft)
    await mailer.sync()
    threads = (await mailer.service.query("mail.threads", section="inbox"))["threads"]
    (thread,) = [one for one in threads if "Lunch" in one["subject"]]
    answer = await mailer.service.query("mail.prepare", threadId=thread["id"], kind="reply")
    assert answer["to"] == ['"Noa" <noa@example.org>']
    messages = (await mailer.service.query("mail.thread", id=thread["id"]))["messages"]
    assert answer["quote"]["messageId"] == next(one["id"] for one in messages if one["subject"] == "Lunch")


async def test_a_signature_stands_below_an_answer_and_is_empty_until_there_is_one(mailer: Mailer) -> None:
    assert (await mailer.service.query("mail.signature", accountId=mailer.account_id))["html"] == ""
    await mailer.service.mutate("mail.setSignature", accountId=mailer.account_id, html="<p>Mia</p>")
    assert "Mia" in (await mailer.service.query("mail.signature", accountId=mailer.account_id))["html"]
