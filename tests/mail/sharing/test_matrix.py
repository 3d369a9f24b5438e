"""A shared mailbox, by every procedure and route of mail: for its owner, who may act, who may read, and nobody."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

import pytest

from svc.app import FEATURES
from tests.identity.asks import Ask, mutation, query
from tests.identity.people import Person, sign_in
from tests.support.http import Reply
from tests.support.service import MIA, Service

OTHER: Final = "mia.private@example.org"
PICTURE: Final = "https://pictures.example/one.png"
LATER: Final = "2030-01-01T08:00:00.000Z"


@dataclass(frozen=True, kw_only=True)
class Box:
    """An account and one of each thing in it."""

    account: str
    thread: str
    message: str
    file: str
    sha256: str
    draft: str
    outgoing: str


MISSING: Final = Box(
    account="acc_none",
    thread="thr_none",
    message="msg_none",
    file="fil_none",
    sha256="0" * 64,
    draft="drf_none",
    outgoing="out_none",
)


Statuses = tuple[int, int, int]
"""For the owner, for a member who may act, for one who may read. To everybody else it is 404."""

READ: Final[Statuses] = (200, 200, 200)
ACT: Final[Statuses] = (200, 200, 403)
OWN: Final[Statuses] = (200, 403, 403)
WRITTEN: Final[Statuses] = (200, 404, 404)
"""A draft, or a mail on its way, of somebody else."""
NOT_SUCH: Final[Statuses] = (404, 404, 404)
"""The mail is no invitation, and no mailing."""


def matrix(box: Box, someone: str) -> dict[str, tuple[Ask, Statuses]]:
    """In an order in which the owner may do them all. ``someone``: with whom it can be shared."""
    mail = {"accountId": box.account, "to": ["ruth@harbour.example"], "subject": "Hello", "html": "<p>Hi</p>"}
    threads, message = {"threadIds": [box.thread]}, {"messageId": box.message}
    return {
        "mail.threads": (query("mail.threads", accountId=box.account, section="inbox"), READ),
        "mail.thread": (query("mail.thread", id=box.thread), READ),
        "mail.labels": (query("mail.labels", accountId=box.account), READ),
        "mail.search": (query("mail.search", accountId=box.account, query="harbour"), READ),
        "mail.open": (mutation("mail.open", threadId=box.thread), ACT),
        "mail.markUnread": (mutation("mail.markUnread", **threads), ACT),
        "mail.markUnreadFrom": (mutation("mail.markUnreadFrom", **message), ACT),
        "mail.archive": (mutation("mail.archive", **threads), ACT),
        "mail.unarchive": (mutation("mail.unarchive", **threads), ACT),
        "mail.setLabels": (mutation("mail.setLabels", **threads, add=["STARRED"]), ACT),
        "mail.createLabel": (mutation("mail.createLabel", accountId=box.account, name="Clients"), ACT),
        "mail.snooze": (mutation("mail.snooze", **threads, until="2026-12-01T08:00:00.000Z"), ACT),
        "mail.unsnooze": (mutation("mail.unsnooze", **threads), ACT),
        "mail.mute": (mutation("mail.mute", **threads), ACT),
        "mail.unmute": (mutation("mail.unmute", **threads), ACT),
        "mail.selectAll": (mutation("mail.selectAll", accountId=box.account, section="all"), ACT),
        "mail.blockSender": (mutation("mail.blockSender", **message), OWN),
        "mail.prepare": (query("mail.prepare", threadId=box.thread, kind="reply"), ACT),
        "mail.signature": (query("mail.signature", accountId=box.account), ACT),
        "mail.invitation": (query("mail.invitation", **message), READ),
        "mail.answerInvitation": (mutation("mail.answerInvitation", **message, answer="accepted"), (404, 404, 403)),
        "mail.unsubscribeOffer": (query("mail.unsubscribeOffer", **message), NOT_SUCH),
        "mail.unsubscribed": (query("mail.unsubscribed", **message), READ),
        "mail.unsubscribe": (mutation("mail.unsubscribe", **message), (404, 404, 403)),
        "mail.send": (mutation("mail.send", **mail, threadId=box.thread, sendAt=LATER), ACT),
        "mail.saveDraft": (mutation("mail.saveDraft", **mail, attachments=[box.file]), ACT),
        "mail.draft": (query("mail.draft", id=box.draft), WRITTEN),
        "mail.deleteDraft": (mutation("mail.deleteDraft", id=box.draft), WRITTEN),
        "mail.takeUpDraft": (mutation("mail.takeUpDraft", **message), (404, 403, 403)),
        "mail.outgoingDraft": (query("mail.outgoingDraft", id=box.outgoing), WRITTEN),
        "mail.reschedule": (mutation("mail.reschedule", id=box.outgoing, sendAt=LATER), WRITTEN),
        "mail.cancelSend": (mutation("mail.cancelSend", id=box.outgoing), WRITTEN),
        "mail.retrySend": (mutation("mail.retrySend", id=box.outgoing), (409, 404, 404)),
        "mail.dismissOutgoing": (mutation("mail.dismissOutgoing", id=box.outgoing), WRITTEN),
        "mail.setSignature": (mutation("mail.setSignature", accountId=box.account, html="<p>Mia</p>"), OWN),
        "mail.setSenderName": (mutation("mail.setSenderName", accountId=box.account, name="Mia"), OWN),
        "mail.setAddress": (mutation("mail.setAddress", accountId=box.account, address="b@example.org"), OWN),
        "mail.setDefaultAddress": (
            mutation("mail.setDefaultAddress", accountId=box.account, address="a@example.org"),
            (404, 403, 403),
        ),
        "mail.removeAddress": (
            mutation("mail.removeAddress", accountId=box.account, address="a@example.org"),
            (404, 403, 403),
        ),
        "mail.imapServers": (mutation("mail.imapServers", accountId=box.account), OWN),
        "mail.health": (query("mail.health", accountId=box.account), OWN),
        "mail.failures": (query("mail.failures", accountId=box.account), OWN),
        "mail.damage": (query("mail.damage", accountId=box.account), OWN),
        "mail.pending": (query("mail.pending", accountId=box.account), OWN),
        "mail.retryFailures": (mutation("mail.retryFailures", accountId=box.account), OWN),
        "mail.resync": (mutation("mail.resync", accountId=box.account), OWN),
        "mail.accountShares": (query("mail.accountShares", accountId=box.account), OWN),
        "mail.shareAccount": (mutation("mail.shareAccount", accountId=box.account, userId=someone, access="read"), OWN),
        "mail.unshareAccount": (mutation("mail.unshareAccount", accountId=box.account, userId=someone), OWN),
        "GET /files/:id/content": (Ask("GET", f"/files/{box.file}/content"), READ),
        "HEAD /files/:id/content": (Ask("HEAD", f"/files/{box.file}/content"), READ),
        "GET /blobs/:sha256": (Ask("GET", f"/blobs/{box.sha256}"), READ),
        "mail.import": (mutation("mail.import", accountId=box.account, fileId=box.file), (409, 403, 403)),
        "GET /mail/messages/:id/source": (Ask("GET", f"/mail/messages/{box.message}/source"), READ),
        "GET /mail/messages/:id/attachments": (Ask("GET", f"/mail/messages/{box.message}/attachments"), READ),
        "GET /mail/messages/:id/eml": (Ask("GET", f"/mail/messages/{box.message}/eml"), READ),
        "GET /mail/accounts/:id/export": (Ask("GET", f"/mail/accounts/{box.account}/export"), OWN),
        "mail.disconnect": (mutation("mail.disconnect", accountId=box.account), OWN),
    }


PERSONAL: Final = frozenset(
    {
        "mail.accounts",
        "mail.actOnAll",
        "mail.blockedSenders",
        "mail.acting",
        "mail.connectImap",
        "mail.createLocal",
        "mail.deleteSnippet",
        "mail.discover",
        "mail.drafts",
        "mail.imports",
        "mail.outgoing",
        "mail.signIns",
        "mail.saveSnippet",
        "mail.snippets",
        "mail.snoozed",
        "mail.stopActing",
        "mail.trustSender",
        "mail.trustedSenders",
        "mail.undo",
        "mail.unblockSender",
        "mail.undoable",
    }
)
"""Those that name no account: what is one's own, or lists that the tests below look through."""


