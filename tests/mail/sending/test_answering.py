"""Whom an answer goes to, what it begins with, and where it stands in its thread."""

from __future__ import annotations

from typing import Any

import pytest

from svc.formats import mime
from svc.formats.person import Person
from svc.mail.model import MessageHeaders, MessageRow
from svc.mail.sending.answering import answer_to
from tests.mail.sending.mailer import Mailer, mailer_of
from tests.support.service import MIA, RpcError

OWN = frozenset({"mia@example.org", "mia.k@gmail.com"})


def person(address: str) -> Person:
    return Person(name="", address=address)


def message(
    sender: str,
    *,
    labels: tuple[str, ...] = ("INBOX",),
    to: tuple[str, ...] = (),
    cc: tuple[str, ...] = (),
    reply_to: tuple[str, ...] = (),
) -> MessageRow:
    to_, cc_, reply_to_ = (tuple(map(person, addresses)) for addresses in (to, cc, reply_to))
    headers = MessageHeaders(to=to_, cc=cc_, reply_to=reply_to_)
    return MessageRow(
        id="msg_1",
        account_id="acc_1",
        thread_id="thr_1",
        provider_message_id="p1",
        sent_at=0,
        sender=person(sender),
        subject="Hello",
        headers=headers,
        labels=labels,
        body_sha256="",
    )


def answered(row: MessageRow, *, everyone: bool) -> tuple[list[str], list[str]]:
    answer = answer_to(row, own=OWN, everyone=everyone)
    return [one.address for one in answer.to], [one.address for one in answer.cc]


NOA, BEN, LIST = "noa@x.example", "ben@x.example", "team@lists.example"


@pytest.mark.parametrize(
    ("row", "reply", "reply_all"),
    [
        (message(NOA, to=("mia@example.org",)), ([NOA], []), ([NOA], [])),
        (message(NOA, to=("mia@example.org", BEN), cc=(LIST,)), ([NOA], []), ([NOA, BEN], [LIST])),
        (message(NOA, to=("mia@example.org",), reply_to=(BEN,)), ([BEN], []), ([BEN], [])),
        (message(NOA, to=(LIST,), reply_to=(LIST,)), ([LIST], []), ([LIST], [])),
        (message(NOA, to=(LIST,)), ([NOA], []), ([NOA, LIST], [])),
        # One's own addresses in every spelling, of every account.
        (message(NOA, to=("Mia+news@Example.org", "m.ia.k@gmail.com", BEN)), ([NOA], []), ([NOA, BEN], [])),
        (message(NOA, to=(NOA, NOA.upper(), BEN), cc=(BEN,)), ([NOA], []), ([NOA, BEN], [])),
        # A Reply-To that is only oneself is none.
        (message(NOA, to=("mia@example.org",), reply_to=("mia@example.org",)), ([NOA], []), ([NOA], [])),
        # A Reply-To to which nothing can be sent is none either.
        (message(NOA, to=("mia@example.org",), reply_to=("Facebook", "_")), ([NOA], []), ([NOA], [])),
        # One's own mail goes on to whom it went.
        (message("mia@example.org", to=(NOA,), cc=(BEN,)), ([NOA], []), ([NOA], [BEN])),
        (message("alias@elsewhere.example", labels=("SENT",), to=(NOA,)), ([NOA], []), ([NOA], [])),
        (message("mia@example.org", to=(NOA,), reply_to=(BEN,)), ([NOA], []), ([NOA], [])),
        (message("mia@example.org", to=("mia@example.org",)), (["mia@example.org"], []), (["mia@example.org"], [])),
        (message("mia@example.org", to=("mia.k@gmail.com",)), (["mia.k@gmail.com"], []), (["mia.k@gmail.com"], [])),
        # It went to others by copy alone, or to nobody who is named.
        (message("mia@example.org", cc=(BEN,)), (["mia@example.org"], []), ([BEN], [])),
        (message("mia@example.org"), (["mia@example.org"], []), (["mia@example.org"], [])),
        # What can't be written to is left out, and nothing of it is repeated in a header.
        (message(NOA, reply_to=("no address", "x@y\r\nBcc: z@x.example")), ([NOA], []), ([NOA], [])),
    ],
)
def test_an_answer_goes_where_it_should(
    row: MessageRow, reply: tuple[list[str], list[str]], reply_all: tuple[list[str], list[str]]
) -> None:
    assert answered(row, everyone=False) == reply
    assert answered(row, everyone=True) == reply_all


