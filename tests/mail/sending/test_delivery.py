"""Delivery's own housekeeping: what it remembers while it works, what it says of trouble, what it leaves for later."""

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
from tests.mail.sending.stage import Stage, open_stage
from tests.recorded_log import RecordedLog
from tests.support.mailbox import Rig


@pytest.fixture
async def stage(rig: Rig, wall: VirtualClock) -> AsyncIterator[Stage]:
    async with open_stage(rig, wall) as opened:
        yield opened


def errors(log: RecordedLog) -> list[str]:
    return log.events("error")


@dataclass(frozen=True, kw_only=True)
class Unable(Builder):
    """Nothing can be made of a mail."""

    async def build(self, *given: Any, **more: Any) -> bytes:
        raise CannotBuild("It can't be put together.") from ValueError("the cause")


async def test_nothing_is_remembered_of_a_mail_that_is_done_with(stage: Stage) -> None:
    await stage.accept()
    delivery = stage.delivery
    delivery.untold[stage.outgoing_id] = "There was no room."
    seen: list[set[str]] = []

    async def look() -> None:
        seen.append(set(delivery._in_flight))

    stage.script.at["leaving"] = look
    await delivery.tick()
    await stage.settled()
    assert (await stage.row()).state == "sent"
    assert seen == [{stage.outgoing_id}]
    assert (delivery.untold, delivery._in_flight, delivery._serving) == ({}, set(), {})


async def test_what_is_not_running_begins_nothing(stage: Stage) -> None:
    await stage.accept()
    fresh = stage._new_delivery()
    assert await fresh.tick() is None
    assert ((await stage.row()).state, fresh._serving) == ("scheduled", {})


async def test_the_next_tick_is_asked_for_when_there_is_more_to_do(stage: Stage, wall: VirtualClock) -> None:
    await stage.accept()
    later = wall.now() + 60_000
    await stage.rig.store.write(
        lambda tx: tx.run("update mail_outgoing set next_at = :later, send_at = :later", later=later)
    )
    assert await stage.delivery.tick() == later


async def test_a_mail_that_nothing_can_be_made_of_fails_and_its_cause_stands_in_the_log(
    stage: Stage, log: RecordedLog
) -> None:
    await stage.accept()
    stage.delivery.builder = Unable(**{name: cast(Any, None) for name in Builder.__dataclass_fields__})
    await stage.delivery.tick()
    await stage.settled()
    row = await stage.row()
    assert (row.state, row.last_error, row.attempts) == ("failed", "It can't be put together.", 0)
    assert errors(log) == ["mail.cannot_build"]
    assert "the cause" in log.text


async def test_an_accounts_trouble_is_logged_and_the_next_tick_tries_again(
    stage: Stage, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.accept()

    def broken(tx: ReadTx, account_id: str) -> None:
        raise ValueError("a fault in a statement")

    with monkeypatch.context() as patched:
        patched.setattr(queries, "due_of", broken)
        await stage.delivery.tick()
        await stage.settled()
    assert errors(log) == ["mail.sending_failed"]
    assert (await stage.row()).state == "scheduled"
    await stage.attempt("ok")
    assert (await stage.row()).state == "sent"


async def test_without_its_loop_an_account_waits_without_a_word(stage: Stage, log: RecordedLog) -> None:
    """It is starting anew: a later tick finds it."""

    class NoLoop:
        def loop(self, account_id: str) -> None:
            return None

    await stage.accept()
    row = await stage.row()
    engine = stage.delivery.engine
    stage.delivery.engine = cast(MailEngine, NoLoop())
    await stage.delivery.tick()
    await stage.settled()
    assert not await stage.delivery.was_sent(row, within_s=1)
    assert ((await stage.row()).state, errors(log)) == ("scheduled", [])
    stage.delivery.engine = engine
    await stage.attempt("ok")
    assert (await stage.row()).state == "sent"


async def test_whether_a_mail_was_sent_that_is_forgotten_by_now_is_not_known(stage: Stage) -> None:
    await stage.accept()
    row = await stage.row()
    assert not await stage.delivery.was_sent(row, within_s=1)
    await stage.rig.store.write(lambda tx: tx.run("delete from mail_outgoing"))
    assert not await stage.delivery.was_sent(row, within_s=1)
