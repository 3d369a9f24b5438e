"""What open sockets hear of a shared account: each as they see it, and nothing from the moment it ends."""

from __future__ import annotations

from typing import Any

from svc.store import Tx
from tests.identity.people import Person, sign_in
from tests.support.service import MIA, LiveSocket, Service

OTHER = "mia.private@example.org"


async def listening(person: Person, *topics: str, after: int | None = None) -> LiveSocket:
    socket = await person.service.socket(fields=person.fields)
    assert (await socket.hear())["type"] == "ready"
    await socket.say(type="subscribe", topics=topics, **({} if after is None else {"after": after}))
    return socket


def one_mail(tx: Tx, *, leader: str) -> None:
    """As if the same mail had come to all accounts, and stood in Unified under that one."""
    tx.run("update mail_threads set twins = 'grp_same', leads = account_id = :leader", leader=leader)


def of_kind(frames: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [frame for frame in frames if frame.get("kind") == kind]


async def test_a_member_hears_what_happens_until_it_ends(service: Service) -> None:
    """The same mail lies in Mia's other account: a member sees one, and hears nothing of the other."""
    for address in (MIA, OTHER):
        await service.synced("About the harbour", address=address)
    mia = await sign_in(service, MIA)
    invite = await mia.mutate("auth.createInvite")
    ben = await sign_in(service, "ben@example.org", invite=invite["code"])
    ids = {row["email"]: row["id"] for row in await mia.query("users.list")}
    accounts = {row["address"]: row["id"] for row in await mia.query("mail.accounts")}
    shared, other = accounts[MIA], accounts[OTHER]
    await service.workspace.store.write(one_mail, leader=other)
    live = await listening(ben, "mail", "accounts", "tasks")
    await live.hear_all()

    await mia.mutate("mail.shareAccount", accountId=shared, userId=ids["ben@example.org"], access="act")
    (told,) = of_kind(await live.hear_all(), "account.changed")
    assert (told["payload"]["account"]["id"], told["payload"]["account"]["access"]) == (shared, "act")

    (row,) = (await mia.query("mail.threads", section="inbox"))["threads"]
    assert (row["accountId"], [one["accountId"] for one in row["twins"]], row["leads"]) == (other, [shared], True)
    (unified,) = (await ben.query("mail.threads", section="inbox"))["threads"]
    assert (unified["accountId"], unified["twins"], unified["leads"]) == (shared, [], True)
    await mia.mutate("mail.archive", threadIds=[unified["id"]])
    (changed,) = of_kind(await live.hear_all(), "thread.changed")
    assert changed["payload"]["thread"]["twins"] == []
    assert other not in str(changed)

    before = service.workspace.store.outbox.head()
    await mia.mutate("mail.unarchive", threadIds=[unified["id"]])
    mail = {"accountId": shared, "to": ["a@example.org"], "subject": "Mine", "html": "<p>Hi</p>"}
    waiting = await ben.mutate("mail.send", **mail, sendAt="2040-01-01T00:00:00Z")
    await live.hear_all()
    await mia.mutate("mail.unshareAccount", accountId=shared, userId=ids["ben@example.org"])
    frames = await live.hear_all()
    assert (frames[-1]["kind"], frames[-1]["id"]) == ("account.removed", shared)
    assert [(one["id"], one["payload"]) for one in of_kind(frames, "task.changed")] == [
        (waiting["outgoingId"], {"outgoing": None})
    ]
    await mia.mutate("mail.archive", threadIds=[unified["id"]])
    assert await live.hear_all() == []
    again = await listening(ben, "mail", "accounts", "tasks", after=before)
    missed = [frame for frame in await again.hear_all() if frame["type"] == "event"]
    assert [(frame["kind"], frame["id"]) for frame in missed] == [
        ("task.changed", waiting["outgoingId"]),
        ("account.removed", shared),
    ]
    assert missed[0]["payload"] == {"outgoing": None}


async def test_a_member_of_two_accounts_with_the_same_mail_sees_and_counts_it_once(service: Service) -> None:
    """Whichever of the owner's accounts it stands under for the owner: here one that the member does not see."""
    third = "mia.third@example.org"
    for address in (MIA, OTHER, third):
        await service.synced("About the harbour", address=address)
    mia = await sign_in(service, MIA)
    ben = await sign_in(service, "ben@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    ids = {row["email"]: row["id"] for row in await mia.query("users.list")}
    accounts = {row["address"]: row["id"] for row in await mia.query("mail.accounts")}
    for leader in accounts.values():
        await service.workspace.store.write(one_mail, leader=leader)
        for address in (OTHER, third):
            access = {"userId": ids["ben@example.org"], "access": "act"}
            await mia.mutate("mail.shareAccount", accountId=accounts[address], **access)
        (row,) = (await ben.query("mail.threads", section="inbox"))["threads"]
        counted = await ben.query("mail.accounts")
        assert [one["unread"] for one in counted] == [1, 1]
        assert [one["id"] for one in counted if one["unreadTwins"] == 0] == [row["accountId"]]
        assert sum(one["unread"] - one["unreadTwins"] for one in counted) == 1
        await mia.mutate("mail.unshareAccount", accountId=accounts[third], userId=ids["ben@example.org"])
        (alone,) = await ben.query("mail.accounts")
        assert (alone["unread"], alone["unreadTwins"]) == (1, 0)
