"""An account let go of while a mail leaves from it: the mail is sent at most once, and what is told of it is true."""

from __future__ import annotations

import pytest
import trio

from svc.clock import VirtualClock
from svc.mail.health import actions
from svc.mail.health.tasks import Eraser
from svc.mail.owners import ERASES
from tests.connections.kept_in_memory import KeptInMemory
from tests.mail.sending.stepped_sending import Outcome, Point, open_stepped
from tests.support.mailbox import MailSync

NO_SECRETS = KeptInMemory()
POINTS: tuple[Point, ...] = ("built", "leaving", "accepted", "answered")
OUTCOMES: tuple[Outcome, ...] = ("ok", "lost", "401")


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("point", POINTS)
async def test_a_mail_on_its_way_from_a_disconnected_account_ends_in_truth(
    mail_sync: MailSync, wall: VirtualClock, point: Point, outcome: Outcome
) -> None:
    async with open_stepped(mail_sync, wall) as stepped:
        await stepped.accept()

        async def let_go() -> None:
            await mail_sync.store.write(
                actions.disconnect, NO_SECRETS, mail_sync.principal, account_id=stepped.account_id, erase=False
            )

        stepped.script.outcomes[:] = [outcome]
        stepped.script.at[point] = let_go
        await stepped.delivery.tick()
        await stepped.settled()
        await trio.sleep(3_600)
        await stepped.delivery.tick()
        await stepped.settled()
        await stepped.check((point, outcome))
        assert (await stepped.row()).state not in {"scheduled", "held"}
        assert await mail_sync.problems() == []


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("point", POINTS)
async def test_an_erasure_waits_for_a_mail_on_its_way_and_leaves_nothing_of_it(
    mail_sync: MailSync, wall: VirtualClock, point: Point, outcome: Outcome
) -> None:
    async with open_stepped(mail_sync, wall) as stepped, trio.open_nursery() as nursery:
        await stepped.accept()
        outgoing_id = stepped.outgoing_id

        async def let_go() -> None:
            await mail_sync.store.write(
                actions.disconnect, NO_SECRETS, mail_sync.principal, account_id=stepped.account_id, erase=True
            )
            nursery.start_soon(
                Eraser(store=mail_sync.store, log=mail_sync.log, erases=ERASES[::-1]).erase, stepped.account_id
            )
            await trio.sleep(10)

        stepped.script.outcomes[:] = [outcome]
        stepped.script.at[point] = let_go
        await stepped.delivery.tick()
        await stepped.settled()
        if stepped.script.at:
            return  # it never came to that
        await trio.sleep(60)
        assert await mail_sync.rows("select id from mail_accounts") == []
        assert await mail_sync.rows("select id from mail_outgoing where id = :id", id=outgoing_id) == []
        assert await mail_sync.rows("select seq from events where type like 'mail-%'") == []
        assert stepped.sent() <= 1
        assert await mail_sync.problems() == []
