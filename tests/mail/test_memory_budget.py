"""However large the mails of a page are, few bytes of them are in memory at a time. On virtual time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import pytest
import trio

from svc.fakes.mail.provider import FakeProvider
from svc.mail.providers.seam import MessageGone, RawMessage, Unreachable
from svc.mail.sync import fetch
from svc.mail.sync.memory_budget import FETCH_CONCURRENCY, MemoryBudget
from svc.nursery import give_back_memory, open_task_group
from tests.support.mailbox import MIA, MailSync, mail

KIB = 1024
MAILS = 24
SECONDS = 3
"""So long a message is on its way."""


@dataclass
class Gauge:
    """Bytes of raw messages to which there are still references."""

    now: int = 0
    peak: int = 0
    asking: int = 0
    asking_peak: int = 0
    asked: list[str] = field(default_factory=list)

    def add(self, size: int) -> None:
        self.now += size
        self.peak = max(self.peak, self.now)


class _Weighed(bytes):
    """Content that says when the last reference to it is gone."""

    gauge: Gauge

    def __del__(self) -> None:
        self.gauge.now -= len(self)


@dataclass(frozen=True, kw_only=True)
class Weighing(FakeProvider):
    gauge: Gauge
    gone: frozenset[str] = frozenset()
    bad: frozenset[str] = frozenset()

    async def get(self, message_id: str) -> RawMessage:
        gauge = self.gauge
        gauge.asked.append(message_id)
        gauge.asking += 1
        gauge.asking_peak = max(gauge.asking_peak, gauge.asking)
        await trio.sleep(SECONDS)
        gauge.asking -= 1
        if message_id in self.gone:
            raise MessageGone("Deleted.")
        if message_id in self.bad:
            raise Unreachable("500.")
        message = await super().get(message_id)
        content = _Weighed(message.raw)
        content.gauge = gauge
        gauge.add(len(content))
        return replace(message, raw=content)


async def swept(mail_sync: MailSync, *, mail_bytes: int, gone: str = "", bad: str = "") -> Gauge:
    """A mailbox of large mails, read by one step."""
    gauge = Gauge()
    for number in range(MAILS):
        await mail_sync.inject(raw=mail(f"Mail {number}", text=("x" * 70 + "\n") * (mail_bytes // 71)))
        await trio.sleep(1)
    account_id = await mail_sync.connect()
    provider = Weighing(
        world=mail_sync.fake_mail, address=MIA, gauge=gauge, gone=frozenset(gone.split()), bad=frozenset(bad.split())
    )
    sync = mail_sync.sync_of(account_id, provider)
    if bad:
        with pytest.raises(Unreachable):
            await sync.step()
    else:
        await sync.step()
    account = await mail_sync.account(account_id)
    assert account.messages == MAILS - len(gone.split()) - len(bad.split())
    return gauge


def each() -> list[str]:
    return sorted(f"fake-{number}" for number in range(1, MAILS + 1))


async def test_a_page_of_large_mails_never_holds_more_bytes_than_it_may(
    mail_sync: MailSync, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "DURABLE_TOGETHER_BYTES", 50 * KIB)
    mail_sync.new_budget = partial(MemoryBudget, size=128 * KIB, largest=32 * KIB)
    gauge = await swept(mail_sync, mail_bytes=25 * KIB)
    assert 64 * KIB < gauge.peak <= 128 * KIB
    assert gauge.now == 0
    assert sorted(gauge.asked) == each()


async def test_a_page_of_large_mails_is_one_page_in_one_order(mail_sync: MailSync) -> None:
    mail_sync.new_budget = partial(MemoryBudget, size=64 * KIB, largest=32 * KIB)
    await swept(mail_sync, mail_bytes=25 * KIB)
    rows = await mail_sync.rows("select subject from mail_messages order by sent_at desc")
    assert [subject for (subject,) in rows] == [f"Mail {number}" for number in range(MAILS - 1, -1, -1)]
    assert await mail_sync.rows("select progress_done, sweep_no from mail_accounts") == [(MAILS, 1)]


async def test_a_message_larger_than_all_the_room_passes_alone(mail_sync: MailSync) -> None:
    mail_sync.new_budget = partial(MemoryBudget, size=16 * KIB, largest=8 * KIB)
    gauge = await swept(mail_sync, mail_bytes=25 * KIB)
    assert gauge.asking_peak <= 2  # as many as might have been small
    assert sorted(gauge.asked) == each()


async def test_the_larger_one_is_alone_where_it_was_to_be_expected(mail_sync: MailSync) -> None:
    mail_sync.new_budget = partial(MemoryBudget, size=8 * KIB, largest=32 * KIB)
    gauge = await swept(mail_sync, mail_bytes=25 * KIB)
    assert gauge.asking_peak == 1
    assert gauge.peak < 26 * KIB
    assert sorted(gauge.asked) == each()


async def test_small_mails_come_side_by_side(mail_sync: MailSync) -> None:
    gauge = await swept(mail_sync, mail_bytes=100)
    assert gauge.asking_peak == FETCH_CONCURRENCY


async def test_what_does_not_come_leaves_its_room_to_others(mail_sync: MailSync) -> None:
    mail_sync.new_budget = partial(MemoryBudget, size=64 * KIB, largest=32 * KIB)
    gauge = await swept(mail_sync, mail_bytes=25 * KIB, gone="fake-20 fake-19 fake-18 fake-17 fake-16", bad="fake-3")
    assert gauge.peak <= 64 * KIB + 26 * KIB  # and a witness, which is let go at once
    assert gauge.now == 0


@pytest.mark.parametrize(("mail_bytes", "times"), [(25 * KIB, 1), (100, 0)])
async def test_the_memory_of_large_mails_is_given_back_once_they_are_here(
    mail_sync: MailSync, monkeypatch: pytest.MonkeyPatch, mail_bytes: int, times: int
) -> None:
    given_back: list[int] = []
    monkeypatch.setattr(fetch, "LARGE_BYTES", 200 * KIB)
    monkeypatch.setattr(fetch, "give_back_memory", lambda: given_back.append(1))
    await swept(mail_sync, mail_bytes=mail_bytes)
    assert len(given_back) == times


def test_giving_memory_back_costs_nothing_that_is_in_use() -> None:
    kept = [bytes([number]) * KIB for number in range(200)]
    give_back_memory()
    assert kept == [bytes([number]) * KIB for number in range(200)]


async def test_what_is_made_durable_leaves_the_room_to_others_only_once_it_is() -> None:
    budget = MemoryBudget(size=100, largest=40)
    assert await budget.reserve()
    budget.settle(90)
    assert not await budget.reserve(), "the batch ends there"
    size = budget.hand_over()
    taken = trio.Event()

    async def take() -> None:
        assert await budget.reserve()
        taken.set()

    async with open_task_group() as nursery:
        nursery.start_soon(take)
        await trio.sleep(60)
        assert not taken.is_set()
        budget.let_go(size)
        await taken.wait()