# Over the procedures


async def arrived(mailer: Mailer, subject: str = "Plans", **more: object) -> str:
    """A mail that came in; its thread."""
    (thread,) = await mailer.service.synced(subject, address=mailer.address, **more)
    return thread


async def prepared(mailer: Mailer, thread: str, kind: str, **more: object) -> dict[str, Any]:
    found: dict[str, Any] = await mailer.service.query("mail.prepare", threadId=thread, kind=kind, **more)
    return found


async def test_a_reply_begins_with_whom_what_and_the_original(hasty: Mailer) -> None:
    thread = await arrived(hasty, "AW: Re: Plans", html="<p>See you <b>there</b><script>x</script></p>")
    ready = await prepared(hasty, thread, "reply")
    assert (ready["accountId"], ready["to"], ready["cc"]) == (hasty.account_id, ['"Noa" <noa@example.org>'], [])
    assert ready["subject"] == "Re: Plans"
    assert "<b>there</b>" in ready["quotedHtml"]
    assert "script" not in ready["quotedHtml"]
    assert ready["attachments"] == []
    assert (await prepared(hasty, thread, "forward"))["subject"] == "Fwd: Plans"


async def test_a_reply_to_all_goes_to_all_and_a_reply_to_one(hasty: Mailer) -> None:
    raw = b"From: noa@example.org\r\nTo: mia@example.org, to@x.example\r\nCc: cc@x.example\r\nSubject: All\r\n\r\nHi."
    await hasty.fake_mail.inject(address=MIA, raw=raw, thread_key="all", labels=frozenset({"INBOX"}))
    await hasty.sync()
    threads = (await hasty.service.query("mail.threads", section="inbox"))["threads"]
    (thread,) = [row["id"] for row in threads if row["subject"] == "All"]
    for kind, to, cc in (
        ("reply", ["noa@example.org"], []),
        ("replyAll", ["noa@example.org", "to@x.example"], ["cc@x.example"]),
        ("forward", [], []),
    ):
        ready = await prepared(hasty, thread, kind)
        assert (ready["to"], ready["cc"]) == (to, cc)
        assert ready["quote"]["kind"] == ("forward" if kind == "forward" else "reply")


async def test_a_named_message_needs_no_thread_and_belongs_to_the_one_that_is_named(hasty: Mailer) -> None:
    thread, other = await arrived(hasty, "Plans"), await arrived(hasty, "Others")
    ready = await prepared(hasty, thread, "forward")
    message = ready["quote"]["messageId"]
    assert await hasty.service.query("mail.prepare", messageId=message, kind="forward") == ready
    assert await prepared(hasty, thread, "forward", messageId=message) == ready
    for given in ({"threadId": other, "messageId": message}, {"messageId": "msg_none"}):
        with pytest.raises(RpcError, match="There is no such message"):
            await hasty.service.query("mail.prepare", kind="forward", **given)
    with pytest.raises(RpcError, match="threadId, or messageId"):
        await hasty.service.query("mail.prepare", kind="forward")


async def test_a_mail_that_a_hook_puts_in_can_be_answered_by_name_as_any_other(hasty: Mailer) -> None:
    thread = await arrived(hasty, "Plans")
    ready = await prepared(hasty, thread, "reply")
    await hasty.send(to=ready["to"], subject=ready["subject"], replyTo=thread)
    (sent,) = hasty.accepted()
    ((parent,),) = await hasty.service.rows(
        "select message_id_header from mail_messages where id = :id", id=ready["quote"]["messageId"]
    )
    assert parent is not None
    assert (sent.in_reply_to, sent.references) == (parent, (parent,))