@dataclass(frozen=True, kw_only=True)
class SharedInstance:
    service: Service
    mia: Person
    ben: Person
    noa: Person
    zoe: Person
    ids: dict[str, str]
    shared: Box
    other: Box

    async def share(self, name: str, access: str) -> None:
        await self.mia.mutate("mail.shareAccount", accountId=self.shared.account, userId=self.ids[name], access=access)

    async def unshare(self, name: str) -> None:
        await self.mia.mutate("mail.unshareAccount", accountId=self.shared.account, userId=self.ids[name])


@pytest.fixture
async def instance(service: Service) -> SharedInstance:
    """Mia's mailbox is shared with Ben, to act, and with Noa, to read. Zoe has an account here, and nothing of it."""
    for address, word in ((MIA, "harbour"), (OTHER, "secret")):
        await service.synced(
            f"About the {word}",
            address=address,
            **{"from": "Ruth <ruth@harbour.example>"},
            html=f"<p>The {word}.</p><img src={PICTURE}?{word}>",
            attachments=[{"filename": f"{word}.txt", "mime": "text/plain", "text": f"the {word} plan"}],
        )
    mia = await sign_in(service, MIA)
    people = {}
    for name in ("ben", "noa", "zoe"):
        invite = await mia.mutate("auth.createInvite")
        people[name] = await sign_in(service, f"{name}@example.org", invite=invite["code"])
    ids = {row["email"].partition("@")[0]: row["id"] for row in await mia.query("users.list")}
    by_address = {row["address"]: row["id"] for row in await mia.query("mail.accounts")}
    instance = SharedInstance(
        service=service,
        mia=mia,
        **people,
        ids=ids,
        shared=await box_of(mia, by_address[MIA]),
        other=await box_of(mia, by_address[OTHER]),
    )
    await instance.share("ben", "act")
    await instance.share("noa", "read")
    return instance


