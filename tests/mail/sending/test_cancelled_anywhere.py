"""A send cut off at each of its steps, as by a drain that runs out of time: the next process finds what is true."""

from __future__ import annotations

import pytest

from svc.clock import VirtualClock
from tests.cancel_everywhere import Interrupted, cancel_everywhere
from tests.mail.sending.stage import open_stage
from tests.support.mailbox import Rig

pytestmark = pytest.mark.thorough


async def test_a_send_may_be_cut_off_at_any_step(rig: Rig, wall: VirtualClock) -> None:
    async with open_stage(rig, wall) as stage:

        async def attempt(run: Interrupted) -> None:
            await stage.accept()
            await run(stage.deliver)
            await stage.restart()
            await stage.check(run.step)
            await stage.check_in_the_end(run.step)
            if (await stage.row()).state != "sent":
                await stage.do("retry")
                await stage.attempt("ok")
            assert (await stage.row()).state == "sent"
            assert stage.sent() == 1

        assert await cancel_everywhere(attempt) > 10
