"""The name in ``From``: the provider's at first, then whatever the person wants, and nobody else."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import pytest

from svc.fakes.mail.provider import FakeProvider
from svc.mail.accounts import sender_names
from svc.mail.accounts.sender_names import MAX_SENDER_NAME_CHARS
from svc.mail.health import actions as health_actions
from svc.mail.providers.seam import GrantLost, Provider, ProviderFault, Refused, SendingAddress, Throttled, Unreachable
from tests.mail.sending.mailer import Mailer, mailer_of
from tests.support.mailbox import MIA, MailSync
from tests.support.service import RpcError, Service


@dataclass(frozen=True, kw_only=True)
class Named(FakeProvider):
    """A mailbox whose provider says this of the name."""

    says: str | ProviderFault | None
    asked: list[str]

    async def addresses(self) -> tuple[SendingAddress, ...]:
        self.asked.append(self.address)
        if isinstance(self.says, ProviderFault):
            raise self.says
        return (SendingAddress(address=self.address, name=self.says or "", own=True, default=True),)


def named(mail_sync: MailSync, says: str | ProviderFault | None) -> Named:
    return Named(world=mail_sync.fake_mail, address=MIA, says=says, asked=[])


async def swept(mail_sync: MailSync, provider: Provider) -> str:
    await mail_sync.inject("Hello")
    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id, provider).step()
    return account_id


async def name_of(mail_sync: MailSync, account_id: str) -> str | None:
    return (await mail_sync.account(account_id)).sender_name


async def resync(mail_sync: MailSync, account_id: str, provider: Provider) -> None:
    await mail_sync.store.write(health_actions.resync, mail_sync.principal, account_id=account_id)
    await mail_sync.sync_of(account_id, provider).step()


async def choose(mail_sync: MailSync, account_id: str, name: str) -> None:
    await mail_sync.store.write(sender_names.set_sender_name, mail_sync.principal, account_id=account_id, name=name)


async def test_the_provider_is_asked_when_an_account_is_connected_and_once_a_connection(mail_sync: MailSync) -> None:
    provider = named(mail_sync, "Mia Lindqvist")
    account_id = await swept(mail_sync, provider)
    assert await name_of(mail_sync, account_id) == "Mia Lindqvist"
    sync = mail_sync.sync_of(account_id, provider)
    for _ in range(3):
        await sync.step()
    assert provider.asked == [MIA, MIA]


async def test_an_account_from_before_names_were_known_is_asked_for_once_a_connection(mail_sync: MailSync) -> None:
    account_id = await swept(mail_sync, named(mail_sync, None))
    provider = named(mail_sync, "Mia Lindqvist")
    await mail_sync.sync_of(account_id, provider).step()
    assert await name_of(mail_sync, account_id) == "Mia Lindqvist"


@pytest.mark.parametrize(
    "fault",
    [
        Refused("No such thing."),
        Unreachable("No connection."),
        Throttled("A pause.", retry_after_s=60),
        GrantLost("The scope is too small.", trouble="scope"),
    ],
)
async def test_no_fault_of_the_question_is_the_accounts_trouble(mail_sync: MailSync, fault: ProviderFault) -> None:
    provider = named(mail_sync, fault)
    account_id = await swept(mail_sync, provider)
    account = await mail_sync.account(account_id)
    assert (account.state, account.problem, account.sender_name) == ("caught-up", None, None)
    await mail_sync.sync_of(account_id, replace(provider, says=None)).step()
    again = named(mail_sync, "Mia")
    await resync(mail_sync, account_id, again)
    assert (await name_of(mail_sync, account_id), again.asked) == ("Mia", [MIA])


@pytest.mark.parametrize("chosen", ["Mia at the sea", ""])
async def test_what_a_person_chose_no_provider_changes(mail_sync: MailSync, chosen: str) -> None:
    account_id = await swept(mail_sync, named(mail_sync, "Mia Lindqvist"))
    await choose(mail_sync, account_id, chosen)
    provider = named(mail_sync, "Mia Lindqvist")
    await resync(mail_sync, account_id, provider)
    assert await name_of(mail_sync, account_id) == chosen


async def test_a_name_that_was_chosen_while_the_provider_was_asked_stays(mail_sync: MailSync) -> None:
    account_id = await swept(mail_sync, named(mail_sync, None))
    await choose(mail_sync, account_id, "Mia at the sea")
    await mail_sync.sync_of(account_id, named(mail_sync, "Mia Lindqvist")).step()
    assert await name_of(mail_sync, account_id) == "Mia at the sea"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Mia\r\nBcc: eve@evil.example", "Mia Bcc: eve@evil.example"),
        ("  Mia \x00 Lindqvist ", "Mia Lindqvist"),
        ("Mia\u202egpj", "Miagpj"),
        (" \r\n ", None),
        ("x" * (MAX_SENDER_NAME_CHARS + 1), None),
    ],
)
async def test_of_what_the_provider_says_one_line_is_kept(mail_sync: MailSync, said: str, kept: str | None) -> None:
    assert await name_of(mail_sync, await swept(mail_sync, named(mail_sync, said))) == kept


async def test_the_fake_mailboxes_bear_the_names_of_the_demo_world(mail_sync: MailSync) -> None:
    await mail_sync.fake_mail.seed()
    names = {
        address: (await mail_sync.fake_mail.provider(address).addresses())[0].name
        for address in mail_sync.fake_mail.addresses
    }
    assert names == {
        "mia@ternandtide.example": "Mia Lindqvist",
        "hello@ternandtide.example": "Tern & Tide",
        "mia.lindqvist@lanternpost.example": "Mia Lindqvist",
    }


# In the mail that leaves


async def from_of(mailer: Mailer) -> str:
    sent = await mailer.send()
    await mailer.until(sent["outgoingId"], "sent")
    raw = mailer.fake_mail.mailbox(mailer.address).sent[-1].raw
    head = raw.partition(b"\r\n\r\n")[0].decode("ascii")
    assert not re.search("(?im)^(bcc|x-evil):", head)
    (value,) = re.findall(r"(?m)^From: (.*(?:\r\n[ \t].*)*)", head)
    return str(value).strip()


async def set_name(mailer: Mailer, name: str) -> None:
    await mailer.service.mutate("mail.setSenderName", accountId=mailer.account_id, name=name)


async def test_mail_leaves_under_the_name_that_was_set_and_under_none_again(service: Service) -> None:
    mailer = await mailer_of(service)
    assert await from_of(mailer) in {MIA, f"<{MIA}>"}
    await set_name(mailer, "  Mia   Lindqvist ")
    (account,) = await service.query("mail.accounts")
    assert account["senderName"] == "Mia Lindqvist"
    assert await from_of(mailer) == f"Mia Lindqvist <{MIA}>"
    await set_name(mailer, "")
    (account,) = await service.query("mail.accounts")
    assert account["senderName"] is None
    assert "Mia" not in await from_of(mailer)


@pytest.mark.parametrize(
    "name", ["田中 恵子", 'Mia "the" Tern, Ltd. <eve@evil.example>', "a" * MAX_SENDER_NAME_CHARS, "x:y;z\\"]
)
async def test_any_one_line_comes_back_as_it_was_said_beside_the_accounts_own_address(
    service: Service, name: str
) -> None:
    mailer = await mailer_of(service)
    await set_name(mailer, name)
    await from_of(mailer)
    senders = [(one.sender.name, one.sender.address) for one in mailer.accepted() if one.sender is not None]
    assert senders == [(name, MIA)]


@pytest.mark.parametrize(
    "name",
    [
        "Mia\r\nBcc: eve@evil.example",
        "Mia\nX-Evil: 1",
        "Mia\rX-Evil: 1",
        "Mia\x00",
        "Mia\x85X-Evil: 1",
        "Mia\u2028X-Evil: 1",
        "a" * (MAX_SENDER_NAME_CHARS + 1),
    ],
)
async def test_what_is_no_name_is_refused_and_changes_nothing(service: Service, name: str) -> None:
    mailer = await mailer_of(service)
    await set_name(mailer, "Mia")
    with pytest.raises(RpcError) as refused:
        await set_name(mailer, name)
    assert refused.value.code == "BAD_REQUEST"
    (account,) = await service.query("mail.accounts")
    assert account["senderName"] == "Mia"
