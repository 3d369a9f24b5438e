"""Delivery itself: what it remembers while it works, how it reports trouble, and what it leaves for later."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from svc.clock import VirtualClock
from svc.mail.sending import queries
from svc.mail.sending.building import Builder, CannotBuild
from svc.mail.sync.engine import MailEngine
from svc.store import ReadTx
from tests.mail.sending.stepped_sending import SteppedSending, open_stepped
from tests.recorded_log import RecordedLog
from tests.support.mailbox import MailSync


@pytest.fixture
async def stepped(mail_sync: MailSync, wall: VirtualClock) -> AsyncIterator[SteppedSending]:
    async with open_stepped(mail_sync, wall) as opened:
        yield opened


def errors(log: RecordedLog) -> list[str]:
    return log.events("error")


@dataclass(frozen=True, kw_only=True)
class Unable(Builder):
    """Nothing can be made of a mail."""

    async def build(self, *given: Any, **more: Any) -> bytes:
        raise CannotBuild("It can't be put together.") from ValueError("the cause")


async def test_nothing_is_remembered_of_a_mail_that_is_done_with(stepped: SteppedSending) -> None:
    await stepped.accept()
    delivery = stepped.delivery
    delivery.untold[stepped.outgoing_id] = "There was no room."
    seen: list[set[str]] = []

    async def look() -> None:
        seen.append(set(delivery._in_flight))

    stepped.script.at["leaving"] = look
    await delivery.tick()
    await stepped.settled()
    assert (await stepped.row()).state == "sent"
    assert seen == [{stepped.outgoing_id}]
    assert (delivery.untold, delivery._in_flight, delivery._serving) == ({}, set(), {})


async def test_what_is_not_running_begins_nothing(stepped: SteppedSending) -> None:
    await stepped.accept()
    fresh = stepped._new_delivery()
    assert await fresh.tick() is None
    assert ((await stepped.row()).state, fresh._serving) == ("scheduled", {})


async def test_the_next_tick_is_asked_for_when_there_is_more_to_do(stepped: SteppedSending, wall: VirtualClock) -> None:
    await stepped.accept()
    later = wall.now() + 60_000
    await stepped.mail_sync.store.write(
        lambda tx: tx.run("update mail_outgoing set next_at = :later, send_at = :later", later=later)
    )
    assert await stepped.delivery.tick() == later


async def test_a_mail_that_nothing_can_be_made_of_fails_and_its_cause_stands_in_the_log(
    stepped: SteppedSending, log: RecordedLog
) -> None:
    await stepped.accept()
    stepped.delivery.builder = Unable(**{name: cast(Any, None) for name in Builder.__dataclass_fields__})
    await stepped.delivery.tick()
    await stepped.settled()
    row = await stepped.row()
    assert (row.state, row.last_error, row.attempts) == ("failed", "It can't be put together.", 0)
    assert errors(log) == ["mail.cannot_build"]
    assert "the cause" in log.text


async def test_an_accounts_trouble_is_logged_and_the_next_tick_tries_again(
    stepped: SteppedSending, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stepped.accept()

    def broken(tx: ReadTx, account_id: str) -> None:
        raise ValueError("a fault in a statement")

    with monkeypatch.context() as patched:
        patched.setattr(queries, "due_of", broken)
        await stepped.delivery.tick()
        await stepped.settled()
    assert errors(log) == ["mail.sending_failed"]
    assert (await stepped.row()).state == "scheduled"
    await stepped.attempt("ok")
    assert (await stepped.row()).state == "sent"


async def test_without_its_loop_an_account_waits_without_a_word(stepped: SteppedSending, log: RecordedLog) -> None:
    """It is starting anew: a later tick finds it."""

    class NoLoop:
        def loop(self, account_id: str) -> None:
            return None

    await stepped.accept()
    row = await stepped.row()
    engine = stepped.delivery.engine
    stepped.delivery.engine = cast(MailEngine, NoLoop())
    await stepped.delivery.tick()
    await stepped.settled()
    assert not await stepped.delivery.was_sent(row, within_s=1)
    assert ((await stepped.row()).state, errors(log)) == ("scheduled", [])
    stepped.delivery.engine = engine
    await stepped.attempt("ok")
    assert (await stepped.row()).state == "sent"


async def test_whether_a_mail_was_sent_that_is_forgotten_by_now_is_not_known(stepped: SteppedSending) -> None:
    await stepped.accept()
    row = await stepped.row()
    assert not await stepped.delivery.was_sent(row, within_s=1)
    await stepped.mail_sync.store.write(lambda tx: tx.run("delete from mail_outgoing"))
    assert not await stepped.delivery.was_sent(row, within_s=1)
