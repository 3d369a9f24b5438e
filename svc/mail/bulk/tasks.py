"""The loop that works on bulk steps, one batch at a time, each step in turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import trio

from svc.errors import Refusal
from svc.log import Log
from svc.mail.bulk import actions
from svc.mail.sync.engine import MailEngine
from svc.nursery import Child, Wake
from svc.store import Store

LOOK_AGAIN_S: Final = 600.0
"""How often the loop looks for old rows to delete. A new step wakes it at once."""

NO_ROOM_S: Final = 60.0

RESTS: Final = 1.0
"""How long the loop sleeps after a batch, as a multiple of the batch's time, so that others can write."""


@dataclass(kw_only=True)
class BulkWorker:
    store: Store
    engine: MailEngine
    log: Log
    wake: Wake = field(default_factory=Wake)

    async def run(self, child: Child) -> None:
        child.started()
        while True:
            begun = trio.current_time()
            try:
                more = await self.store.write(actions.go_on)
            except Refusal as refusal:
                if refusal.code != "insufficient_storage":
                    raise
                self.log.warning("mail.bulk_disk_full")
                await trio.sleep(NO_ROOM_S)
                continue
            except Exception as error:  # a boundary: one thread that fails must not hold up other people's steps
                self.log.error("mail.bulk_failed", error)
                await self.store.write(actions.give_up)
                more = True
            if more:
                self.engine.wake_outboxes()
                await trio.sleep((trio.current_time() - begun) * RESTS)
            else:
                await self.wake.wait(at_most_s=LOOK_AGAIN_S)
