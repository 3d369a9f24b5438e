"""What belongs to one person, asked for by others in every way: the answer is the same as for a missing thing.

Mia claimed the instance and is a member now; Ben is its admin. A role opens none of her mail, pages, files and
sessions; the one thing it may do to her is to take a device away.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import pytest

from tests.files.uploads import uploaded
from tests.identity.asks import Ask, mutation, query
from tests.identity.people import Person, pair, sign_in
from tests.support.http import Reply
from tests.support.service import MIA, Service

SECRET = b"what only Mia has"
CORRESPONDENT = "ruth@harbour.example"
MARK = "Mias"  # in every title, name and subject of hers


@dataclass(frozen=True, kw_only=True)
class Things:
    """One thing of each kind that has an owner."""

    account: str
    thread: str
    attachment: str
    file: str
    sha256: str
    page: str
    correspondent: str
    session: str
    device: str


MISSING = Things(
    account="acc_none",
    thread="thr_none",
    attachment="fil_none",
    file="fil_none",
    sha256="0" * 64,
    page="none",
    correspondent="nobody@else.example",
    session="ses_none",
    device="dev_none",
)


def readings(of: Things) -> list[Ask]:
    contents = [f"/files/{of.file}/content", f"/files/{of.attachment}/content", f"/blobs/{of.sha256}"]
    return [
        query("mail.threads", accountId=of.account, section="inbox"),
        query("mail.thread", id=of.thread),
        *(Ask(method, target) for target in contents for method in ("GET", "HEAD")),
        query("files.get", id=of.file),
        query("pages.get", path=of.page),
        query("pages.tree", path=of.page),
        query("pages.history", path=of.page),
        query("people.get", address=of.correspondent),
    ]


def changes(of: Things) -> list[Ask]:
    """In an order in which the owner may do them all."""
    return [
        mutation("mail.open", threadId=of.thread),
        mutation("mail.markUnread", threadIds=[of.thread]),
        mutation("mail.archive", threadIds=[of.thread]),
        mutation("mail.mute", threadIds=[of.thread]),
        mutation("mail.unmute", threadIds=[of.thread]),
        mutation("mail.unarchive", threadIds=[of.thread]),
        mutation("files.rename", id=of.file, name="other"),
        mutation("files.delete", id=of.file),
        mutation("files.restore", id=of.file),
        mutation("files.delete", id=of.file),
        mutation("pages.setAccess", path=of.page, access="inherited"),
        mutation("pages.restore", path=of.page, revision=1),
        mutation("pages.move", path=of.page, to=f"{of.page}-elsewhere"),
        mutation("pages.move", path=f"{of.page}-elsewhere", to=of.page),
        mutation("pages.delete", path=of.page),
        mutation("people.setPage", address=of.correspondent, path=None),
        mutation("auth.revokeSession", id=of.session),
        mutation("devices.revoke", id=of.device),
    ]


LISTS = (
    query("mail.accounts"),
    query("mail.threads", section="inbox"),
    query("files.list"),
    query("pages.tree"),
    query("pages.trash"),
    query("people.suggest", text=""),
    query("events.recent"),
    query("auth.sessions"),
)


@dataclass(frozen=True)
class ClaimedInstance:
    service: Service
    people: dict[str, Person]
    mias: Things


@pytest.fixture
async def instance(service: Service) -> ClaimedInstance:
    (thread,) = await service.synced(
        f"{MARK} mail",
        **{"from": f"{MARK} Ruth <{CORRESPONDENT}>"},
        attachments=[{"filename": "a.txt", "mime": "text/plain", "text": f"{MARK} note"}],
    )
    mia = await sign_in(service, MIA)
    people = {}
    for name in ("ben", "noa"):
        invite = await mia.mutate("auth.createInvite")
        people[name] = await sign_in(service, f"{name}@example.org", invite=invite["code"])
    ids = {row["email"]: row["id"] for row in await mia.query("users.list")}
    await mia.mutate("users.setRole", id=ids["ben@example.org"], role="admin")
    ben = people["ben"]
    await ben.mutate("users.setRole", id=ids[MIA], role="member")
    owners = {"owner": mia, "device of the owner": await pair(mia)}
    others = {
        "other member": people["noa"],
        "admin": ben,
        "device of another member": await pair(people["noa"]),
        "device of the admin": await pair(ben),
    }
    return ClaimedInstance(service, {**owners, **others}, await furnished(service, mia, thread))


async def furnished(service: Service, mia: Person, thread: str) -> Things:
    file = await uploaded(mia, SECRET, x_svc_filename=f"{MARK}.bin")
    ((attachment,),) = await service.rows("select id from files where id <> :id", id=file["id"])
    await mia.mutate("pages.save", path="mias", title=f"{MARK} page", body=f"![it](/files/{file['id']}/content)")
    await sign_in(service, MIA)  # another session of hers
    devices = {row["id"] for row in await mia.query("devices.list")}
    await pair(mia)
    (device,) = {row["id"] for row in await mia.query("devices.list")} - devices
    return Things(
        account=(await mia.query("mail.accounts"))[0]["id"],
        thread=thread,
        attachment=attachment,
        file=file["id"],
        sha256=hashlib.sha256(SECRET).hexdigest(),
        page="mias",
        correspondent=CORRESPONDENT,
        session=next(row["id"] for row in await mia.query("auth.sessions") if not row["current"]),
        device=device,
    )


def told(reply: Reply) -> tuple[int, list[tuple[str, str]], bytes]:
    """All that an answer says, but for what differs between any two."""
    return reply.status, [field for field in reply.headers if field[0] not in ("x-request-id", "date")], reply.body


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["other member", "admin", "device of another member", "device of the admin"])
async def test_to_anybody_else_it_is_as_missing_as_what_never_was(instance: ClaimedInstance, name: str) -> None:
    person = instance.people[name]
    foreign = [*readings(instance.mias), *changes(instance.mias)]
    missing = [*readings(MISSING), *changes(MISSING)]
    before = await instance.service.dump()
    for real, never in zip(foreign, missing, strict=True):
        if "admin" in name and real == changes(instance.mias)[-1]:
            continue  # an admin takes away anybody's device: the next test
        answer = await real.by(person)
        assert answer.status == 404, real
        assert told(answer) == told(await never.by(person)), real
    assert await instance.service.dump() == before


async def test_an_admin_may_take_a_device_away_and_learns_nothing_of_what_it_could_read(
    instance: ClaimedInstance,
) -> None:
    reply = await changes(instance.mias)[-1].by(instance.people["admin"])
    assert reply.status == 200
    assert SECRET not in reply.body
    assert MARK.encode() not in reply.body


@pytest.mark.parametrize("name", ["other member", "admin", "device of another member", "device of the admin"])
async def test_no_list_of_anybody_else_holds_it(instance: ClaimedInstance, name: str) -> None:
    mias = instance.mias
    traces = [MARK, mias.account, mias.thread, mias.attachment, mias.file, mias.sha256, mias.session]
    for ask in LISTS:
        reply = await ask.by(instance.people[name])
        assert reply.status == 200
        assert [trace for trace in traces if trace.encode() in reply.body] == [], ask


async def test_nobody_is_turned_away_from_what_is_there_as_from_what_is_not(instance: ClaimedInstance) -> None:
    nobody = Person(instance.service)
    before = await instance.service.dump()
    foreign = [*readings(instance.mias), *changes(instance.mias)]
    missing = [*readings(MISSING), *changes(MISSING)]
    for real, never in zip(foreign, missing, strict=True):
        answer = await real.by(nobody)
        assert answer.status == 401, real
        assert told(answer) == told(await never.by(nobody)), real
    assert await instance.service.dump() == before


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["owner", "device of the owner"])
async def test_the_owner_reads_and_does_it_all_from_any_device(instance: ClaimedInstance, name: str) -> None:
    """Else the refusals above would prove nothing."""
    for ask in [*readings(instance.mias), *changes(instance.mias)]:
        reply = await ask.by(instance.people[name])
        assert reply.status == 200, (ask, reply.body)