async def box_of(owner: Person, account_id: str) -> Box:
    (row,) = (await owner.query("mail.threads", accountId=account_id, section="inbox"))["threads"]
    (message,) = (await owner.query("mail.thread", id=row["id"]))["messages"]
    mail = {"accountId": account_id, "to": ["ruth@harbour.example"], "subject": "Hello", "html": "<p>Hi</p>"}
    (attachment,) = message["attachments"]
    return Box(
        account=account_id,
        thread=row["id"],
        message=message["id"],
        file=attachment["fileId"],
        sha256=attachment["sha256"],
        draft=(await owner.mutate("mail.saveDraft", **mail))["id"],
        outgoing=(await owner.mutate("mail.send", **mail, sendAt=LATER))["outgoingId"],
    )


def told(reply: Reply) -> tuple[int, list[tuple[str, str]], bytes]:
    """All that an answer says, but for what differs between any two."""
    return reply.status, [field for field in reply.headers if field[0] not in ("x-request-id", "date")], reply.body


def test_the_table_has_every_procedure_of_mail() -> None:
    """A new one is written down here, with what each kind of person may do."""
    (mail,) = [feature for feature in FEATURES if feature.name == "mail"]
    known = {name for name in matrix(MISSING, "usr_none") if name.startswith("mail.")}
    ours = {row.name for row in mail.procedures if row.name.startswith("mail.")}
    assert ours - known - PERSONAL == set()


@pytest.mark.thorough
async def test_each_may_do_what_the_table_says(instance: SharedInstance) -> None:
    everybody = ((instance.noa, 2), (instance.ben, 1), (instance.mia, 0))
    for name, (ask, statuses) in matrix(instance.shared, instance.ids["zoe"]).items():
        for person, place in everybody:
            reply = await ask.by(person)
            assert reply.status == statuses[place], (name, place, reply.body)
            if statuses[place] == 403:
                assert b"only its owner" in reply.body or b"to read" in reply.body


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["zoe", "ben", "noa"])
async def test_what_is_not_shared_is_as_missing_as_what_never_was(instance: SharedInstance, name: str) -> None:
    """The whole account to Zoe; and Mia's other one to everybody with whom she shares the first."""
    person: Person = getattr(instance, name)
    box = instance.shared if name == "zoe" else instance.other
    before = await instance.service.dump()
    never = matrix(MISSING, instance.ids["zoe"])
    for procedure, (ask, _) in matrix(box, instance.ids["zoe"]).items():
        reply = await ask.by(person)
        assert reply.status == 404, procedure
        assert told(reply) == told(await never[procedure][0].by(person)), procedure
    assert await instance.service.dump() == before


