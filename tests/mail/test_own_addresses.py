"""The further addresses of an account: who confirms them, and which mail is from them and so the person's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from svc.fakes.mail.provider import FakeProvider
from svc.formats.mime import parse_message
from svc.mail.accounts import addressing, own_addresses
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts.addressing import MAX_BY_HAND
from svc.mail.health import actions as health_actions
from svc.mail.model import Account
from svc.mail.providers.seam import Refused, SendingAddress
from tests.mail.sending.mailer import Mailer, mailer_of
from tests.support.mailbox import MIA, MailSync
from tests.support.service import RpcError, Service

HELLO = "hello@studio.example"
OTHER = "m.l@else.example"


@dataclass(frozen=True, kw_only=True)
class Telling(FakeProvider):
    says: tuple[SendingAddress, ...] | None

    async def addresses(self) -> tuple[SendingAddress, ...]:
        if self.says is None:
            raise Refused("No such thing.")
        return self.says


def told(address: str, *, name: str = "", default: bool = False, confirmed: bool = True) -> SendingAddress:
    return SendingAddress(address=address, name=name, own=address == MIA, default=default, confirmed=confirmed)


async def synced(mail_sync: MailSync, *says: SendingAddress) -> str:
    await mail_sync.inject("Hello")
    account_id = await mail_sync.connect()
    await hear(mail_sync, account_id, *says)
    return account_id


async def hear(mail_sync: MailSync, account_id: str, *says: SendingAddress) -> None:
    provider = Telling(world=mail_sync.fake_mail, address=MIA, says=(told(MIA, name="Mia"), *says))
    await mail_sync.sync_of(account_id, provider).step()


async def rows(mail_sync: MailSync, account_id: str) -> list[tuple[str, str, str, bool, bool]]:
    account = await mail_sync.account(account_id)
    found = await mail_sync.store.read(own_addresses.addresses, account)
    return [(one.address, one.name, one.source, one.confirmed, one.is_default) for one in found]


# What the provider tells


async def test_the_providers_addresses_are_the_accounts_as_soon_as_they_are_confirmed(mail_sync: MailSync) -> None:
    account_id = await synced(mail_sync, told(HELLO, name="The Studio"), told(OTHER, confirmed=False))
    assert await rows(mail_sync, account_id) == [
        (MIA, "Mia", "account", True, True),
        (HELLO, "The Studio", "provider", True, False),
        (OTHER, "", "provider", False, False),
    ]
    assert (await mail_sync.account(account_id)).aliases == (HELLO,)
    await hear(mail_sync, account_id, told(OTHER, default=True))
    assert await rows(mail_sync, account_id) == [
        (MIA, "Mia", "account", True, False),
        (OTHER, "", "provider", True, True),
    ]


async def test_what_a_person_has_added_no_provider_changes(mail_sync: MailSync) -> None:
    account_id = await synced(mail_sync)
    await mail_sync.store.write(
        addressing.set_address, mail_sync.principal, account_id=account_id, address=HELLO.upper(), name="By hand"
    )
    await hear(mail_sync, account_id, told(HELLO, name="The Studio"))
    await hear(mail_sync, account_id)
    assert (HELLO, "By hand", "person", True, False) in await rows(mail_sync, account_id)


async def test_what_the_provider_tells_may_be_nonsense(mail_sync: MailSync) -> None:
    account_id = await synced(
        mail_sync, told("no address"), told("a@b\r\nc"), told(HELLO, name="A\r\nBcc: x"), told(HELLO)
    )
    assert [(address, name) for address, name, *_ in await rows(mail_sync, account_id)] == [(MIA, "Mia"), (HELLO, "")]
    deaf = Telling(world=mail_sync.fake_mail, address=MIA, says=None)
    await mail_sync.store.write(health_actions.resync, mail_sync.principal, account_id=account_id)
    await mail_sync.sync_of(account_id, deaf).step()
    await mail_sync.store.write(health_actions.resync, mail_sync.principal, account_id=account_id)
    await mail_sync.sync_of(account_id, replace(deaf, says=())).step()
    account = await mail_sync.account(account_id)
    assert (account.state, account.problem, account.aliases) == ("caught-up", None, (HELLO,))


# By hand


async def addresses(service: Service) -> list[tuple[str, str, str, bool]]:
    (account,) = await service.query("mail.accounts")
    return [(one["address"], one["name"], one["source"], one["default"]) for one in account["addresses"]]


async def test_addresses_are_added_named_made_the_default_and_removed(service: Service) -> None:
    mailer = await mailer_of(service)
    of = {"accountId": mailer.account_id}
    await service.mutate("mail.setAddress", **of, address=" Hello@Studio.example ", name="The  Studio")
    await service.mutate("mail.setDefaultAddress", **of, address=HELLO)
    assert await addresses(service) == [(MIA, "", "account", False), (HELLO, "The Studio", "person", True)]
    await service.mutate("mail.setAddress", **of, address=HELLO)
    assert await addresses(service) == [(MIA, "", "account", False), (HELLO, "", "person", True)]
    await service.mutate("mail.removeAddress", **of, address=HELLO)
    assert await addresses(service) == [(MIA, "", "account", True)]


@pytest.mark.parametrize(
    ("procedure", "wanted", "code"),
    [
        ("mail.setAddress", {"address": "nobody"}, "BAD_REQUEST"),
        ("mail.setAddress", {"address": "a@b.example\r\nBcc: c@d.example"}, "BAD_REQUEST"),
        ("mail.setAddress", {"address": HELLO, "name": "x\r\ny"}, "BAD_REQUEST"),
        ("mail.setAddress", {"address": MIA}, "CONFLICT"),
        ("mail.removeAddress", {"address": MIA}, "CONFLICT"),
        ("mail.removeAddress", {"address": HELLO}, "NOT_FOUND"),
        ("mail.setDefaultAddress", {"address": HELLO}, "NOT_FOUND"),
    ],
)
async def test_what_can_not_be_is_refused(
    procedure: str, wanted: dict[str, object], code: str, service: Service
) -> None:
    mailer = await mailer_of(service)
    with pytest.raises(RpcError) as refused:
        await service.mutate(procedure, accountId=mailer.account_id, **wanted)
    assert refused.value.code == code
    assert await addresses(service) == [(MIA, "", "account", True)]


async def test_the_providers_are_not_changed_by_hand_and_there_are_only_so_many(mail_sync: MailSync) -> None:
    account_id = await synced(mail_sync, told(HELLO), told(OTHER, confirmed=False))
    of = {"account_id": account_id}
    for at in range(MAX_BY_HAND):
        await mail_sync.store.write(
            addressing.set_address, mail_sync.principal, **of, address=f"a{at}@b.example", name=""
        )
    for change, wanted in (
        (addressing.set_address, {"address": HELLO, "name": "x"}),
        (addressing.set_address, {"address": "one@more.example", "name": ""}),
        (addressing.remove_address, {"address": HELLO}),
        (addressing.set_default, {"address": OTHER}),
    ):
        with pytest.raises(Exception, match=r"already|can’t be removed|not confirmed"):
            await mail_sync.store.write(change, mail_sync.principal, **of, **wanted)  # type: ignore[arg-type]


# Which one a mail is from


def account(*aliases: str, address: str = MIA) -> Account:
    blank: dict[str, Any] = dict.fromkeys(Account.__dataclass_fields__)
    return Account(**{**blank, "address": address, "aliases": aliases})


@pytest.mark.parametrize(
    ("reached", "found"),
    [
        ((MIA,), MIA),
        (("noa@x.example", HELLO.upper(), MIA), HELLO),
        (("hello+shop@studio.example",), HELLO),
        (("team+me@group.example",), "team+me@group.example"),
        (("team@group.example",), None),
        (("noa@x.example", "nonsense"), None),
    ],
)
def test_an_answer_is_from_the_first_address_that_was_reached(reached: tuple[str, ...], found: str | None) -> None:
    assert own_addresses.sent_to(account(HELLO, "team+me@group.example"), reached) == found


def test_a_tag_makes_nobody_else_and_a_groups_address_is_not_ones_own() -> None:
    own = own_addresses.of_account(account(HELLO, "team+me@group.example"))
    ours = ("Mia+x@example.org", MIA, "HELLO+y@studio.example", "team+me@group.example")
    assert all(own_addresses.is_one(one, own) for one in ours)
    assert not any(own_addresses.is_one(one, own) for one in ("team@group.example", "noa@x.example", ""))


def test_where_a_server_took_a_mail_is_read_in_order_and_bounded() -> None:
    more = "".join(f"X-Original-To: <x{at}@y.example>\r\n" for at in range(20))
    parsed = parse_message(
        f"{more}Delivered-To: hello@studio.example\r\nDelivered-To: junk\r\nTo: list@x\r\n\r\nHi".encode()
    )
    assert parsed.delivered_to[:2] == (HELLO, "x0@y.example")
    assert len(parsed.delivered_to) == 8
    assert parsed.problems == ()


async def aliased(service: Service, *aliases: str) -> Mailer:
    mailer = await mailer_of(service)
    for alias in aliases:
        await service.mutate("mail.setAddress", accountId=mailer.account_id, address=alias, name="The Studio")
    return mailer


async def arrived(mailer: Mailer, *fields: str, labels: frozenset[str] = frozenset({"INBOX", "UNREAD"})) -> str:
    """Its thread."""
    head = "\r\n".join(("From: Noa <noa@example.org>", "Subject: Boats", *fields))
    _, thread_id = await mailer.fake_mail.inject(
        address=mailer.address, raw=f"{head}\r\n\r\nHi".encode(), thread_key=None, labels=labels, stamped=True
    )
    await mailer.sync()
    ((thread,),) = await mailer.service.rows("select id from mail_threads where provider_thread_id = :id", id=thread_id)
    return str(thread)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ((f"To: {HELLO}, {MIA}",), HELLO),
        (("To: noa@example.org", f"Cc: <{HELLO}>"), HELLO),
        ((f"To: {MIA}", f"Delivered-To: {HELLO}"), MIA),
        (("To: list@lists.example", f"Delivered-To: {HELLO}", f"X-Original-To: {MIA}"), HELLO),
        (("To: list@lists.example", "Delivered-To: box@else.example", f"X-Original-To: {HELLO}"), HELLO),
        (("To: list@lists.example",), MIA),
    ],
)
async def test_a_reply_is_from_the_address_that_the_mail_came_to(
    fields: tuple[str, ...], found: str, service: Service
) -> None:
    mailer = await aliased(service, HELLO)
    thread = await arrived(mailer, *fields)
    ready = await service.query("mail.prepare", threadId=thread, kind="replyAll")
    assert ready["fromAddress"] == found
    assert not any(HELLO in one or MIA in one for one in (*ready["to"], *ready["cc"]))
    sent = await mailer.send(subject="Re: Boats", replyTo=thread)  # and so is one that says nothing of it
    await mailer.until(sent["outgoingId"], "sent")
    assert [one.sender.address for one in mailer.accepted() if one.sender] == [found]


async def test_ones_own_mail_is_answered_from_where_it_was_sent(service: Service) -> None:
    mailer = await aliased(service, HELLO)
    sent = await mailer.send(fromAddress=HELLO)
    await mailer.until(sent["outgoingId"], "sent")
    ((thread,),) = await service.rows("select thread_id from mail_messages where sender_address = :it", it=HELLO)
    ready = await service.query("mail.prepare", threadId=thread, kind="reply")
    assert (ready["fromAddress"], ready["to"]) == (HELLO, ['"Noa" <noa@example.org>'])


async def test_a_mail_leaves_from_the_address_that_was_chosen_under_its_name(service: Service) -> None:
    mailer = await aliased(service, HELLO)
    draft = {"accountId": mailer.account_id, "to": ["noa@example.org"], "subject": "Hello", "html": "<p>Hi</p>"}
    saved = await service.mutate("mail.saveDraft", **draft, fromAddress=HELLO)
    assert (await service.query("mail.draft", id=saved["id"]))["fromAddress"] == HELLO
    sent = await service.mutate("mail.send", **draft, fromAddress=HELLO, draftId=saved["id"])
    await mailer.until(sent["outgoingId"], "sent")
    (mail,) = mailer.accepted()
    assert mail.sender is not None
    assert (mail.sender.name, mail.sender.address) == ("The Studio", HELLO)
    assert (mail.message_id or "").endswith("@studio.example")


async def test_a_mail_that_says_nothing_is_from_the_default(service: Service) -> None:
    mailer = await aliased(service, HELLO)
    await service.mutate("mail.setDefaultAddress", accountId=mailer.account_id, address=HELLO)
    sent = await mailer.send()
    await mailer.until(sent["outgoingId"], "sent")
    assert [one.sender.address for one in mailer.accepted() if one.sender] == [HELLO]


async def test_nothing_is_accepted_from_an_address_that_is_not_the_accounts(service: Service) -> None:
    mailer = await aliased(service)
    other = await mailer_of(service, "work@example.org")
    for address in (HELLO, other.address, "noa@example.org"):
        with pytest.raises(RpcError, match=r"is no address of the account mia@example\.org") as refused:
            await mailer.send(fromAddress=address)
        assert refused.value.code == "BAD_REQUEST"
    assert mailer.accepted() == []


async def test_a_mail_that_waits_does_not_leave_from_an_address_that_was_removed(service: Service) -> None:
    mailer = await aliased(service, HELLO)
    sent = await mailer.send(fromAddress=HELLO, sendAt="2100-01-01T00:00:00Z")
    await service.mutate("mail.removeAddress", accountId=mailer.account_id, address=HELLO)
    await service.mutate("mail.reschedule", id=sent["outgoingId"], sendAt="2001-01-01T00:00:00Z")
    row = await mailer.until(sent["outgoingId"], "failed")
    assert row["lastError"] == f"{HELLO} is no address of {MIA} any more. Send it from another one."
    assert mailer.accepted() == []


async def test_a_mail_that_was_held_back_is_a_draft_from_the_same_address(service: Service) -> None:
    mailer = await aliased(service, HELLO)
    sent = await mailer.send(fromAddress=HELLO, sendAt="2100-01-01T00:00:00Z")
    await service.mutate("mail.cancelSend", id=sent["outgoingId"])
    draft_id = (await service.query("mail.outgoingDraft", id=sent["outgoingId"]))["draftId"]
    assert (await service.query("mail.draft", id=draft_id))["fromAddress"] == HELLO


# Wherever "me" is asked


async def test_an_own_address_is_me_and_none_of_ones_people(service: Service) -> None:
    mailer = await aliased(service, HELLO)
    thread = await arrived(mailer, "To: hello+shop@studio.example")
    found = (await service.query("mail.threads", section="inbox", only="to-me"))["threads"]
    assert thread in [one["id"] for one in found]
    sent = await mailer.send(to=[HELLO, "Hello+x@studio.example", "noa@example.org"])
    await mailer.until(sent["outgoingId"], "sent")
    known = await service.rows("select address from people order by address")
    assert known == [("noa@example.org",)]
    own = await service.workspace.store.read(account_queries.addresses_of, owner_id=None)
    assert {MIA, HELLO} <= own


async def test_a_search_for_oneself_finds_every_own_address(service: Service) -> None:
    mailer = await aliased(service, HELLO)
    thread = await arrived(mailer, f"To: {HELLO}")
    found = await service.query("mail.search", query="to:me subject:boats")
    assert [one["id"] for one in found["threads"]] == [thread]
