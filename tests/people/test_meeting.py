"""Mail makes people, and people get pages; who doesn't, and what happens to the pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from email.message import EmailMessage
from email.utils import parseaddr
from pathlib import Path

import pytest
import trio

from svc.app import all_invariants
from svc.clock import VirtualClock
from svc.errors import NotFound
from svc.fakes.mail.provider import FakeWorld
from svc.mail.accounts import actions as account_actions
from svc.mail.accounts import progress
from svc.mail.sync.engine import MailEngine
from svc.people import actions
from svc.principal import Principal, system
from svc.store import Following, ReadTx
from svc.workspace import Workspace
from tests.identity.people import Person, sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, RpcError, Service, open_service

RUTH = "Ruth Adeyemi <ruth@harbour.example>"
HOME = "mia@home.example"
NOA = "noa@n.example"


async def arrives(asking: Service | Person, sender: str = RUTH, *, address: str = MIA, **more: object) -> str:
    """A mail is in the mailbox and synced; who it is from is wanted as one of the people. Returns its thread."""
    thread_id = await from_stranger(asking, sender, address=address, **more)
    store = (asking if isinstance(asking, Service) else asking.service).workspace.store
    with suppress(NotFound):
        await store.write(actions.add, system("test"), address=parseaddr(sender)[1])
    return thread_id


async def from_stranger(asking: Service | Person, sender: str = RUTH, *, address: str = MIA, **more: object) -> str:
    """A mail is in the mailbox and synced. Returns its thread."""
    wanted = {"address": address, "from": sender, "subject": "Hello", "text": "Hi.", **more}
    thread_id: str = (await asking.mutate("fake.mail.inject", **wanted))["threadId"]
    await asking.mutate("fake.mail.syncNow", address=address)
    return thread_id


async def sends(asking: Service | Person, *to: str, address: str = MIA) -> None:
    """A mail of one's own, sent by another program."""
    service = asking if isinstance(asking, Service) else asking.service
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = address, ", ".join(to), "Hello"
    message.set_content("Hi.")
    if not service.workspace.service(FakeWorld).addresses:
        await arrives(asking, "no-reply@example.org", address=address)  # the account is connected
    await service.workspace.service(FakeWorld).inject(
        address=address, raw=message.as_bytes(), thread_key=None, labels=frozenset({"SENT"})
    )
    await asking.mutate("fake.mail.syncNow", address=address)


async def people(service: Service) -> dict[str, str | None]:
    """Address and path of each."""
    rows = await service.rows("select e.address, p.path from people e left join pages p on p.id = e.page_id")
    return dict(rows)


async def row_title(service: Service) -> str | None:
    found = await service.query("mail.threads", section="inbox")
    title: str | None = found["threads"][0]["sender"]["title"]
    return title


async def problems(service: Service) -> list[str]:
    def all_of_them(tx: ReadTx) -> list[str]:
        return [problem for one in all_invariants() if one.yields == "problems" for problem in one.check(tx)]

    return await service.workspace.store.read(all_of_them)


async def test_a_new_correspondent_gets_a_page_that_names_rows_and_files_threads(service: Service) -> None:
    thread_id = await arrives(service)
    page = await service.query("pages.get", path="crm/ruth-adeyemi")
    assert page["title"] == "Ruth Adeyemi"
    assert page["body"] == "- Name: Ruth Adeyemi\n- Address: `ruth@harbour.example`\n- Company: harbour.example\n"
    assert await row_title(service) == "Ruth Adeyemi"
    filing = (await service.query("mail.thread", id=thread_id))["filing"]
    assert filing == {"pageId": page["id"], "path": "crm/ruth-adeyemi", "title": "Ruth Adeyemi"}
    assert await problems(service) == []


async def test_renaming_the_page_renames_the_rows(service: Service) -> None:
    await arrives(service)
    page = await service.query("pages.get", path="crm/ruth-adeyemi")
    await service.mutate("pages.save", path=page["path"], title="Ruth (Harbour Line)", body=page["body"])
    await service.mutate("pages.move", path=page["path"], to="clients/ruth")
    assert await row_title(service) == "Ruth (Harbour Line)"
    assert (await service.query("people.get", address="RUTH@harbour.example"))["page"]["path"] == "clients/ruth"