async def test_pictures_are_fetched_for_those_who_may_read_the_mail(instance: SharedInstance) -> None:
    for box, word, readers in ((instance.shared, "harbour", "mia ben noa"), (instance.other, "secret", "mia")):
        await instance.mia.query("mail.thread", id=box.thread)
        for name in ("mia", "ben", "noa", "zoe"):
            target = f"/mail/proxy-image?url={quote(f'{PICTURE}?{word}', safe='')}"
            reply = await getattr(instance, name).ask("GET", target)
            assert (reply.status != 404) == (name in readers), (word, name, reply.status)


@pytest.mark.parametrize("name", ["ben", "noa", "zoe"])
async def test_no_list_of_theirs_shows_the_other_account(instance: SharedInstance, name: str) -> None:
    person: Person = getattr(instance, name)
    lists = [
        query("mail.accounts"),
        query("mail.threads", section="inbox"),
        query("mail.threads", section="skipped"),
        query("mail.threads", labelName="Sent"),
        query("mail.labels"),
        query("mail.search", query="about"),
        query("mail.snoozed"),
        query("mail.drafts"),
        query("mail.outgoing"),
        query("mail.undoable"),
        query("mail.health"),
        query("events.recent"),
        query("people.suggest", text=""),
        query("people.list"),
        query("files.list"),
        query("files.find"),
        query("pages.find"),
    ]
    traces = [*vars_of(instance.other), OTHER, "secret", *([] if name != "zoe" else vars_of(instance.shared))]
    for ask in lists:
        reply = await ask.by(person)
        assert reply.status == 200
        assert [trace for trace in traces if trace.encode() in reply.body] == [], ask


def vars_of(box: Box) -> list[str]:
    return [box.account, box.thread, box.message, box.file, box.sha256, box.draft, box.outgoing]


async def test_a_member_sees_it_as_somebody_elses(instance: SharedInstance) -> None:
    (account,) = await instance.ben.query("mail.accounts")
    assert (account["address"], account["access"], account["sharedWith"]) == (MIA, "act", 0)
    assert "mia" in account["owner"].lower()
    own = {row["address"]: row for row in await instance.mia.query("mail.accounts")}
    assert (own[MIA]["access"], own[MIA]["owner"], own[MIA]["sharedWith"]) == ("own", None, 2)
    assert own[OTHER]["sharedWith"] == 0
    assert [
        row["address"] for row in await instance.mia.query("mail.accountShares", accountId=instance.shared.account)
    ] == [
        "ben@example.org",
        "noa@example.org",
    ]


@pytest.mark.thorough
async def test_who_stops_sharing_ends_all_of_it_at_once(instance: SharedInstance) -> None:
    draft = {"accountId": instance.shared.account, "to": ["a@example.org"], "subject": "Mine", "html": "<p>Hi</p>"}
    await instance.ben.mutate("mail.archive", threadIds=[instance.shared.thread])
    await instance.ben.mutate("mail.saveDraft", **draft)
    waiting = await instance.ben.mutate("mail.send", **draft, sendAt=LATER)
    await instance.unshare("ben")
    assert await instance.ben.query("mail.accounts") == []
    assert await instance.ben.query("mail.drafts") == []
    assert await instance.ben.query("mail.outgoing") == []
    assert await instance.ben.query("mail.undoable") == []
    assert (await instance.ben.mutate("mail.undo"))["undone"] is None
    never = matrix(MISSING, instance.ids["zoe"])
    for procedure, (ask, _) in matrix(instance.shared, instance.ids["zoe"]).items():
        assert told(await ask.by(instance.ben)) == told(await never[procedure][0].by(instance.ben)), procedure
    states = {row["id"]: row["state"] for row in await instance.mia.query("mail.outgoing")}
    assert states[waiting["outgoingId"]] == "failed"


