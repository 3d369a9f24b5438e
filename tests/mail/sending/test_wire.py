"""How the records of sending go over the wire, and the person's words come in: each in its own field."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import msgspec
import pytest

from svc.clock import rfc3339
from svc.formats.person import Person
from svc.mail.model import AttachmentRef
from svc.mail.sending import wire
from svc.mail.sending.model import Draft, Outgoing, Quote, Quoted
from svc.mail.sending.states import OutgoingState
from tests.mail.bare import NOON
from tests.mail.sending.sending_database import BEN, MIA

QUOTED = Quoted(
    message_id="msg",
    kind="reply",
    body_sha256="b",
    sender=Person(name="", address="a@x"),
    sent_at=1,
    subject="s",
    to=(),
    cc=(),
    inline=(),
)


def shown(out: object) -> object:
    """As a client reads it."""
    return msgspec.json.decode(msgspec.json.encode(out))


def outgoing(**more: Any) -> Outgoing:
    columns: dict[str, Any] = {
        "id": "out",
        "owner_id": MIA.user_id,
        "sent_by": MIA.user_id,
        "sent_by_name": "Mia",
        "device_id": "dev",
        "account_id": "acc",
        "from_address": "mia@x",
        "to": ("to@x",),
        "cc": ("cc@x",),
        "bcc": ("bcc@x",),
        "subject": "Hello",
        "html": "<p>Hi.</p>",
        "attachments": ("fil",),
        "thread_id": "thr",
        "quoted": QUOTED,
        "in_reply_to": None,
        "references": (),
        "provider_thread_id": None,
        "draft_id": "drf",
        "restored_draft_id": None,
        "message_id_header": "id@x",
        "state": "scheduled",
        "doubt": False,
        "version": 1,
        "send_at": NOON + 1,
        "next_at": NOON + 2,
        "attempts": 3,
        "last_error": "Slow down.",
        "message_id": "msg_own",
        "created_at": NOON,
        "dismissed": False,
    }
    return Outgoing(**{**columns, **more})


def test_an_outgoing_mail_is_shown_with_what_a_person_asks_of_it() -> None:
    assert shown(wire.outgoing_out(outgoing())) == {
        "id": "out",
        "accountId": "acc",
        "to": ["to@x"],
        "cc": ["cc@x"],
        "bcc": ["bcc@x"],
        "subject": "Hello",
        "state": "scheduled",
        "sendAt": rfc3339(NOON + 1),
        "nextAttemptAt": rfc3339(NOON + 2),
        "attempts": 3,
        "lastError": "Slow down.",
        "hasAttachments": True,
        "threadId": "thr",
        "messageId": "msg_own",
        "createdAt": rfc3339(NOON),
        "by": None,
    }
    bare = wire.outgoing_out(outgoing(attachments=(), send_at=None, next_at=None, sent_by=BEN.user_id))
    assert (bare.has_attachments, bare.send_at, bare.next_attempt_at, bare.by) == (False, None, None, "Mia")


@pytest.mark.parametrize(("state", "goes_at"), [("held", NOON + 2), ("scheduled", NOON + 1), ("sent", NOON + 1)])
def test_a_mail_goes_when_its_pause_is_over_or_at_the_time_that_was_asked_for(state: str, goes_at: int) -> None:
    row = outgoing(state=state)
    assert wire.outgoing_out(row).send_at == rfc3339(goes_at)
    assert shown(wire.sent_out(row)) == {
        "outgoingId": "out",
        "state": state,
        "messageId": "msg_own",
        "sendAt": rfc3339(goes_at),
    }


def test_what_waits_can_be_held_back() -> None:
    assert {state for state in get_args(OutgoingState) if outgoing(state=state).is_waiting} == {
        "held",
        "scheduled",
        "overdue",
    }


def test_a_draft_is_shown_as_a_line_and_whole() -> None:
    draft = Draft(
        id="drf",
        owner_id="usr",
        account_id="acc",
        to=("to@x",),
        cc=("cc@x",),
        bcc=("bcc@x",),
        subject="Hello",
        html="<p>Hi.</p>",
        snippet="Hi.",
        attachments=("fil",),
        thread_id="thr",
        quote=Quote(message_id="msg", kind="forward"),
        version=4,
        updated_at=NOON,
        from_address="hello@studio.example",
        answers=None,
        notes=("Not copied.",),
        about_thread_id="thr_about",
    )
    assert shown(wire.draft_row_out(draft)) == {
        "id": "drf",
        "accountId": "acc",
        "to": ["to@x"],
        "subject": "Hello",
        "snippet": "Hi.",
        "updatedAt": rfc3339(NOON),
        "replyTo": "thr",
        "notes": ["Not copied."],
        "threadId": "thr_about",
        "quote": {"messageId": "msg", "kind": "forward"},
    }
    picture = AttachmentRef(filename="a.png", mime="image/png", sha256="0", size=7, file_id="fil")
    attached = {"fileId": "fil", "filename": "a.png", "mime": "image/png", "size": 7}
    assert shown(wire.attachment_out(picture)) == attached
    assert shown(wire.draft_out(draft, (wire.attachment_out(picture),))) == {
        "id": "drf",
        "accountId": "acc",
        "to": ["to@x"],
        "cc": ["cc@x"],
        "bcc": ["bcc@x"],
        "subject": "Hello",
        "html": "<p>Hi.</p>",
        "attachments": [attached],
        "replyTo": "thr",
        "quote": {"messageId": "msg", "kind": "forward"},
        "version": 4,
        "updatedAt": rfc3339(NOON),
        "fromAddress": "hello@studio.example",
        "notes": ["Not copied."],
        "threadId": "thr_about",
    }


SAID = {
    "accountId": "acc",
    "to": ["to@x"],
    "cc": ["cc@x"],
    "bcc": ["bcc@x"],
    "subject": "Hello",
    "html": "<p>Hi.</p>",
    "attachments": ["fil"],
    "replyTo": "thr",
    "quote": {"messageId": "msg", "kind": "forward"},
    "fromAddress": "hello@studio.example",
}


@pytest.mark.parametrize("input", [wire.SendInput, wire.SaveDraftInput])
def test_what_was_said_is_what_is_sent_or_kept(input: type[wire.SendInput] | type[wire.SaveDraftInput]) -> None:
    request = wire.send_request_of(msgspec.convert(SAID, input))
    assert (request.account_id, request.subject, request.html) == ("acc", "Hello", "<p>Hi.</p>")
    assert (request.to, request.cc, request.bcc) == (("to@x",), ("cc@x",), ("bcc@x",))
    assert (request.attachments, request.thread_id) == (("fil",), "thr")
    assert (request.quote, request.from_address) == (
        Quote(message_id="msg", kind="forward"),
        "hello@studio.example",
    )
    little = {name: SAID[name] for name in ("accountId", "to", "subject", "html")}
    request = wire.send_request_of(msgspec.convert(little, input))
    assert (request.cc, request.bcc, request.attachments, request.thread_id, request.quote) == ((), (), (), None, None)
    assert request.from_address is None


def test_an_instant_is_the_nearest_millisecond() -> None:
    noon = datetime.fromtimestamp(NOON / 1_000, UTC)
    assert wire.millis(None) is None
    assert [wire.millis(noon + timedelta(microseconds=part)) for part in (0, 499, 501, 1_000)] == [
        NOON,
        NOON,
        NOON + 1,
        NOON + 1,
    ]


def test_a_mail_is_put_away_without_a_draft_unless_one_is_asked_for() -> None:
    assert not msgspec.convert({"id": "out"}, wire.DismissInput).draft


@pytest.mark.parametrize(("length", "fits"), [(wire.MAX_SIGNATURE_CHARS, True), (wire.MAX_SIGNATURE_CHARS + 1, False)])
def test_a_signature_has_its_limit(length: int, fits: bool) -> None:
    said = {"accountId": "acc", "html": "x" * length}
    if fits:
        msgspec.convert(said, wire.SetSignatureInput)
    else:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(said, wire.SetSignatureInput)
