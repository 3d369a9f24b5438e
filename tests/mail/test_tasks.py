"""The loop of an account on virtual time: when it polls, waits and stops, and what the user sees."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import msgspec
import pytest
import trio

from svc.fakes.mail.provider import FakeProvider
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts import wire as account_wire
from svc.mail.accounts.wire import AccountOut
from svc.mail.providers.seam import GrantLost, HistoryPage, Throttled, Unreachable
from svc.mail.sync import tasks
from svc.nursery import Subsystem
from tests.recorded_log import RecordedLog
from tests.support.mailbox import MIA, MailSync

NOA = "noa@example.org"
ACCOUNTS = 200


@dataclass(frozen=True, kw_only=True)
class Counted(FakeProvider):
    """Notes when its history was asked for, and raises what ``faults`` holds, one a call."""

    polls: list[float] = field(default_factory=list)
    faults: list[Exception] = field(default_factory=list)

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        self.polls.append(trio.current_time())
        if self.faults:
            raise self.faults.pop(0)
        return await super().history(since=since, page_token=page_token)

    @property
    def pauses(self) -> list[float]:
        return [later - earlier for earlier, later in pairwise(self.polls)]


def counted(mail_sync: MailSync, *faults: Exception, address: str = MIA) -> Counted:
    return Counted(world=mail_sync.fake_mail, address=address, faults=list(faults))


async def shown(mail_sync: MailSync, account_id: str) -> AccountOut:
    """The account as ``mail.accounts`` tells it."""
    account = await mail_sync.account(account_id)
    return await mail_sync.store.read(account_wire.account_summary, account)


@pytest.mark.thorough
async def test_a_day_of_polls_is_2880_polls(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    provider = counted(mail_sync)
    async with mail_sync.running(mail_sync.loop_of(account_id, provider)):
        await trio.sleep(86_400 - 1)
        await mail_sync.inject("late")
        await trio.sleep(tasks.POLL_INTERVAL_S)
        assert (await mail_sync.account(account_id)).messages == 2
    assert len(provider.polls) == 2_880 + 1
    assert set(provider.pauses) == {tasks.POLL_INTERVAL_S}


async def test_a_slow_provider_is_asked_again_only_after_it_answered(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    under_way = most = 0

    class Slow(Counted):
        async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await trio.sleep(100)
            under_way -= 1
            return await super().history(since=since, page_token=page_token)

    loop = mail_sync.loop_of(account_id, Slow(world=mail_sync.fake_mail, address=MIA))
    async with mail_sync.running(loop), trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(loop.sync_now)
    assert most == 1


async def test_who_asks_during_a_step_gets_the_next_one_at_once(mail_sync: MailSync) -> None:
    """The step that is under way may have been past what they wait for."""
    account_id = await mail_sync.synced("one")

    class Slow(Counted):
        async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
            await trio.sleep(10)
            return await super().history(since=since, page_token=page_token)

    provider = Slow(world=mail_sync.fake_mail, address=MIA)
    loop = mail_sync.loop_of(account_id, provider)
    async with mail_sync.running(loop):
        await trio.sleep(5)
        asked_at = trio.current_time()
        await loop.retry_failures()
        assert trio.current_time() - asked_at == pytest.approx(15)
    assert len(provider.polls) == 2


@pytest.mark.thorough
async def test_a_failing_provider_is_asked_less_and_less_until_it_is_back(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    provider = counted(mail_sync, *(Unreachable("The provider can't be reached.") for _ in range(40)))
    async with mail_sync.running(mail_sync.loop_of(account_id, provider)):
        await trio.sleep(1)
        during = await shown(mail_sync, account_id)
        await trio.sleep(40 * tasks.LONGEST_PAUSE_S)
        after = await shown(mail_sync, account_id)
    assert (during.state, during.problem) == ("waiting", "The provider can't be reached.")
    assert (after.state, after.problem) == ("caught-up", None)
    waits = provider.pauses[:40]
    assert waits[0] <= tasks.FIRST_PAUSE_S
    assert max(waits) <= tasks.LONGEST_PAUSE_S
    assert sum(waits[:8]) < sum(waits[8:16]) < 8 * tasks.LONGEST_PAUSE_S
    assert set(map(round, provider.pauses[40:])) == {round(tasks.POLL_INTERVAL_S)}


async def test_the_providers_own_pause_is_respected(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    provider = counted(mail_sync, Throttled("The provider asks for a pause.", retry_after_s=1_234.0))
    async with mail_sync.running(mail_sync.loop_of(account_id, provider)):
        await trio.sleep(1_300)
        assert provider.pauses[0] >= 1_234
        assert (await shown(mail_sync, account_id)).state == "caught-up"


async def test_a_lost_grant_stops_the_asking_and_touches_nobody_else(mail_sync: MailSync) -> None:
    await mail_sync.inject("hers", address=NOA)
    mia, noa = await mail_sync.synced("his"), await mail_sync.connect(NOA)
    lost = counted(mail_sync, GrantLost("Access was revoked. Connect the account again."))
    other = counted(mail_sync, address=NOA)
    async with mail_sync.running(mail_sync.loop_of(mia, lost), mail_sync.loop_of(noa, other, address=NOA)):
        await trio.sleep(3_600)
        account = await shown(mail_sync, mia)
        assert (account.state, account.problem) == ("reconnect", "Access was revoked. Connect the account again.")
        assert len(lost.polls) == 1
        assert (await shown(mail_sync, noa)).state == "caught-up"
        assert len(other.polls) == 121


async def test_an_account_asked_to_sync_after_its_grant_came_back_goes_on_polling(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    provider = counted(mail_sync, GrantLost("Access was revoked."))
    loop = mail_sync.loop_of(account_id, provider)
    async with mail_sync.running(loop):
        await trio.sleep(3_600)
        await mail_sync.inject("two")
        await loop.sync_now()
        account = await shown(mail_sync, account_id)
        assert (account.state, account.problem, account.messages) == ("caught-up", None, 2)
        await trio.sleep(305)
        assert len(provider.polls) == 2 + 10


async def test_only_a_change_of_state_is_told(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    faults = [Unreachable("No network.")] * 5 + [Unreachable("No name server.")] * 5
    before = mail_sync.store.outbox.head()
    async with mail_sync.running(mail_sync.loop_of(account_id, counted(mail_sync, *faults))):
        await trio.sleep(12 * tasks.LONGEST_PAUSE_S)
    told = [msgspec.json.decode(row.payload)["account"] for row in await mail_sync.news(after=before)]
    assert [(account["state"], account["problem"]) for account in told] == [
        ("waiting", "No network."),
        ("waiting", "No name server."),
        ("caught-up", None),
    ]


@pytest.mark.thorough
async def test_a_sweep_that_fails_in_the_middle_shows_waiting_and_then_its_progress(mail_sync: MailSync) -> None:
    for number in range(130):
        await mail_sync.inject(f"Mail {number}")
    account_id = await mail_sync.connect()
    mail_sync.fake_mail.fault(address=MIA, operation="get", fault=500, times=6)
    before = mail_sync.store.outbox.head()
    async with mail_sync.running(mail_sync.loop_of(account_id)):
        await trio.sleep(60)
    told = [
        msgspec.json.decode(row.payload)["account"]
        for row in await mail_sync.news(after=before)
        if row.topic == "accounts"
    ]
    assert [account["state"] for account in told] == [
        "backfilling",
        "waiting",
        "backfilling",
        "backfilling",
        "backfilling",
        "caught-up",
    ]
    assert [account["progress"] and account["progress"]["done"] for account in told] == [0, 0, 0, 100, 130, None]
    assert (await mail_sync.account(account_id)).messages == 130


@pytest.mark.parametrize("error", [RuntimeError("a bug"), KeyError("another")])
async def test_a_bug_in_one_loop_is_logged_restarted_and_nobody_elses(
    mail_sync: MailSync, log: RecordedLog, error: Exception
) -> None:
    await mail_sync.inject("hers", address=NOA)
    mia, noa = await mail_sync.synced("his"), await mail_sync.connect(NOA)
    other = counted(mail_sync, address=NOA)
    loops = mail_sync.loop_of(mia, counted(mail_sync, error)), mail_sync.loop_of(noa, other, address=NOA)
    async with mail_sync.running(*loops) as root:
        await trio.sleep(600)
        assert root.states()[f"mail:{mia}"].restarts == 1
        assert root.states()[f"mail:{noa}"].restarts == 0
    assert log.events("error") == ["subsystem.crashed"]
    assert (await mail_sync.account(mia)).state == "caught-up"
    assert set(other.pauses) == {tasks.POLL_INTERVAL_S}


async def test_an_account_is_added_and_removed_while_the_others_run(mail_sync: MailSync) -> None:
    await mail_sync.inject("hers", address=NOA)
    mia, noa = await mail_sync.synced("his"), await mail_sync.connect(NOA)
    first, second = counted(mail_sync), counted(mail_sync, address=NOA)
    loop = mail_sync.loop_of(noa, second, address=NOA)
    async with mail_sync.running(mail_sync.loop_of(mia, first)) as root:
        await trio.sleep(95)
        await root.add(Subsystem(name="mail:noa", run=loop.run, independent=True))
        await trio.sleep(95)
        await root.remove("mail:noa")
        await trio.sleep(95)
    assert len(second.polls) == 4
    assert len(first.polls) == 10
    assert (await mail_sync.account(noa)).messages == 1


@pytest.mark.thorough
async def test_two_hundred_accounts_run_beside_each_other_and_drain_in_no_time(
    mail_sync: MailSync, log: RecordedLog
) -> None:
    loops, providers = [], []
    for number in range(ACCOUNTS):
        address = f"person-{number}@example.org"
        await mail_sync.inject(f"Hello {number}", address=address)
        provider = counted(mail_sync, address=address)
        providers.append(provider)
        loops.append(mail_sync.loop_of(await mail_sync.connect(address), provider, address=address))
    async with mail_sync.running(*loops) as root:
        await trio.sleep(95)
        assert {state.phase for state in root.states().values()} == {"running"}
        assert len(root.states()) == ACCOUNTS
        began = trio.current_time()
    assert trio.current_time() == began
    assert {len(provider.polls) for provider in providers} == {4}
    accounts = await mail_sync.store.read(account_queries.accounts, mail_sync.principal)
    assert [(account.state, account.messages) for account in accounts] == [("caught-up", 1)] * ACCOUNTS
    assert log.events("error", "warning") == []
    assert await mail_sync.problems() == []
