"""A drain while a mail is leaving: it may end in good time, else nobody knows; what has not begun does not begin."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import trio

from svc.clock import VirtualClock
from svc.nursery import Root, Subsystem, open_task_group
from tests.mail.sending.stage import Stage, open_stage
from tests.support.mailbox import Rig

DRAIN_S = 10.0


async def drained_while_leaving(stage: Stage, *, takes_s: float, look: Callable[[], None] = lambda: None) -> None:
    """A process that is drained while the provider takes ``takes_s`` for a mail."""
    await stage.kill()
    leaving = trio.Event()

    async def slow() -> None:
        leaving.set()
        await trio.sleep(takes_s)

    stage.script.at["leaving"] = slow
    root = Root(log=stage.rig.log, rng=random.Random(7))
    subsystem = Subsystem(name="mail-sending", run=stage.delivery.run, drain_s=DRAIN_S)
    async with open_task_group() as nursery:
        await nursery.start(root.run, [subsystem])
        await stage.delivery.tick()
        await leaving.wait()
        look()
        root.drain("over")


async def test_a_mail_in_flight_is_waited_for(rig: Rig, wall: VirtualClock) -> None:
    async with open_stage(rig, wall) as stage:
        await stage.accept()
        await drained_while_leaving(stage, takes_s=DRAIN_S / 2)
        assert (await stage.row()).state == "sent"
        await stage.start()
        await stage.check_in_the_end("waited for")


async def test_one_that_takes_longer_is_uncertain_to_the_next_process(rig: Rig, wall: VirtualClock) -> None:
    async with open_stage(rig, wall) as stage:
        await stage.accept()
        began_s = trio.current_time()
        await drained_while_leaving(stage, takes_s=600)
        assert trio.current_time() - began_s == pytest.approx(DRAIN_S, abs=1)
        await stage.start()
        assert (await stage.row()).state == "uncertain"
        await stage.check_in_the_end("cut off")


async def test_what_is_due_behind_it_waits_for_the_next_process(rig: Rig, wall: VirtualClock) -> None:
    async with open_stage(rig, wall) as stage:
        await stage.accept()
        first = stage.outgoing_id
        await stage.accept()
        await drained_while_leaving(stage, takes_s=1)
        states: dict[str, str] = dict(await rig.rows("select id, state from mail_outgoing"))
        assert states == {first: "sent", stage.outgoing_id: "scheduled"}
        await stage.start()
        await stage.attempt("ok")
        await stage.check_in_the_end("both")
