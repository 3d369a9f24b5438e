"""A message that can't be fetched stops no other one; an outage of the provider marks no message. On virtual time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import MockClock

from svc.fakes.mail.provider import FakeProvider
from svc.mail.providers.seam import GrantLost, LostAnswer, ProviderFault, RawMessage, Throttled, Unreachable
from svc.mail.sync.getting import ATTEMPTS_MAX
from tests.support.mailbox import MIA, MailSync
from tests.virtual_time import hours_pass


@dataclass(frozen=True, kw_only=True)
class Spoilt(FakeProvider):
    """Has no answer for the messages in ``bad``; none for any while ``away``. ``asked``: how often, by message."""

    bad: set[str] = field(default_factory=set)
    away: list[ProviderFault] = field(default_factory=list)
    fault: ProviderFault = field(default_factory=lambda: Unreachable("It has trouble of its own (status 500)."))
    asked: Counter[str] = field(default_factory=Counter)

    async def get(self, message_id: str) -> RawMessage:
        self.asked[message_id] += 1
        if self.away:
            raise self.away[0]
        if message_id in self.bad:
            raise self.fault
        return await super().get(message_id)


def spoilt(mail_sync: MailSync, *bad: str, fault: ProviderFault | None = None) -> Spoilt:
    provider = Spoilt(world=mail_sync.fake_mail, address=MIA, bad=set(bad))
    return provider if fault is None else Spoilt(world=mail_sync.fake_mail, address=MIA, bad=set(bad), fault=fault)


async def failed(mail_sync: MailSync) -> list[str]:
    return [str(message_id) for message_id, step, _ in await mail_sync.failures() if step == "fetch"]


FAULTS = [Unreachable("500."), LostAnswer("cut."), Unreachable("The answer can't be understood.")]


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS, ids=str)
async def test_one_message_that_never_comes_does_not_stop_a_first_sync(
    mail_sync: MailSync, fault: ProviderFault
) -> None:
    for number in range(130):
        await mail_sync.inject(f"Mail {number}")
    account_id = await mail_sync.connect()
    provider = spoilt(mail_sync, "fake-77", fault=fault)
    async with mail_sync.running(mail_sync.loop_of(account_id, provider)):
        await trio.sleep(300)
        await mail_sync.inject("Newer")
        await trio.sleep(60)
        account = await mail_sync.account(account_id)
    assert (account.state, account.problem, account.messages) == ("caught-up", None, 130)
    assert await mail_sync.failures() == [("fake-77", "fetch", fault.detail)]
    assert provider.asked["fake-77"] == ATTEMPTS_MAX
    witness = Counter(provider.asked) - Counter({"fake-77": ATTEMPTS_MAX})
    assert witness.total() == 130 + ATTEMPTS_MAX  # each of the others came once; and one that is asked each time
    assert await mail_sync.problems() == []


async def test_the_others_are_here_before_the_bad_one_is_given_up(mail_sync: MailSync) -> None:
    for number in range(30):
        await mail_sync.inject(f"Mail {number}")
    account_id = await mail_sync.connect()
    sync = mail_sync.sync_of(account_id, spoilt(mail_sync, "fake-3"))
    with pytest.raises(Unreachable):
        await sync.step()
    assert (await mail_sync.account(account_id)).messages == 29
    assert await failed(mail_sync) == []


@pytest.mark.thorough
async def test_many_messages_that_never_come_cost_no_more_time_than_one(mail_sync: MailSync) -> None:
    for number in range(350):
        await mail_sync.inject(f"Mail {number}")
    bad = [f"fake-{number}" for number in range(10, 350, 40)]
    account_id = await mail_sync.connect()
    async with mail_sync.running(mail_sync.loop_of(account_id, spoilt(mail_sync, *bad))):
        await trio.sleep(300)
        account = await mail_sync.account(account_id)
    assert (account.state, account.messages) == ("caught-up", 350 - len(bad))
    assert await failed(mail_sync) == sorted(bad)


async def test_new_mail_comes_past_one_that_never_does(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    provider = spoilt(mail_sync, "fake-2")
    async with mail_sync.running(mail_sync.loop_of(account_id, provider)):
        await trio.sleep(45)
        await mail_sync.inject("bad")
        await mail_sync.inject("good")
        await trio.sleep(30)
        assert (await mail_sync.account(account_id)).messages == 2  # before the other is given up
        await trio.sleep(300)
        account = await mail_sync.account(account_id)
    assert (account.state, account.messages, await failed(mail_sync)) == ("caught-up", 2, ["fake-2"])
    assert provider.asked["fake-1"] + provider.asked["fake-3"] == 1 + ATTEMPTS_MAX  # the others only as witnesses
    assert await mail_sync.problems() == []


@pytest.mark.thorough
async def test_a_witness_that_does_not_come_any_more_does_not_shield_the_others_for_ever(
    mail_sync: MailSync, clock: MockClock
) -> None:
    account_id = await mail_sync.synced("broken since", "two", "three")
    await mail_sync.inject("bad")
    async with mail_sync.running(mail_sync.loop_of(account_id, spoilt(mail_sync, "fake-1", "fake-4"))):
        await hours_pass(clock, 24)
        assert (await mail_sync.account(account_id)).state == "caught-up"
    assert await failed(mail_sync) == ["fake-4"]


async def test_the_only_message_of_a_mailbox_is_given_up_too(mail_sync: MailSync) -> None:
    await mail_sync.inject("bad")
    account_id = await mail_sync.connect()
    async with mail_sync.running(mail_sync.loop_of(account_id, spoilt(mail_sync, "fake-1"))):
        await trio.sleep(300)
        assert (await mail_sync.account(account_id)).state == "caught-up"
    assert await failed(mail_sync) == ["fake-1"]


@pytest.mark.share(3)
@pytest.mark.parametrize("fault", [*FAULTS, Throttled("429."), GrantLost("401.")], ids=str)
@pytest.mark.parametrize("known", [0, 1])
async def test_an_outage_makes_no_message_guilty_however_long_it_lasts(
    mail_sync: MailSync, known: int, fault: ProviderFault
) -> None:
    account_id = await (mail_sync.synced("here") if known else mail_sync.connect())
    for number in range(30):
        await mail_sync.inject(f"Mail {number}")
    provider = spoilt(mail_sync)
    provider.away.append(fault)
    sync = mail_sync.sync_of(account_id, provider)
    for _ in range(3 * ATTEMPTS_MAX):
        with pytest.raises(type(fault)):
            await sync.step()
    assert (await failed(mail_sync), (await mail_sync.account(account_id)).messages) == ([], known)
    provider.away.clear()
    await sync.step()
    assert (await failed(mail_sync), (await mail_sync.account(account_id)).messages) == ([], known + 30)


async def test_what_came_before_an_outage_is_kept_and_not_asked_for_again(mail_sync: MailSync) -> None:
    for number in range(100):
        await mail_sync.inject(f"Mail {number}")
    account_id = await mail_sync.connect()

    came: list[str] = []

    @dataclass(frozen=True, kw_only=True)
    class Breaking(Spoilt):
        broken: list[bool] = field(default_factory=list)

        async def get(self, message_id: str) -> RawMessage:
            if len(came) >= 60 and not self.broken:
                self.broken.append(True)
                self.away.append(Throttled("429."))
            message = await super().get(message_id)
            came.append(message_id)
            return message

    provider = Breaking(world=mail_sync.fake_mail, address=MIA)
    sync = mail_sync.sync_of(account_id, provider)
    with pytest.raises(Throttled):
        await sync.step()
    kept = len(came)
    assert (await mail_sync.account(account_id)).messages == kept
    provider.away.clear()
    came[:] = []
    await sync.step()
    assert len(came) == 100 - kept
    account = await mail_sync.account(account_id)
    assert (account.messages, account.progress_done, account.progress_total) == (100, 100, 100)
    assert await mail_sync.rows("select count(*) from events where json_extract(payload, '$.backfill')") == [(100,)]


async def test_a_message_on_the_ledger_is_asked_for_again_when_told_to_and_counted(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    await mail_sync.inject("bad")
    provider = spoilt(mail_sync, "fake-2")
    async with mail_sync.running(loop := mail_sync.loop_of(account_id, provider)):
        await trio.sleep(300)
        assert await failed(mail_sync) == ["fake-2"]
    again = mail_sync.loop_of(
        account_id, provider
    )  # as after a restart: nothing is remembered but the table of failures
    async with mail_sync.running(again):
        await again.retry_failures()
        assert await mail_sync.rows("select attempts from mail_ledger") == [(2,)]
        assert (await mail_sync.account(account_id)).state == "caught-up"
        provider.bad.clear()
        await again.retry_failures()
    assert (await failed(mail_sync), (await mail_sync.account(account_id)).messages) == ([], 2)
    assert loop is not again


async def test_a_message_on_the_ledger_is_asked_for_again_by_the_next_full_sync(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    await mail_sync.inject("bad")
    provider = spoilt(mail_sync, "fake-2")
    sync = mail_sync.sync_of(account_id, provider)
    for _ in range(ATTEMPTS_MAX - 1):
        with pytest.raises(Unreachable):
            await sync.step()
    await sync.step()
    assert await failed(mail_sync) == ["fake-2"]
    await mail_sync.fake_mail.expire_history(address=MIA)
    await mail_sync.sync_of(account_id, provider).step()  # it fails again, and stops nobody
    assert await failed(mail_sync) == ["fake-2"]
    provider.bad.clear()
    await mail_sync.fake_mail.expire_history(address=MIA)
    await mail_sync.sync_of(account_id, provider).step()
    assert (await failed(mail_sync), (await mail_sync.account(account_id)).messages) == ([], 2)


async def test_a_message_that_comes_after_all_is_not_held_guilty_of_the_past(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    provider = spoilt(mail_sync, "fake-2")
    sync = mail_sync.sync_of(account_id, provider)
    await mail_sync.inject("late")
    for _ in range(ATTEMPTS_MAX - 1):
        with pytest.raises(Unreachable):
            await sync.step()
    provider.bad.clear()
    await sync.step()
    assert (await failed(mail_sync), (await mail_sync.account(account_id)).messages) == ([], 2)