async def test_who_may_only_read_any_more_can_take_nothing_back(instance: SharedInstance) -> None:
    mail = {"accountId": instance.shared.account, "to": ["a@example.org"], "subject": "Mine", "html": "<p>Hi</p>"}
    draft = await instance.ben.mutate("mail.saveDraft", **mail)
    await instance.ben.mutate("mail.archive", threadIds=[instance.shared.thread])
    await instance.share("ben", "read")
    for ask in (mutation("mail.send", **mail, draftId=draft["id"]), mutation("mail.saveDraft", **mail, id=draft["id"])):
        assert "shared with you to read" in (await ask.by(instance.ben)).json["error"]["message"]
    assert (await instance.ben.mutate("mail.undo"))["undone"] is None
    row = (await instance.mia.query("mail.thread", id=instance.shared.thread))["thread"]
    assert not row["inInbox"]


async def test_a_member_may_leave_and_nobody_else_can_be_sent_away_by_them(instance: SharedInstance) -> None:
    leave = {"accountId": instance.shared.account, "userId": instance.ids["noa"]}
    reply = await mutation("mail.unshareAccount", **leave).by(instance.ben)
    assert reply.status == 403
    await instance.noa.mutate("mail.unshareAccount", **leave)
    assert await instance.noa.query("mail.accounts") == []


@pytest.mark.parametrize(
    ("user", "status"),
    [("nobody", 404), ("mia", 400)],
)
async def test_it_is_shared_with_people_who_are_there(instance: SharedInstance, user: str, status: int) -> None:
    ids = {**instance.ids, "nobody": "usr_none"}
    ask = mutation("mail.shareAccount", accountId=instance.shared.account, userId=ids[user], access="read")
    assert (await ask.by(instance.mia)).status == status


async def test_each_act_says_who_did_it(instance: SharedInstance) -> None:
    await instance.ben.mutate("mail.archive", threadIds=[instance.shared.thread])
    await instance.mia.mutate("mail.unarchive", threadIds=[instance.shared.thread])
    acts = (await instance.noa.query("mail.thread", id=instance.shared.thread))["acts"]
    assert [(act["by"].partition("@")[0].lower(), act["what"]) for act in acts] == [
        ("ben", "archive"),
        ("mia", "unarchive"),
    ]
    other = (await instance.mia.query("mail.thread", id=instance.other.thread))["acts"]
    await instance.mia.mutate("mail.archive", threadIds=[instance.other.thread])
    assert other == (await instance.mia.query("mail.thread", id=instance.other.thread))["acts"] == []


async def test_a_member_takes_back_what_they_did(instance: SharedInstance) -> None:
    await instance.ben.mutate("mail.archive", threadIds=[instance.shared.thread])
    assert (await instance.noa.mutate("mail.undo"))["undone"] is None
    assert (await instance.ben.mutate("mail.undo"))["undone"]["what"] == "archive"
    assert (await instance.mia.query("mail.thread", id=instance.shared.thread))["thread"]["inInbox"]


async def test_the_owner_sees_who_is_sending_and_can_hold_it_back(instance: SharedInstance) -> None:
    mail = {
        "accountId": instance.shared.account,
        "to": ["ruth@harbour.example"],
        "subject": "Hello",
        "html": "<p>Hi</p>",
    }
    sent = await instance.ben.mutate("mail.send", **mail, sendAt=LATER)
    rows = {row["id"]: row for row in await instance.mia.query("mail.outgoing")}
    assert rows[sent["outgoingId"]]["by"].partition("@")[0].lower() == "ben"
    assert rows[instance.shared.outgoing]["by"] is None
    assert [row["id"] for row in await instance.ben.query("mail.outgoing")] == [sent["outgoingId"]]
    assert await instance.noa.query("mail.outgoing") == []
    await instance.mia.mutate("mail.cancelSend", id=sent["outgoingId"])
    assert [row["subject"] for row in await instance.ben.query("mail.drafts")] == ["Hello"]


def test_a_box_is_named_whole() -> None:
    assert all(vars_of(replace(MISSING)))
