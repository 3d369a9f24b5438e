"""An account let go of while a mail leaves from it: the mail is sent at most once, and what is told of it is true."""

from __future__ import annotations

import pytest
import trio

from svc.clock import VirtualClock
from svc.mail.health import actions
from svc.mail.health.tasks import Eraser
from svc.mail.owners import ERASES
from tests.connections.kept_in_memory import KeptInMemory
from tests.mail.sending.stage import Outcome, Point, open_stage
from tests.support.mailbox import Rig

NO_SECRETS = KeptInMemory()
POINTS: tuple[Point, ...] = ("built", "leaving", "accepted", "answered")
OUTCOMES: tuple[Outcome, ...] = ("ok", "lost", "401")


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("point", POINTS)
async def test_a_mail_on_its_way_from_a_disconnected_account_ends_in_truth(
    rig: Rig, wall: VirtualClock, point: Point, outcome: Outcome
) -> None:
    async with open_stage(rig, wall) as stage:
        await stage.accept()

        async def let_go() -> None:
            await rig.store.write(
                actions.disconnect, NO_SECRETS, rig.principal, account_id=stage.account_id, erase=False
            )

        stage.script.outcomes[:] = [outcome]
        stage.script.at[point] = let_go
        await stage.delivery.tick()
        await stage.settled()
        await trio.sleep(3_600)
        await stage.delivery.tick()
        await stage.settled()
        await stage.check((point, outcome))
        assert (await stage.row()).state not in {"scheduled", "held"}
        assert await rig.problems() == []


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("point", POINTS)
async def test_an_erasure_waits_for_a_mail_on_its_way_and_leaves_nothing_of_it(
    rig: Rig, wall: VirtualClock, point: Point, outcome: Outcome
) -> None:
    async with open_stage(rig, wall) as stage, trio.open_nursery() as nursery:
        await stage.accept()
        outgoing_id = stage.outgoing_id

        async def let_go() -> None:
            await rig.store.write(
                actions.disconnect, NO_SECRETS, rig.principal, account_id=stage.account_id, erase=True
            )
            nursery.start_soon(Eraser(store=rig.store, log=rig.log, erases=ERASES[::-1]).erase, stage.account_id)
            await trio.sleep(10)

        stage.script.outcomes[:] = [outcome]
        stage.script.at[point] = let_go
        await stage.delivery.tick()
        await stage.settled()
        if stage.script.at:
            return  # it never came to that
        await trio.sleep(60)
        assert await rig.rows("select id from mail_accounts") == []
        assert await rig.rows("select id from mail_outgoing where id = :id", id=outgoing_id) == []
        assert await rig.rows("select seq from events where type like 'mail-%'") == []
        assert stage.sent() <= 1
        assert await rig.problems() == []
