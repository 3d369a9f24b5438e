"""What a person may do with outgoing mail, decided in a transaction alone: what is written, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from svc.errors import Conflict, Invalid, NotFound
from svc.formats.person import Person
from svc.mail.model import AttachmentRef, MessageHeaders
from svc.mail.providers.kinds import KEPT_HERE
from svc.mail.sending import actions, drafts, queries
from svc.mail.sending.model import MAX_ATTACHMENTS, Draft, Quote, draft_origin, outgoing_origin
from svc.principal import Principal
from tests.mail.bare import NOON
from tests.mail.sending.sending_database import BEN, MIA, SendingDatabase


@pytest.fixture
def database() -> SendingDatabase:
    return SendingDatabase()


def kept(database: SendingDatabase, *, by: Principal = MIA, **more: Any) -> Draft:
    return drafts.save(database.tx, by, draft_id=None, version=None, request=database.request(**more))


# Accepting


def test_each_thing_that_was_said_stands_in_its_column(database: SendingDatabase) -> None:
    database.share(BEN)
    database.message("msg_1", header="parent@x", headers=MessageHeaders(references=("first@x",)))
    file_id = database.attach("fil_1", origin="upload", owner=BEN)
    row = database.accept(
        by=BEN,
        send_at=NOON + 5,
        to=("Noa <noa@example.org>",),
        cc=("cc@example.org",),
        bcc=("bcc@example.org",),
        subject=" Two\nlines ",
        html="<p>x</p>",
        attachments=(file_id,),
        thread_id="thr_1",
    )
    assert (row.owner_id, row.sent_by, row.device_id) == (MIA.user_id, BEN.user_id, BEN.device_id)
    assert (row.account_id, row.from_address) == (database.account_id, "mia@example.org")
    assert (row.to, row.cc, row.bcc) == (('"Noa" <noa@example.org>',), ("cc@example.org",), ("bcc@example.org",))
    assert (row.subject, row.html, row.thread_id) == ("Two lines", "<p>x</p>", "thr_1")
    assert (row.in_reply_to, row.references) == ("parent@x", ("first@x", "parent@x"))
    assert (row.provider_thread_id, row.draft_id, row.quoted) == ("there-thr_1", None, None)
    assert (row.state, row.send_at, row.next_at, row.created_at) == ("scheduled", NOON + 5, NOON + 5, NOON)
    assert (row.attempts, row.doubt, row.version, row.last_error) == (0, False, 1, None)
    assert row.id.startswith("out_")
    assert row.message_id_header.endswith("@example.org")
    assert len(row.message_id_header.partition("@")[0]) > 8
    assert database.tx.value("select changed_at from mail_outgoing") == NOON
    assert row.attachments == tuple(database.files(outgoing_origin(row.id)))
    ((owner, name, mime, size),) = database.tx.all(
        "select owner_id, name, mime, size from files where id = :id", id=row.attachments[0]
    )
    assert (owner, name, mime, size) == (MIA.user_id, "a.txt", "text/plain", 4)


def test_two_mails_have_two_message_ids(database: SendingDatabase) -> None:
    assert database.accept().message_id_header != database.accept().message_id_header


@pytest.mark.parametrize(
    ("send_at", "hold_ms", "wanted"),
    [
        (None, 0, ("scheduled", None, NOON)),
        (None, 1, ("held", None, NOON + 1)),
        (NOON, 0, ("scheduled", None, NOON)),
        (NOON, 7, ("held", None, NOON + 7)),
        (NOON + 1, 7, ("scheduled", NOON + 1, NOON + 1)),
    ],
)
def test_when_it_goes(database: SendingDatabase, send_at: int | None, hold_ms: int, wanted: tuple[object, ...]) -> None:
    row = database.accept(send_at=send_at, hold_ms=hold_ms)
    assert (row.state, row.send_at, row.next_at) == wanted


def test_only_a_held_mail_is_a_step_to_take_back_and_it_concerns_the_thread_it_answers(
    database: SendingDatabase,
) -> None:
    database.message("msg_1")
    database.accept()
    assert database.tx.all("select id from undo_steps") == []
    straight, reply = database.accept(hold_ms=1), database.accept(hold_ms=1, thread_id="thr_1")
    steps = database.tx.all("select user_id, kind, what, concerns, inverse from undo_steps order by id")
    assert [tuple(map(_plain, step)) for step in steps] == [
        (MIA.user_id, "send", "send", [], {"outgoing_id": straight.id}),
        (MIA.user_id, "send", "send", ["thr_1"], {"outgoing_id": reply.id}),
    ]


def _plain(value: object) -> object:
    return json.loads(value) if isinstance(value, str) and value[0] in "[{" else value


def test_what_is_accepted_is_told_from_the_device_that_asked(database: SendingDatabase) -> None:
    database.tx.emitted.clear()
    row = database.accept()
    assert [(one.id, one.audience, one.device_id) for one in database.tx.emitted] == [
        (row.id, MIA.user_id, MIA.device_id)
    ]


def test_a_draft_is_taken_on_once_with_its_files_and_is_no_more(database: SendingDatabase) -> None:
    draft = kept(
        database, attachments=(database.attach("fil_1", origin="upload"), database.attach("fil_2", origin="upload"))
    )
    first, second = draft.attachments
    row = database.accept(draft_id=draft.id, attachments=(first,))
    assert (row.draft_id, row.attachments) == (draft.id, (first,))
    assert database.files(outgoing_origin(row.id)) == [first]
    assert database.files(draft_origin(draft.id)) == []
    assert second not in {first, *database.files("upload")}
    assert queries.draft(database.tx, draft.id) is None
    assert database.accept(draft_id=draft.id, subject="Again") == row
    with pytest.raises(NotFound, match="no such draft"):
        database.accept(draft_id="drf_none")


def test_a_file_of_a_draft_is_known_by_the_id_it_was_uploaded_with_too(database: SendingDatabase) -> None:
    """The window that sends it knows no other."""
    draft = kept(database, attachments=(database.attach("fil_1", origin="upload"),))
    database.tx.run("delete from files where id = 'fil_1'")
    assert database.accept(draft_id=draft.id, attachments=("fil_1",)).attachments == draft.attachments


def accept_for(database: SendingDatabase, **recipients: Any) -> None:
    database.accept(**recipients)


@pytest.mark.parametrize("field", ["to", "cc", "bcc"])
@pytest.mark.parametrize("mark", ["\x00", "\x1f", "\x7f", "\x9f", "\u2028", "\u2029"])
def test_a_recipient_with_a_control_character_is_refused(database: SendingDatabase, field: str, mark: str) -> None:
    with pytest.raises(Invalid, match="can't be written in an address"):
        accept_for(database, **{field: (f"noa{mark}@example.org",)})


@pytest.mark.parametrize("field", ["to", "cc", "bcc"])
def test_one_recipient_of_any_kind_is_enough(database: SendingDatabase, field: str) -> None:
    accept_for(database, **{"to": (), field: ("noa@example.org",)})
    with pytest.raises(Invalid, match="needs somebody"):
        database.accept(to=())


def picture(id: str, *, inline: bool = True, content_id: str | None = "pic@x") -> AttachmentRef:
    return AttachmentRef(
        filename=f"{id}.png",
        mime="image/png",
        sha256="1" * 64,
        size=7,
        file_id=id,
        inline=inline,
        content_id=content_id,
    )


def test_the_original_is_kept_as_it_is_now_with_its_pictures_as_files_of_the_mail(database: SendingDatabase) -> None:
    to, cc = (Person(name="To", address="to@x"),), (Person(name="Cc", address="cc@x"),)
    pictures = (picture("fil_1"), picture("fil_2", inline=False), picture("fil_3", content_id=None))
    database.message("msg_1", at=NOON - 9, headers=MessageHeaders(to=to, cc=cc, attachments=pictures))
    row = database.accept(quote=Quote(message_id="msg_1", kind="forward"))
    quoted = row.quoted
    assert quoted is not None
    assert (quoted.message_id, quoted.kind, quoted.body_sha256) == ("msg_1", "forward", "body")
    assert (quoted.sender, quoted.sent_at, quoted.subject) == (
        Person(name="Noa", address="noa@example.org"),
        NOON - 9,
        "Plans",
    )
    assert (quoted.to, quoted.cc) == (to, cc)
    (inline,) = quoted.inline
    assert [inline.file_id] == database.files(outgoing_origin(row.id))
    assert (inline.filename, inline.content_id) == ("fil_1.png", "pic@x")
    assert database.tx.all("select owner_id, sha256, name, mime, size from files") == [
        (MIA.user_id, "1" * 64, "fil_1.png", "image/png", 7)
    ]


def test_of_an_originals_pictures_no_more_go_along_than_a_mail_may_have(database: SendingDatabase) -> None:
    pictures = tuple(picture(f"fil_{number}", content_id=f"{number}@x") for number in range(MAX_ATTACHMENTS + 1))
    database.message("msg_1", headers=MessageHeaders(attachments=pictures))
    quoted = database.accept(quote=Quote(message_id="msg_1", kind="reply")).quoted
    assert quoted is not None
    assert len(quoted.inline) == MAX_ATTACHMENTS


def test_a_reply_in_a_thread_without_a_message_or_with_an_unusable_id_refers_to_what_it_can(
    database: SendingDatabase,
) -> None:
    database.message("msg_1", header="not usable", headers=MessageHeaders(references=("first@x",)))
    row = database.accept(thread_id="thr_1")
    assert (row.in_reply_to, row.references) == (None, ("first@x",))
    database.message("msg_2", thread="thr_2", labels='["DRAFT"]', header="draft@x")
    row = database.accept(thread_id="thr_2")
    assert (row.in_reply_to, row.references, row.provider_thread_id) == (None, (), "there-thr_2")


def test_from_another_account_a_reply_has_no_thread_there(database: SendingDatabase) -> None:
    database.message("msg_1", header="parent@x")
    row = database.accept(thread_id="thr_1", account_id=database.account(MIA, "work@example.org"))
    assert (row.in_reply_to, row.provider_thread_id) == ("parent@x", None)


def test_an_account_that_is_gone_or_kept_here_sends_nothing_by_any_way(database: SendingDatabase) -> None:
    waiting = database.accept(send_at=NOON + 5)
    failed = database.put("out_1", state="failed")
    ways: tuple[Callable[[], object], ...] = (
        database.accept,
        lambda: actions.reschedule(database.tx, MIA, outgoing_id=waiting.id, send_at=NOON),
        lambda: actions.retry(database.tx, MIA, outgoing_id=failed),
    )
    for column, value, why in (("provider", KEPT_HERE, "can’t send"), ("state", "disconnected", "is disconnected")):
        database.tx.run(f"update mail_accounts set {column} = :value", value=value)
        for way in ways:
            with pytest.raises(Conflict, match=why):
                way()
    assert actions.cancel(database.tx, MIA, outgoing_id=waiting.id).state == "cancelled"


# Second thoughts


def test_what_is_taken_back_is_a_draft_again_as_it_was(database: SendingDatabase) -> None:
    database.message("msg_1", headers=MessageHeaders(attachments=(picture("fil_p"),)))
    file_id = database.attach("fil_1", origin="upload")
    row = database.accept(
        cc=("cc@example.org",),
        bcc=("bcc@example.org",),
        attachments=(file_id,),
        thread_id="thr_1",
        quote=Quote(message_id="msg_1", kind="reply"),
    )
    database.tx.emitted.clear()
    after = actions.cancel(database.tx, MIA, outgoing_id=row.id)
    assert (after.state, after.next_at) == ("cancelled", None)
    assert after.restored_draft_id is not None
    draft = queries.draft_for(database.tx, MIA, draft_id=after.restored_draft_id)
    assert draft is not None
    assert (draft.owner_id, draft.account_id, draft.version) == (MIA.user_id, database.account_id, 1)
    assert (draft.to, draft.cc, draft.bcc) == (row.to, row.cc, row.bcc)
    assert (draft.subject, draft.html, draft.snippet, draft.thread_id) == ("Hello", "<p>Hi.</p>", "Hi.", "thr_1")
    assert draft.quote == Quote(message_id="msg_1", kind="reply")
    assert (draft.attachments, database.files(draft_origin(draft.id))) == (row.attachments, list(row.attachments))
    assert database.files(outgoing_origin(row.id)) == []
    assert {(one.id, one.audience, one.device_id) for one in database.tx.emitted} == {
        (draft.id, MIA.user_id, MIA.device_id),
        (row.id, MIA.user_id, MIA.device_id),
    }


def test_what_a_member_sent_becomes_their_draft_again_or_the_owners_where_they_may_no_more(
    database: SendingDatabase,
) -> None:
    database.share(BEN)
    rows = [database.accept(by=BEN) for _ in range(2)]
    owners = []
    for row in rows:
        restored = actions.cancel(database.tx, MIA, outgoing_id=row.id).restored_draft_id
        owners.append(database.tx.value("select owner_id from mail_drafts where id = :id", id=restored))
        database.unshare()
    assert owners == [BEN.user_id, MIA.user_id]


def test_of_a_doubtful_mail_only_the_next_attempt_is_held_back(database: SendingDatabase) -> None:
    row = database.put("out_1", doubt=1, next_at=NOON)
    after = actions.cancel(database.tx, MIA, outgoing_id=row)
    assert (after.state, after.restored_draft_id) == ("uncertain", None)


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ("transmitting", "on its way right now"),
        ("sent", "was sent already"),
        ("failed", "did not leave"),
        ("uncertain", "not known whether"),
        ("cancelled", "was cancelled"),
    ],
)
def test_what_can_not_be_held_back_or_moved_says_why(database: SendingDatabase, state: str, why: str) -> None:
    database.put("out_1", state=state)
    with pytest.raises(Conflict, match=why):
        actions.cancel(database.tx, MIA, outgoing_id="out_1")
    with pytest.raises(Conflict, match=why):
        actions.reschedule(database.tx, MIA, outgoing_id="out_1", send_at=NOON)


@pytest.mark.parametrize("state", ["scheduled", "held", "transmitting", "sent", "cancelled"])
def test_what_has_not_failed_is_not_tried_again_and_is_not_put_away(database: SendingDatabase, state: str) -> None:
    database.put("out_1", state=state, next_at=NOON if state in {"scheduled", "held"} else None)
    why = "goes by itself" if state in {"scheduled", "held"} else "This mail"
    with pytest.raises(Conflict, match=why):
        actions.retry(database.tx, MIA, outgoing_id="out_1")
    if state not in {"sent", "cancelled"}:
        with pytest.raises(Conflict, match="This mail"):
            actions.dismiss(database.tx, MIA, outgoing_id="out_1", keep_draft=False)


def test_what_waits_for_a_word_is_not_put_away(database: SendingDatabase) -> None:
    database.put("out_1", state="overdue")
    with pytest.raises(Conflict, match="waits for a word"):
        actions.dismiss(database.tx, MIA, outgoing_id="out_1", keep_draft=False)


@pytest.mark.parametrize(("asked", "next_at"), [(NOON - 1, NOON), (NOON + 9, NOON + 9)])
def test_another_time_begins_the_attempts_anew(database: SendingDatabase, asked: int, next_at: int) -> None:
    database.put("out_1", attempts=3, next_at=NOON + 5)
    database.tx.emitted.clear()
    row = actions.reschedule(database.tx, MIA, outgoing_id="out_1", send_at=asked)
    assert (row.state, row.send_at, row.next_at, row.attempts) == ("scheduled", asked, next_at, 0)
    assert {one.device_id for one in database.tx.emitted} == {MIA.device_id}


def test_a_word_sends_what_failed_now_and_begins_the_attempts_anew(database: SendingDatabase) -> None:
    database.put("out_1", state="failed", attempts=10)
    row = actions.retry(database.tx, MIA, outgoing_id="out_1")
    assert (row.state, row.next_at, row.attempts, row.dismissed) == ("scheduled", NOON, 0, False)
    database.put("out_2", state="failed", dismissed_at=1)
    with pytest.raises(Conflict, match="put away"):
        actions.retry(database.tx, MIA, outgoing_id="out_2")


@pytest.mark.parametrize(
    ("state", "keep_draft", "kept"),
    [
        ("failed", True, True),
        ("uncertain", True, True),
        ("failed", False, False),
        ("sent", True, False),
        ("cancelled", True, False),
    ],
)
def test_what_is_put_away_leaves_a_draft_where_it_did_not_leave_and_one_is_wanted(
    database: SendingDatabase, state: str, keep_draft: bool, kept: bool
) -> None:
    database.put("out_1", state=state)
    database.tx.emitted.clear()
    draft_id = actions.dismiss(database.tx, MIA, outgoing_id="out_1", keep_draft=keep_draft)
    assert (draft_id is not None) == kept
    assert [one.id for one in queries.drafts(database.tx, MIA)] == ([draft_id] if kept else [])
    assert database.tx.value("select dismissed_at from mail_outgoing") == NOON
    assert {one.device_id for one in database.tx.emitted} == {MIA.device_id}


def test_the_draft_that_was_made_of_it_before_is_named_and_not_made_again(database: SendingDatabase) -> None:
    database.put("out_1", state="failed", restored_draft_id="drf_1")
    assert actions.dismiss(database.tx, MIA, outgoing_id="out_1", keep_draft=True) == "drf_1"
    assert queries.drafts(database.tx, MIA) == []


def test_what_is_not_there_is_refused_by_every_way(database: SendingDatabase) -> None:
    ways: tuple[Callable[[], object], ...] = (
        lambda: actions.cancel(database.tx, MIA, outgoing_id="out_none"),
        lambda: actions.retry(database.tx, MIA, outgoing_id="out_none"),
        lambda: actions.reschedule(database.tx, MIA, outgoing_id="out_none", send_at=NOON),
        lambda: actions.dismiss(database.tx, MIA, outgoing_id="out_none", keep_draft=False),
    )
    for way in ways:
        with pytest.raises(NotFound, match="no such mail"):
            way()
