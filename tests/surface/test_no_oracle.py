"""A hidden thing named with something else (a revision, a label, a cursor, a bad value): answered as if missing.

A check that comes before the question whether the caller may see the thing, or an answer that differs with it, would
tell that it is there. So each call is made twice, with a thing of Mia's and with one that never was.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from tests.identity.asks import Ask, mutation, query
from tests.identity.people import Person, sign_in
from tests.support.service import MIA, Service
from tests.surface.test_every_resource import MISSING, ClaimedInstance, Things, instance, told

__all__ = ["instance"]  # the fixture

BEN = "ben@example.org"
LATER = "2030-01-01T08:00:00.000Z"
BEFORE = "2001-01-01T08:00:00.000Z"


@dataclass(frozen=True, kw_only=True)
class Written:
    """What one writes, besides the things that :class:`Things` names."""

    draft: str = "drf_none"
    outgoing: str = "out_none"
    message: str = "msg_none"
    label: str = "lbl_none"


def asks(of: Things, written: Written, own: Things) -> list[Ask]:
    """``own`` are the caller's own, beside which the hidden one is named."""
    return [*on_pages(of, own), *on_mail(of), *on_mailboxes(of, written), *on_writing(of, written, own), *on_files(of)]


def on_pages(of: Things, own: Things) -> list[Ask]:
    somebody = [{"to": "usr_none", "level": "read"}]
    return [
        *(mutation("pages.save", path=of.page, body="x", revision=revision) for revision in (1, 2, 7, -1)),
        mutation("pages.save", path=f"{of.page}/below", body="x", revision=3),
        mutation("pages.save", path=of.page, body="x", title="", revision=3),
        mutation("pages.restore", path=of.page, revision=99),
        *(mutation("pages.move", path=of.page, to=to) for to in (own.page, f"{of.page}/below", "../x", of.page)),
        mutation("pages.setAccess", path=of.page, access="explicit", grants=somebody),
        mutation("pages.setAccess", path=of.page, access="inherited", grants=somebody),
        mutation("people.setPage", address=own.correspondent, path=of.page),
        mutation("people.setPage", address="nobody@else.example", path=of.page),
        query("people.filed", path=of.page),
        query("pages.tree", path=of.page),
    ]


def on_mail(of: Things) -> list[Ask]:
    return [
        query("mail.threads", accountId=of.account, section="inbox", cursor="bad"),
        query("mail.threads", accountId=of.account, section="inbox", labelId="INBOX"),
        query("mail.threads", accountId=of.account, section="skipped", labelName="INBOX"),
        query("mail.search", accountId=of.account, query="mail"),
        query("mail.search", accountId=of.account, query="mail", cursor="bad"),
        query("mail.labels", accountId=of.account),
        *(mutation("mail.createLabel", accountId=of.account, name=name) for name in ("INBOX", "", "Clients", "a//b")),
        mutation("mail.setLabels", threadIds=[of.thread], add=["INBOX"]),
        mutation("mail.setLabels", threadIds=[of.thread], add=["none"], remove=["none"]),
        *(mutation("mail.snooze", threadIds=[of.thread], until=until) for until in (LATER, BEFORE)),
        mutation("mail.unsnooze", threadIds=[of.thread]),
    ]


def on_mailboxes(of: Things, written: Written) -> list[Ask]:
    return [
        query("mail.failures", accountId=of.account),
        query("mail.pending", accountId=of.account),
        mutation("mail.retryFailures", accountId=of.account),
        mutation("mail.resync", accountId=of.account),
        mutation("mail.setSenderName", accountId=of.account, name="Eve"),
        mutation("mail.setAddress", accountId=of.account, address="eve@example.org"),
        mutation("mail.removeAddress", accountId=of.account, address="eve@example.org"),
        mutation("mail.setDefaultAddress", accountId=of.account, address="eve@example.org"),
        mutation("mail.disconnect", accountId=of.account, erase=True),
        query("mail.signature", accountId=of.account),
        mutation("mail.setSignature", accountId=of.account, html="<script>x</script>"),
        query("mail.draft", id=written.draft),
        mutation("mail.deleteDraft", id=written.draft),
        query("mail.outgoingDraft", id=written.outgoing),
        mutation("mail.cancelSend", id=written.outgoing),
        mutation("mail.dismissOutgoing", id=written.outgoing, draft=True),
        *(mutation("mail.reschedule", id=written.outgoing, sendAt=at) for at in (LATER, BEFORE)),
        mutation("mail.retrySend", id=written.outgoing),
        *(query("mail.prepare", threadId=of.thread, kind=kind) for kind in ("reply", "forward")),
        query("mail.prepare", messageId=written.message, kind="reply"),
        query("mail.prepare", threadId=of.thread, messageId=written.message, kind="reply"),
    ]


