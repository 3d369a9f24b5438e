"""Drafts, outgoing mails and signatures belong to their owner; for anybody else they do not exist."""

from __future__ import annotations

import pytest

from svc.mail.sending.procedures import PROCEDURES
from tests.identity.people import Person, sign_in
from tests.mail.sending.mailer import TO
from tests.support.service import MIA, RpcError, Service

LATER = "2026-12-24T08:00:00.000Z"
SECRET = "Only Mia knows"
BENS = "ben@mail.example"


def calls(*, account: str, thread: str, outgoing: str, draft: str, **_: str) -> dict[str, dict[str, object]]:
    """One call of every procedure of sending that names something."""
    mail: dict[str, object] = {"accountId": account, "to": [TO], "subject": SECRET, "html": ""}
    return {
        "mail.send": mail,
        "mail.saveDraft": mail,
        "mail.outgoingDraft": {"id": outgoing},
        "mail.reschedule": {"id": outgoing, "sendAt": LATER},
        "mail.retrySend": {"id": outgoing},
        "mail.cancelSend": {"id": outgoing},
        "mail.dismissOutgoing": {"id": outgoing},
        "mail.draft": {"id": draft},
        "mail.deleteDraft": {"id": draft},
        "mail.signature": {"accountId": account},
        "mail.setSignature": {"accountId": account, "html": "x"},
        "mail.prepare": {"threadId": thread, "kind": "reply"},
    }


NEVER = {
    "account": "acc_none",
    "thread": "thr_none",
    "message": "msg_none",
    "outgoing": "out_none",
    "draft": "drf_none",
}


async def ask(person: Person, procedure: str, wanted: dict[str, object]) -> tuple[int, object]:
    kind = {row.name: row.kind for row in PROCEDURES}[procedure]
    try:
        if kind == "query":
            return 200, await person.query(procedure, **wanted)
        return 200, await person.mutate(procedure, **wanted)
    except RpcError as error:
        return error.status, str(error)


@pytest.fixture
async def people(service: Service) -> tuple[Person, Person, dict[str, str]]:
    """Mia with one of each, Ben with a mailbox of his own, and what Mia's are called."""
    await service.synced("Ben's", address=BENS)
    note = {"filename": "a.txt", "mime": "text/plain", "text": "a note"}
    (thread,) = await service.synced("Hello", attachments=[note])
    mia = await sign_in(service, MIA)
    invite = await mia.mutate("auth.createInvite")
    ben = await sign_in(service, "ben@example.org", invite=invite["code"])
    (account,) = [row["id"] for row in await mia.query("mail.accounts") if row["address"] == MIA]
    await service.workspace.store.write(
        lambda tx: tx.run(
            "update mail_accounts set owner_id = (select id from users where email = 'ben@example.org') "
            "where address = :address",
            address=BENS,
        )
    )
    mail: dict[str, object] = {"accountId": account, "to": [TO], "subject": SECRET, "html": "<p>x</p>"}
    outgoing = (await mia.mutate("mail.send", sendAt=LATER, **mail))["outgoingId"]
    draft = (await mia.mutate("mail.saveDraft", **mail))["id"]
    shown = await mia.query("mail.thread", id=thread)
    names = {
        "account": account,
        "thread": thread,
        "message": shown["messages"][0]["id"],
        "file": shown["messages"][0]["attachments"][0]["fileId"],
        "outgoing": outgoing,
        "draft": draft,
    }
    return mia, ben, names


async def test_to_another_person_they_are_as_if_they_never_were(
    service: Service, people: tuple[Person, Person, dict[str, str]]
) -> None:
    _, ben, names = people
    before = await service.dump()
    never = calls(**NEVER)
    by_name = [
        await ask(ben, "mail.prepare", {"messageId": one["message"], "kind": "forward"}) for one in (names, NEVER)
    ]
    assert by_name[0] == by_name[1]
    assert by_name[0][0] == 404
    for procedure, wanted in calls(**names).items():
        answer = await ask(ben, procedure, wanted)
        assert answer[0] == 404, procedure
        assert answer == await ask(ben, procedure, never[procedure]), procedure
    for procedure in ("mail.outgoing", "mail.drafts"):
        assert await ben.query(procedure) == []
    assert await service.dump() == before


async def test_nor_can_they_be_named_in_a_mail_of_ones_own(
    service: Service, people: tuple[Person, Person, dict[str, str]]
) -> None:
    """What Ben could try to have sent to himself."""
    mia, ben, names = people
    (account,) = [row["id"] for row in await ben.query("mail.accounts")]
    own = {"accountId": account, "to": [TO], "subject": "x", "html": ""}
    for foreign in (
        {"replyTo": names["thread"]},
        {"quote": {"messageId": names["message"], "kind": "forward"}},
        {"draftId": names["draft"]},
        {"attachments": [names["file"]]},
    ):
        assert (await ask(ben, "mail.send", {**own, **foreign}))[0] == 404, foreign
        if "draftId" not in foreign:
            assert (await ask(ben, "mail.saveDraft", {**own, **foreign}))[0] == 404, foreign
    assert len(await mia.query("mail.drafts")) == 1


async def test_the_owner_may_do_it_all(people: tuple[Person, Person, dict[str, str]]) -> None:
    """Else the refusals above would prove nothing."""
    mia, _, names = people
    for procedure, wanted in calls(**names).items():
        expected = 409 if procedure == "mail.retrySend" else 200
        assert (await ask(mia, procedure, wanted))[0] == expected, procedure


async def test_what_was_nobodys_becomes_the_first_admins_with_the_claim(service: Service) -> None:
    await service.synced("Hello")
    (account,) = await service.query("mail.accounts")
    mail: dict[str, object] = {"accountId": account["id"], "to": [TO], "subject": "Mine", "html": ""}
    await service.mutate("mail.send", sendAt=LATER, **mail)
    await service.mutate("mail.saveDraft", **mail)
    mia = await sign_in(service, MIA)
    assert [row["subject"] for row in await mia.query("mail.outgoing")] == ["Mine"]
    assert [row["subject"] for row in await mia.query("mail.drafts")] == ["Mine"]