async def test_rows_hear_of_another_title_at_once(
    service: Service,
) -> None:
    await sends(service, RUTH, "Di <di@d.example>")
    thread_id = await from_stranger(service)
    await from_stranger(service, "Di <di@d.example>")
    live = await service.live("mail")
    await service.mutate("pages.save", path="crm/ruth-adeyemi", title="Ruth (Harbour Line)", body="")
    heard = [await live.hear(), await live.hear()]
    told = {one["id"]: one["payload"]["thread"] for one in heard}
    assert told.pop(thread_id)["sender"]["title"] == "Ruth (Harbour Line)"
    (own,) = told.values()
    assert [one["title"] for one in own["sent"]["to"]] == ["Ruth (Harbour Line)", "Di"]
    await service.mutate("people.setPage", address="ruth@harbour.example", path="crm/di")
    heard = [await live.hear(), await live.hear()]
    told = {one["id"]: one["payload"]["thread"] for one in heard}
    assert told[thread_id]["sender"]["title"] == "Di"
    await service.mutate("pages.save", path="elsewhere", title="Elsewhere", body="")
    await sends(service, "Ann <ann@x.example>")
    await from_stranger(service, "Ann <ann@x.example>")
    heard = [await live.hear(), await live.hear()]
    assert heard[-1]["payload"]["thread"]["sender"]["title"] == "Ann"


