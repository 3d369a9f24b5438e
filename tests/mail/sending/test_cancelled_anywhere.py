"""A send cut off at each of its steps, as by a drain that runs out of time: the next process finds what is true."""

from __future__ import annotations

import pytest

from svc.clock import VirtualClock
from tests.cancel_everywhere import Interrupted, cancel_everywhere
from tests.mail.sending.stepped_sending import open_stepped
from tests.support.mailbox import MailSync

pytestmark = pytest.mark.thorough


async def test_a_send_may_be_cut_off_at_any_step(mail_sync: MailSync, wall: VirtualClock) -> None:
    async with open_stepped(mail_sync, wall) as stepped:

        async def attempt(run: Interrupted) -> None:
            await stepped.accept()
            await run(stepped.deliver)
            await stepped.restart()
            await stepped.check(run.step)
            await stepped.check_in_the_end(run.step)
            if (await stepped.row()).state != "sent":
                await stepped.do("retry")
                await stepped.attempt("ok")
            assert (await stepped.row()).state == "sent"
            assert stepped.sent() == 1

        assert await cancel_everywhere(attempt) > 10