async def test_a_reply_stands_in_its_thread_here_and_there(hasty: Mailer) -> None:
    raw = b"From: noa@example.org\r\nTo: mia@example.org\r\nSubject: Plans\r\nMessage-ID: <plans@x>\r\n\r\nHi."
    await hasty.fake_mail.inject(address=MIA, raw=raw, thread_key="plans", labels=frozenset({"INBOX"}))
    await hasty.sync()
    threads = (await hasty.service.query("mail.threads", section="inbox"))["threads"]
    (thread,) = [row["id"] for row in threads if row["subject"] == "Plans"]
    ready = await prepared(hasty, thread, "reply")
    answer = await hasty.send(to=ready["to"], subject=ready["subject"], replyTo=thread, quote=ready["quote"])
    (sent,) = hasty.accepted()
    ((parent, thread_there),) = await hasty.service.rows(
        """
        select m.message_id_header, t.provider_thread_id from mail_messages m join mail_threads t on t.id = m.thread_id
        where m.id = :id
        """,
        id=ready["quote"]["messageId"],
    )
    assert (sent.in_reply_to, sent.references) == (parent, (parent,))
    shown = await hasty.service.query("mail.thread", id=thread)
    assert answer["messageId"] in [one["id"] for one in shown["messages"]]
    box = hasty.fake_mail.mailbox(MIA)
    assert box.messages[box.sent[0].provider_message_id].thread_id == thread_there
    assert "wrote:" in sent.text
    assert "> Hi." in sent.text


async def test_references_follow_the_threads_last_message(hasty: Mailer) -> None:
    raw = (
        b"From: noa@example.org\r\nTo: mia@example.org\r\nSubject: Long\r\nDate: Tue, 27 Oct 2026 07:00:00 +0000\r\n"
        b"Message-ID: <%s>\r\nReferences: <first@x> <second@x>\r\n\r\nHi.\r\n"
    )
    for name in (b"third@x", b"fourth@x"):
        await hasty.fake_mail.inject(address=MIA, raw=raw % name, thread_key="long", labels=frozenset({"INBOX"}))
    draft = raw.replace(b"07:00", b"07:30") % b"draft@x"
    await hasty.fake_mail.inject(address=MIA, raw=draft, thread_key="long", labels=frozenset({"DRAFT"}))
    await hasty.sync()
    threads = (await hasty.service.query("mail.threads", section="inbox"))["threads"]
    (thread,) = [row["id"] for row in threads if row["subject"] == "Long"]
    await hasty.send(subject="Re: Long", replyTo=thread)
    sent = hasty.accepted()[-1]
    assert sent.in_reply_to in {"third@x", "fourth@x"}
    assert sent.references == ("first@x", "second@x", sent.in_reply_to)


async def test_a_reply_leaves_from_the_account_that_received_the_mail(hasty: Mailer) -> None:
    other = await mailer_of(hasty.service, "work@example.org")
    thread = await arrived(other)
    ready = await prepared(other, thread, "replyAll")
    assert ready["accountId"] == other.account_id
    await other.send(to=ready["to"], subject=ready["subject"], replyTo=thread)
    assert [mail.sender and mail.sender.address for mail in other.accepted()] == ["work@example.org"]
    assert hasty.accepted() == []


async def test_a_reply_from_another_account_is_one_but_that_mailbox_does_not_know_the_thread(hasty: Mailer) -> None:
    other = await mailer_of(hasty.service, "work@example.org")
    thread = await arrived(hasty)
    await other.send(replyTo=thread)
    box = other.fake_mail.mailbox("work@example.org")
    (sent,) = box.sent
    assert box.messages[sent.provider_message_id].thread_id == f"thread-{sent.provider_message_id}"