async def test_rows_hear_of_another_title_though_the_process_dies_before_they_are_told(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        await sends(service, RUTH)
        thread_id = await from_stranger(service)
    async with open_service(tmp_path, clock=wall, log=log, before=without_consumers, PROVIDERS="fake") as service:
        await service.mutate("pages.save", path="crm/ruth-adeyemi", title="Ruth (Harbour Line)", body="")
        ((seq,),) = await service.rows("select max(seq) from outbox")
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        live = await service.live("mail", after=seq)
        heard = [await live.hear(), await live.hear()]
        (told,) = [one["payload"]["thread"] for one in heard if one["id"] == thread_id]
        assert told["sender"]["title"] == "Ruth (Harbour Line)"


def without_consumers(workspace: Workspace) -> None:
    """A process that is killed before any of them has its turn."""
    workspace.service(Following).rows = ()


async def test_mail_of_ones_own_brings_each_recipient(service: Service) -> None:
    await sends(service, "Ann <ann@x.example>", "bob@y.example", MIA, "noreply@z.example")
    assert await people(service) == {"ann@x.example": "crm/ann", "bob@y.example": "crm/bob-y-example"}


@pytest.mark.parametrize("labels", [["SPAM"], ["INBOX", "TRASH"], ["DRAFT"]])
async def test_spam_trash_and_drafts_bring_nobody(service: Service, labels: list[str]) -> None:
    await arrives(service, labels=labels)
    assert await people(service) == {}


@pytest.mark.parametrize(
    "sender", ["Parcel <no-reply@parcel.example>", f"Me <{MIA.upper()}>", f"Me <{HOME}>", "x", "undisclosed: ;"]
)
async def test_neither_programs_nor_oneself_nor_nonsense_are_people(service: Service, sender: str) -> None:
    await arrives(service, "Di <di@d.example>", address=HOME)
    await arrives(service, sender)
    assert await people(service) == {"di@d.example": "crm/di"}


@pytest.mark.parametrize(
    ("field", "value", "is_met"),
    [
        ("List-Id", "<news.harbour.example>", False),
        ("List-Unsubscribe", "<https://harbour.example/u>", False),
        ("Precedence", "Bulk", False),
        ("Precedence", "normal", True),
        ("Auto-Submitted", "auto-replied", False),
        ("Auto-Submitted", "no", True),
    ],
)
async def test_who_writes_in_bulk_or_automatically_is_nobody(
    service: Service, field: str, value: str, is_met: bool
) -> None:
    await arrives(service, "Di <di@d.example>")
    message = EmailMessage()
    message["From"], message["To"], message[field] = RUTH, MIA, value
    message.set_content("Hi.")
    await service.workspace.service(FakeWorld).inject(
        address=MIA, raw=message.as_bytes(), thread_key=None, labels=frozenset({"INBOX"})
    )
    await service.mutate("fake.mail.syncNow", address=MIA)
    assert ("ruth@harbour.example" in await people(service)) is is_met


@pytest.mark.thorough
async def test_the_demo_world_shows_titles_and_files_its_threads(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_SEED="mock-world") as service:
        for account in await service.query("mail.accounts"):
            await service.mutate("fake.mail.syncNow", address=account["address"])
        threads = (await service.query("mail.threads", section="inbox", limit=200))["threads"]
        titles = {one["sender"]["address"]: one["sender"]["title"] for one in threads}
        assert titles["ruth.adeyemi@harbourline.example"] == "Ruth Adeyemi"
        assert titles["k.tanaka@lumen-observatory.example"] == "田中 恵子"
        assert titles["jonas@ternandtide.example"] is None  # a colleague
        assert titles["no-reply@parcel-desk.example"] is None
        (first,) = await service.query("people.suggest", text="sorens")
        assert first["address"] == "margit@havnegade-bageri.example"
        found = await service.query("people.list", text="ruth")
        assert [(one["title"], one["page"]["path"]) for one in found["people"]] == [
            ("Ruth Adeyemi", "crm/ruth-adeyemi")
        ]
        assert found["people"][0]["messages"] > 1
        assert not found["more"]
        everybody = await service.query("people.list", limit=200)
        assert (await service.query("people.list", limit=2)) == {"people": everybody["people"][:2], "more": True}
        assert await problems(service) == []


async def test_the_same_message_again_is_no_second_meeting(service: Service) -> None:
    await arrives(service)
    before = await service.query("people.get", address="ruth@harbour.example")
    await service.mutate("fake.mail.expireHistory", address=MIA)
    await service.mutate("fake.mail.syncNow", address=MIA)
    assert await service.query("people.get", address="ruth@harbour.example") == before
    assert before["messages"] == 1


async def test_the_name_is_the_newest_one_people_call_themselves(service: Service) -> None:
    await sends(service, "ruthie <ruth@harbour.example>")
    await arrives(service)
    await sends(service, "my ruth <ruth@harbour.example>")
    found = await service.query("people.get", address="ruth@harbour.example")
    assert (found["name"], found["title"], found["messages"]) == ("Ruth Adeyemi", "ruthie", 3)
    assert await service.query("people.suggest", text="adey")
    assert not await service.query("people.suggest", text="ruthie")
    assert await problems(service) == []


async def test_two_people_of_one_name_have_two_pages(service: Service) -> None:
    for address in ("a@one.example", "b@one.example", "c@two.example"):
        await arrives(service, f"Ann Smith <{address}>")
    found = await people(service)
    assert found["a@one.example"] == "crm/ann-smith"
    assert found["b@one.example"] == "crm/ann-smith-one-example"
    assert found["c@two.example"] == "crm/ann-smith-two-example"


async def test_a_page_that_was_deleted_is_not_made_again(service: Service) -> None:
    thread_id = await arrives(service)
    await service.mutate("pages.delete", path="crm/ruth-adeyemi")
    await arrives(service)
    assert await people(service) == {"ruth@harbour.example": None}
    assert await row_title(service) is None
    assert (await service.query("mail.thread", id=thread_id))["filing"] is None
    assert await problems(service) == []


async def test_whoever_files_by_hand_has_the_last_word(service: Service) -> None:
    thread_id = await arrives(service)
    await arrives(service, "Ruth at home <ruth@gmail.com>")
    await service.mutate("people.setPage", address="ruth@gmail.com", path="crm/ruth-adeyemi")
    filed = await service.query("people.filed", path="crm/ruth-adeyemi")
    assert sorted(one["address"] for one in filed) == ["ruth@gmail.com", "ruth@harbour.example"]
    assert await row_title(service) == "Ruth Adeyemi"
    await service.mutate("people.setPage", address="ruth@harbour.example", path=None)
    await arrives(service)
    assert (await service.query("people.get", address="ruth@harbour.example"))["page"] is None
    assert (await service.query("mail.thread", id=thread_id))["filing"] is None
    with pytest.raises(RpcError, match="no such page"):
        await service.mutate("people.setPage", address="ruth@harbour.example", path="none")
    with pytest.raises(RpcError, match="no correspondent"):
        await service.mutate("people.setPage", address="x@harbour.example", path=None)


async def test_a_thread_is_filed_under_its_first_correspondent_from_elsewhere(service: Service) -> None:
    for sender in ("Bot <no-reply@bot.example>", f"Jo <jo@{MIA.partition('@')[2]}>", RUTH, "Di <di@d.example>"):
        thread_id = await arrives(service, sender, threadKey="one")
        await trio.sleep(60)
    assert (await service.query("mail.thread", id=thread_id))["filing"]["title"] == "Ruth Adeyemi"


async def test_a_thread_of_ones_own_is_filed_under_whom_it_went_to(service: Service) -> None:
    await sends(service, RUTH)
    ((thread_id,),) = await service.rows("select thread_id from mail_messages where own")
    assert (await service.query("mail.thread", id=thread_id))["filing"]["path"] == "crm/ruth-adeyemi"


# The setting


@asynccontextmanager
async def with_skipped(tmp_path: Path, wall: VirtualClock, log: RecordedLog, domains: str) -> AsyncIterator[Service]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_CRM_SKIP_DOMAINS=domains) as service:
        yield service


