"""A drain while a mail is leaving: it may end in good time, else nobody knows; what has not begun does not begin."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import trio

from svc.clock import VirtualClock
from svc.nursery import Root, Subsystem, open_task_group
from tests.mail.sending.stepped_sending import SteppedSending, open_stepped
from tests.support.mailbox import MailSync

DRAIN_S = 10.0


async def drained_while_leaving(
    stepped: SteppedSending, *, takes_s: float, look: Callable[[], None] = lambda: None
) -> None:
    """A process that is drained while the provider takes ``takes_s`` for a mail."""
    await stepped.kill()
    leaving = trio.Event()

    async def slow() -> None:
        leaving.set()
        await trio.sleep(takes_s)

    stepped.script.at["leaving"] = slow
    root = Root(log=stepped.mail_sync.log, rng=random.Random(7))
    subsystem = Subsystem(name="mail-sending", run=stepped.delivery.run, drain_s=DRAIN_S)
    async with open_task_group() as nursery:
        await nursery.start(root.run, [subsystem])
        await stepped.delivery.tick()
        await leaving.wait()
        look()
        root.drain("over")


async def test_a_mail_in_flight_is_waited_for(mail_sync: MailSync, wall: VirtualClock) -> None:
    async with open_stepped(mail_sync, wall) as stepped:
        await stepped.accept()
        await drained_while_leaving(stepped, takes_s=DRAIN_S / 2)
        assert (await stepped.row()).state == "sent"
        await stepped.start()
        await stepped.check_in_the_end("waited for")


async def test_one_that_takes_longer_is_uncertain_to_the_next_process(mail_sync: MailSync, wall: VirtualClock) -> None:
    async with open_stepped(mail_sync, wall) as stepped:
        await stepped.accept()
        began_s = trio.current_time()
        await drained_while_leaving(stepped, takes_s=600)
        assert trio.current_time() - began_s == pytest.approx(DRAIN_S, abs=1)
        await stepped.start()
        assert (await stepped.row()).state == "uncertain"
        await stepped.check_in_the_end("cut off")


async def test_what_is_due_behind_it_waits_for_the_next_process(mail_sync: MailSync, wall: VirtualClock) -> None:
    async with open_stepped(mail_sync, wall) as stepped:
        await stepped.accept()
        first = stepped.outgoing_id
        await stepped.accept()
        await drained_while_leaving(stepped, takes_s=1)
        states: dict[str, str] = dict(await mail_sync.rows("select id, state from mail_outgoing"))
        assert states == {first: "sent", stepped.outgoing_id: "scheduled"}
        await stepped.start()
        await stepped.attempt("ok")
        await stepped.check_in_the_end("both")
