"""Sending while the machine sleeps and while its clock is wrong."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, VirtualClock
from svc.mail.sending.tasks import Delivery
from tests.mail.sending.mailer import Mailer, at
from tests.virtual_time import hours_pass


@pytest.mark.parametrize("late_ms", [HOUR_MS, 12 * HOUR_MS - MINUTE_MS])
async def test_what_came_due_while_the_machine_slept_goes_when_it_wakes(
    mailer: Mailer, wall: VirtualClock, late_ms: int
) -> None:
    answer = await mailer.send(sendAt=at(wall, HOUR_MS))
    wall.offset_ms += HOUR_MS + late_ms
    await trio.sleep(31)
    assert await mailer.state(answer["outgoingId"]) == "sent"
    assert len(mailer.accepted()) == 1


async def test_after_more_than_twelve_hours_it_waits_for_a_word(mailer: Mailer, wall: VirtualClock) -> None:
    scheduled = await mailer.send(sendAt=at(wall, HOUR_MS), subject="Scheduled")
    held = await mailer.send(subject="Held")
    wall.offset_ms += 14 * HOUR_MS
    await trio.sleep(31)
    for answer in (scheduled, held):
        assert (await mailer.outgoing(answer["outgoingId"]))["state"] == "overdue"
    assert mailer.accepted() == []
    await mailer.service.mutate("mail.retrySend", id=scheduled["outgoingId"])
    await mailer.service.mutate("mail.cancelSend", id=held["outgoingId"])
    await trio.sleep(5)
    assert [mail.subject for mail in mailer.accepted()] == ["Scheduled"]


@pytest.mark.parametrize(("late_ms", "state"), [(-1, "sent"), (0, "sent"), (1, "overdue"), (HOUR_MS, "overdue")])
async def test_twelve_hours_late_is_just_in_time(mailer: Mailer, wall: VirtualClock, late_ms: int, state: str) -> None:
    """To the millisecond: the tick that finds it due comes when the loop begins anew."""
    answer = await mailer.send(sendAt=at(wall, HOUR_MS))
    ((due_at,),) = await mailer.service.rows("select next_at from mail_outgoing")
    wall.offset_ms += int(str(due_at)) + 12 * HOUR_MS + late_ms - wall.now()
    await mailer.service.workspace.service(Delivery).tick()
    await trio.sleep(0.5)
    assert await mailer.state(answer["outgoingId"]) == state


async def test_what_seemed_late_while_the_clock_was_wrong_goes_back_to_its_schedule(
    mailer: Mailer, clock: MockClock, wall: VirtualClock
) -> None:
    scheduled = await mailer.send(sendAt=at(wall, HOUR_MS), subject="Scheduled")
    held = await mailer.send(subject="Held")
    past = await mailer.send(sendAt=at(wall, MINUTE_MS), subject="Past")
    wall.offset_ms += 10 * 365 * DAY_MS
    await trio.sleep(31)
    for answer in (scheduled, held, past):
        assert await mailer.state(answer["outgoingId"]) == "overdue"
    wall.offset_ms -= 10 * 365 * DAY_MS
    await trio.sleep(120)
    assert await mailer.state(scheduled["outgoingId"]) == "scheduled"
    assert sorted(mail.subject for mail in mailer.accepted()) == ["Held", "Past"]
    await hours_pass(clock, 1)
    assert await mailer.state(scheduled["outgoingId"]) == "sent"
    assert len(mailer.accepted()) == 3
    assert await mailer.problems() == []


async def test_a_clock_that_jumps_back_sends_nothing_twice_and_holds_nothing_for_hours(
    mailer: Mailer, wall: VirtualClock
) -> None:
    sent = await mailer.send(subject="Sent")
    await mailer.until(sent["outgoingId"], "sent")
    held = await mailer.send(subject="Held")
    wall.offset_ms -= 10 * HOUR_MS
    await trio.sleep(60)
    assert [mail.subject for mail in mailer.accepted()] == ["Sent", "Held"]
    assert await mailer.state(held["outgoingId"]) == "sent"


async def test_after_the_clock_jumped_back_a_held_mail_can_still_be_taken_back(
    mailer: Mailer, wall: VirtualClock
) -> None:
    held = await mailer.send()
    wall.offset_ms -= 10 * HOUR_MS
    with trio.fail_after(60):
        while (await mailer.outgoing(held["outgoingId"]))["nextAttemptAt"] > at(wall, HOUR_MS):  # noqa: ASYNC110  virtual time
            await trio.sleep(0.1)
    assert (await mailer.outgoing(held["outgoingId"]))["nextAttemptAt"] > at(wall, 9 * SECOND_MS)