def on_writing(of: Things, written: Written, own: Things) -> list[Ask]:
    def send(**more: object) -> Ask:
        wanted = {"accountId": own.account, "to": ["a@example.org"], "subject": "Hi", "html": "Hi", "sendAt": BEFORE}
        return mutation("mail.send", **{**wanted, **more})

    def draft(**more: object) -> Ask:
        wanted = {"accountId": own.account, "to": [], "subject": "", "html": "", "id": "drf_none"}
        return mutation("mail.saveDraft", **{**wanted, **more})

    return [
        send(accountId=of.account),
        send(accountId=of.account, to=["nobody"]),
        send(accountId=of.account, attachments=["fil_none"]),
        send(attachments=[of.file]),
        send(attachments=[of.attachment], to=["nobody"]),
        send(replyTo=of.thread),
        send(replyTo=of.thread, to=["nobody"]),
        send(draftId=written.draft),
        send(quote={"messageId": written.message, "kind": "reply"}),
        draft(accountId=of.account),
        draft(replyTo=of.thread),
        draft(attachments=[of.file]),
        *(draft(id=written.draft, version=version) for version in (0, 1, 9)),
    ]


def on_files(of: Things) -> list[Ask]:
    hidden = [f"/files/{of.file}/content", f"/blobs/{of.sha256}"]
    return [
        *(Ask(method, f"{target}{query}") for target in hidden for method in ("GET", "HEAD") for query in ("", "?x=1")),
        query("files.get", id=of.file),
        mutation("files.rename", id=of.file, name="other"),
        mutation("files.restore", id=of.file),
        mutation("files.delete", id=of.file),
        Ask("GET", f"/mail/proxy-image?message={of.thread}&index=0"),
    ]


async def written_by(mia: Person, things: Things) -> Written:
    sent = {"accountId": things.account, "to": ["a@example.org"], "subject": "Hi", "html": "Hi"}
    thread = await mia.query("mail.thread", id=things.thread)
    labels = await mia.query("mail.labels", accountId=things.account)
    return Written(
        draft=(await mia.mutate("mail.saveDraft", **sent))["id"],
        outgoing=(await mia.mutate("mail.send", **sent, sendAt=LATER))["outgoingId"],
        message=thread["messages"][0]["id"],
        label=labels[0]["id"],
    )


async def things_of_ben(service: Service, ben: Person) -> Things:
    """A mailbox, a correspondent and a page of his own."""
    await ben.mutate("fake.mail.inject", address=BEN, **{"from": "Kim <kim@harbour.example>"}, subject="Hi", text="Hi")
    await ben.mutate("fake.mail.syncNow", address=BEN)
    await ben.mutate("pages.save", path="bens", body="")
    (account,) = await ben.query("mail.accounts")
    return Things(**{**vars(MISSING), "account": account["id"], "page": "bens", "correspondent": "kim@harbour.example"})


@pytest.mark.thorough
async def test_a_hidden_thing_beside_something_else_is_told_as_if_it_never_was(instance: ClaimedInstance) -> None:
    ben, mia = instance.people["admin"], await sign_in(instance.service, MIA)
    own, written = await things_of_ben(instance.service, ben), await written_by(mia, instance.mias)
    before = await instance.service.dump()
    pairs = zip(asks(instance.mias, written, own), asks(MISSING, Written(), own), strict=True)
    different = []
    for real, never in pairs:
        hidden, missing = told(await real.by(ben)), told(await never.by(ben))
        if hidden != missing:
            different.append((real, hidden[0], hidden[2], missing[0], missing[2]))
    assert not different, "\n".join(map(str, different))
    assert await instance.service.dump() == before


@pytest.mark.parametrize("fields", [{"range": "bytes=0-1"}, {"range": "bytes=999-"}, {"if-none-match": "*"}], ids=str)
async def test_a_hidden_file_is_missing_whatever_is_asked_of_it(
    instance: ClaimedInstance, fields: dict[str, str]
) -> None:
    ben = Person(instance.service, {**instance.people["admin"].fields, **fields})
    for real, never in zip(on_files(instance.mias), on_files(MISSING), strict=True):
        assert told(await real.by(ben)) == told(await never.by(ben)), real


async def test_a_page_that_is_shared_for_reading_tells_not_what_is_hidden_below_it(instance: ClaimedInstance) -> None:
    """A person who may make no page there gets the same refusal, whether a hidden page has the name or not."""
    ben, mia = instance.people["admin"], await sign_in(instance.service, MIA)
    await mia.mutate("pages.save", path="open", body="")
    await mia.mutate("pages.setAccess", path="open", access="explicit", grants=[{"to": "everyone", "level": "read"}])
    await mia.mutate("pages.save", path="open/hidden", body="")
    await mia.mutate("pages.setAccess", path="open/hidden", access="explicit")
    for revision in ({}, {"revision": 0}, {"revision": 1}):
        answers = set()
        for path in ("open/hidden", "open/hidden/below", "open/none", "open/none/below"):
            reply = await mutation("pages.save", path=path, body="", **revision).by(ben)
            answers.add((reply.status, json.dumps(reply.json)))
        assert len(answers) == 1
    await ben.mutate("pages.save", path="bens", body="")
    moved = {(await mutation("pages.move", path="bens", to=to).by(ben)).status for to in ("open/hidden", "open/none")}
    assert len(moved) == 1