async def test_colleagues_get_no_page_but_are_suggested(service: Service) -> None:
    thread_id = await arrives(service, "Noa <noa@example.org>")
    assert await people(service) == {"noa@example.org": None}
    assert (await service.query("mail.thread", id=thread_id))["filing"] is None
    assert await service.query("people.suggest", text="noa") == [
        {"name": "Noa", "address": "noa@example.org", "title": None, "path": None}
    ]
    assert not await service.query("pages.tree")


async def test_the_domain_of_a_public_mail_service_is_nobodys_own(service: Service) -> None:
    await arrives(service, "Ann <ann@gmail.com>", address="mia@gmail.com")
    assert await people(service) == {"ann@gmail.com": "crm/ann"}


async def test_the_setting_says_whose_colleagues_are_skipped_and_may_change(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with with_skipped(tmp_path, wall, log, "harbour.example, other.example") as service:
        await arrives(service)
        await arrives(service, "Noa <noa@example.org>")
        assert await people(service) == {"ruth@harbour.example": None, "noa@example.org": "crm/noa"}
    async with with_skipped(tmp_path, wall, log, "none") as service:
        assert await people(service) == {"ruth@harbour.example": None, "noa@example.org": "crm/noa"}
        await arrives(service)
        assert await people(service) == {"ruth@harbour.example": "crm/ruth-adeyemi", "noa@example.org": "crm/noa"}
        assert await problems(service) == []


# Whose they are


async def test_the_first_admin_takes_over_who_was_met_before(service: Service) -> None:
    await arrives(service)
    mia = await sign_in(service, MIA)
    assert (await mia.query("people.get", address="ruth@harbour.example"))["page"]["path"] == "crm/ruth-adeyemi"
    assert [one["address"] for one in await mia.query("people.suggest", text="ruth")] == ["ruth@harbour.example"]
    assert (await mia.query("mail.threads", section="inbox"))["threads"][0]["sender"]["title"] == "Ruth Adeyemi"
    await arrives(mia)
    assert (await mia.query("people.get", address="ruth@harbour.example"))["messages"] == 2
    assert await problems(service) == []


async def test_two_who_know_the_same_one_have_a_page_each_and_see_their_own(service: Service) -> None:
    mia = await sign_in(service, MIA)
    noa = await sign_in(service, NOA, invite=(await mia.mutate("auth.createInvite"))["code"])
    await connect(service, noa, NOA)
    await arrives(mia)
    await arrives(mia, address=NOA)
    assert [one["path"] for one in await mia.query("pages.tree", path="crm")] == ["crm/ruth-adeyemi"]
    assert [one["path"] for one in await noa.query("pages.tree", path="crm")] == ["crm/ruth-adeyemi-harbour-example"]
    await noa.mutate("pages.save", path="crm/ruth-adeyemi-harbour-example", title="My Ruth", body="")
    for who, title in ((mia, "Ruth Adeyemi"), (noa, "My Ruth")):
        assert (await who.query("people.get", address="ruth@harbour.example"))["title"] == title
        assert [one["title"] for one in await who.query("people.suggest", text="ruth")] == [title]
        (thread,) = (await who.query("mail.threads", section="inbox"))["threads"]
        assert thread["sender"]["title"] == title
    assert await problems(service) == []


async def test_a_page_that_is_no_longer_shared_with_the_owner_names_nobody_any_more(service: Service) -> None:
    mia = await sign_in(service, MIA)
    noa = await sign_in(service, NOA, invite=(await mia.mutate("auth.createInvite"))["code"])
    await connect(service, noa, NOA)
    thread_id = await arrives(mia, address=NOA)
    await mia.mutate("pages.save", path="clients", title="Clients", body="")
    with pytest.raises(RpcError, match="no such page"):
        await noa.mutate("people.setPage", address="ruth@harbour.example", path="clients")
    everyone = {"path": "clients", "access": "explicit", "grants": [{"to": "everyone", "level": "read"}]}
    await mia.mutate("pages.setAccess", **everyone)
    await noa.mutate("people.setPage", address="ruth@harbour.example", path="clients")
    assert (await noa.query("mail.thread", id=thread_id))["filing"]["title"] == "Clients"
    assert await mia.query("people.filed", path="clients") == []
    await mia.mutate("pages.setAccess", **{**everyone, "grants": []})
    assert (await noa.query("mail.thread", id=thread_id))["filing"] is None
    assert (await noa.query("people.get", address="ruth@harbour.example"))["page"] is None


async def test_what_stands_above_shares_no_new_page(service: Service) -> None:
    mia = await sign_in(service, MIA)
    noa = await sign_in(service, NOA, invite=(await mia.mutate("auth.createInvite"))["code"])
    await mia.mutate("pages.save", path="crm", title="Our clients", body="")
    await mia.mutate("pages.setAccess", path="crm", access="explicit", grants=[{"to": "everyone", "level": "write"}])
    await arrives(mia)
    assert [one["path"] for one in await mia.query("pages.tree", path="crm")] == ["crm/ruth-adeyemi"]
    assert await noa.query("pages.tree", path="crm") == []
    assert (await mia.query("pages.get", path="crm"))["title"] == "Our clients"


async def test_a_page_of_a_sweep_is_one_piece_of_news_of_the_tree(service: Service) -> None:
    await arrives(service)
    for number in range(30):
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = MIA, f"P{number} <p{number}@harbour.example>", "Hi"
        message.set_content("Hi.")
        await service.workspace.service(FakeWorld).inject(
            address=MIA, raw=message.as_bytes(), thread_key=None, labels=frozenset({"SENT"})
        )
    head = service.workspace.store.outbox.head()
    await service.workspace.store.write(progress.forget_cursor, account_id=await account_id(service))
    await service.mutate("fake.mail.syncNow", address=MIA)
    told = await service.rows("select payload from outbox where topic = 'pages' and seq > :head", head=head)
    assert told == [('{"path":"crm"}',)]
    assert len(await people(service)) == 31


async def account_id(service: Service) -> str:
    ((found,),) = await service.rows("select id from mail_accounts")
    return str(found)


async def connect(service: Service, person: Person, address: str) -> None:
    """An account of that person's."""
    user_id = (await person.me())["user"]["id"]
    owner = Principal(user_id=user_id, device_id="dev_test", is_admin=False, via="session")
    account_id = await service.workspace.store.write(account_actions.connect, owner, address=address, provider="fake")
    await service.workspace.service(MailEngine).start_account(account_id)
