"""A hint from the provider starts a poll at once; whatever happens to the hints, the polls go on. On virtual time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import trio

from svc.mail.providers.seam import GrantLost, HistoryPage, Unreachable
from svc.mail.sync import listening, tasks
from tests.mail.test_tasks import Counted
from tests.support.mailbox import MIA, MailSync


@dataclass(frozen=True, kw_only=True)
class Telling(Counted):
    """Tells that something happened at these times after it was listened to; then its line breaks."""

    hints_s: tuple[float, ...] = ()
    breaks_after_s: float = 1_000_000
    listened: list[float] = field(default_factory=list)

    async def listen(self, heard: Callable[[], None]) -> None:
        self.listened.append(trio.current_time())
        now_s = 0.0
        for hint_s in self.hints_s:
            await trio.sleep(hint_s - now_s)
            now_s = hint_s
            heard()
        await trio.sleep(self.breaks_after_s)
        raise Unreachable("The line broke.")


async def polls_of(mail_sync: MailSync, provider: Telling, *, for_s: float) -> list[float]:
    """When it was asked, in seconds since it was asked first."""
    account_id = await mail_sync.synced("one")
    async with mail_sync.running(mail_sync.loop_of(account_id, provider)):
        await trio.sleep(for_s)
    return [round(at - provider.polls[0], 3) for at in provider.polls]


async def test_a_hint_begins_a_poll_at_once_and_the_others_are_as_far_apart_as_ever(mail_sync: MailSync) -> None:
    provider = Telling(world=mail_sync.fake_mail, address=MIA, hints_s=(10, 13))
    assert await polls_of(mail_sync, provider, for_s=75) == [0, 10, 13, 43, 73]


async def test_many_hints_are_one_poll_and_another_a_moment_later(mail_sync: MailSync) -> None:
    gap_s = tasks.HINT_GAP_S
    hints_s = tuple(10 + number / 100 for number in range(100))
    provider = Telling(world=mail_sync.fake_mail, address=MIA, hints_s=hints_s)
    assert await polls_of(mail_sync, provider, for_s=41) == [0, 10, 10 + gap_s]


async def test_a_hint_while_a_poll_is_under_way_is_the_next_ones(mail_sync: MailSync) -> None:
    class Slow(Telling):
        async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
            page = await super().history(since=since, page_token=page_token)
            await trio.sleep(5)
            return page

    provider = Slow(world=mail_sync.fake_mail, address=MIA, hints_s=(31,))
    assert await polls_of(mail_sync, provider, for_s=50) == [0, 35, 42]


async def test_nobody_listens_and_no_hint_counts_while_the_account_is_in_trouble(mail_sync: MailSync) -> None:
    provider = Telling(world=mail_sync.fake_mail, address=MIA, hints_s=(31,), faults=[])
    account_id = await mail_sync.synced("one")
    async with mail_sync.running(mail_sync.loop_of(account_id, provider)):
        await trio.sleep(20)
        provider.faults.append(GrantLost("Connect again.", trouble="revoked"))
        await trio.sleep(10_000)
    assert len(provider.polls) == 2
    lost = Telling(world=mail_sync.fake_mail, address=MIA, faults=[GrantLost("Connect again.", trouble="revoked")])
    async with mail_sync.running(mail_sync.loop_of(account_id, lost)):
        await trio.sleep(10_000)
    assert lost.listened == []


@pytest.mark.thorough
async def test_a_line_that_breaks_is_opened_anew_after_growing_pauses_and_nobody_is_told(mail_sync: MailSync) -> None:
    provider = Telling(world=mail_sync.fake_mail, address=MIA, breaks_after_s=1)
    account_id = await mail_sync.synced("one")
    async with mail_sync.running(mail_sync.loop_of(account_id, provider)):
        await trio.sleep(21_600)
        assert (await mail_sync.account(account_id)).state == "caught-up"
    least = 21_600 / (listening.LONGEST_PAUSE_S + 1)
    assert least <= len(provider.listened) < 10 * least
    assert len(provider.polls) == 721


@pytest.mark.thorough
async def test_who_tells_nothing_is_not_asked_again(mail_sync: MailSync) -> None:
    class Silent(Telling):
        async def listen(self, heard: Callable[[], None]) -> None:
            self.listened.append(trio.current_time())

    provider = Silent(world=mail_sync.fake_mail, address=MIA)
    await polls_of(mail_sync, provider, for_s=10 * listening.LONGEST_PAUSE_S)
    assert len(provider.listened) == 1