async def test_a_forward_carries_its_files_and_the_pictures_of_its_text(hasty: Mailer) -> None:
    picture = b"\x89PNG\r\n\x1a\n picture"
    raw = (
        b"From: noa@example.org\r\nTo: mia@example.org\r\nSubject: Pictures\r\nMIME-Version: 1.0\r\n"
        b"Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\nContent-Type: multipart/related; boundary=r\r\n\r\n"
        b'--r\r\nContent-Type: text/html\r\n\r\n<p>Look: <img src="cid:pic@x"></p>\r\n--r\r\n'
        b"Content-Type: image/png\r\n"
        b"Content-ID: <pic@x>\r\nContent-Disposition: inline; filename=pic.png\r\n\r\n" + picture + b"\r\n--r--\r\n"
        b"--m\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=notes.txt\r\n\r\n"
        b"Notes.\r\n--m\r\nContent-Type: image/png\r\nContent-Disposition: inline; filename=shown-below.png\r\n\r\n"
        b"no text names it\r\n--m--\r\n"
    )
    await hasty.fake_mail.inject(address=MIA, raw=raw, thread_key="pics", labels=frozenset({"INBOX"}))
    await hasty.sync()
    threads = (await hasty.service.query("mail.threads", section="inbox"))["threads"]
    (thread,) = [row["id"] for row in threads if row["subject"] == "Pictures"]
    ready = await prepared(hasty, thread, "forward")
    assert [one["filename"] for one in ready["attachments"]] == ["notes.txt", "shown-below.png"]
    await hasty.send(
        subject=ready["subject"],
        quote=ready["quote"],
        attachments=[one["fileId"] for one in ready["attachments"]],
    )
    sent = hasty.accepted()[-1]
    inline = [one for one in sent.attachments if one.inline]
    assert [one.content.strip() for one in inline] == [picture.strip()]
    assert f"cid:{inline[0].content_id}" in (sent.html or "").replace("%40", "@")
    assert [one.filename for one in sent.attachments if not one.inline] == ["notes.txt", "shown-below.png"]
    assert await hasty.problems() == []


async def test_what_is_quoted_stays_though_the_message_goes(mailer: Mailer) -> None:
    thread = await arrived(mailer, html="<p>Remember me</p>")
    ready = await prepared(mailer, thread, "reply")
    answer = await mailer.send(quote=ready["quote"], replyTo=thread)
    ((message_there,),) = await mailer.service.rows(
        "select provider_message_id from mail_messages where id = :id", id=ready["quote"]["messageId"]
    )
    await mailer.fake_mail.delete(address=MIA, message_id=message_there)
    await mailer.sync()
    await mailer.until(answer["outgoingId"], "sent")
    assert "Remember me" in mailer.accepted()[-1].text


@pytest.mark.parametrize("harm", ["missing", "damaged"])
async def test_of_an_original_that_is_damaged_here_the_quote_says_so(hasty: Mailer, harm: str) -> None:
    thread = await arrived(hasty, html="<p>Lost words</p>")
    for path in (hasty.service.workspace.home.path / "blobs").rglob("*"):
        if path.is_file() and harm == "missing":
            path.unlink()
        elif path.is_file():
            path.write_bytes(b"x" * path.stat().st_size)
    assert "damaged" in (await prepared(hasty, thread, "reply"))["quotedHtml"]


async def test_a_signature_is_kept_clean_and_offered(hasty: Mailer) -> None:
    await hasty.service.mutate(
        "mail.setSignature", accountId=hasty.account_id, html="<p>Mia</p><script>alert(1)</script>"
    )
    kept = (await hasty.service.query("mail.signature", accountId=hasty.account_id))["html"]
    assert "Mia" in kept
    assert "script" not in kept
    thread = await arrived(hasty)
    assert (await prepared(hasty, thread, "reply"))["signature"] == kept


async def test_hostile_text_from_a_stranger_becomes_no_header(hasty: Mailer) -> None:
    evil = "=?utf-8?q?Hi=0D=0ABcc:_victim@x.example?="
    raw = (
        f"From: {evil} <noa@example.org>\r\nTo: mia@example.org\r\nSubject: {evil}\r\nMessage-ID: <a@x\r\n b>\r\n\r\nHi"
    )
    await hasty.fake_mail.inject(address=MIA, raw=raw.encode(), thread_key="evil", labels=frozenset({"INBOX"}))
    await hasty.sync()
    threads = (await hasty.service.query("mail.threads", section="inbox"))["threads"]
    thread = threads[0]["id"]
    ready = await prepared(hasty, thread, "replyAll")
    await hasty.send(to=ready["to"], subject=ready["subject"], replyTo=thread, quote=ready["quote"])
    head = hasty.fake_mail.mailbox(MIA).sent[-1].raw.partition(b"\r\n\r\n")[0]
    assert b"\nBcc:" not in head
    assert mime.parse_message(hasty.fake_mail.mailbox(MIA).sent[-1].raw).bcc == ()
