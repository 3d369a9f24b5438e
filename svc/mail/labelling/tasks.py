"""The job that ends snoozes: it looks by the wall clock which are due, and brings each thread back once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from svc.clock import Millis
from svc.mail.labelling import actions, queries
from svc.mail.sync.engine import MailEngine
from svc.store import Store

SNOOZE_JOB: Final = "mail-snooze"


@dataclass(frozen=True, kw_only=True)
class Waker:
    store: Store
    engine: MailEngine

    async def run(self) -> Millis | None:
        """End the snoozes that are due. Returns when the next one ends. One transaction brings a thread back and
        deletes its snooze, so it comes back only once, even where the clock is changed."""
        if not await self.store.read_small(queries.due_snoozes, limit=1):
            return await self.store.read_small(queries.next_snooze_at)
        next_at = await self.store.write(actions.wake)
        self.engine.wake_outboxes()
        return next_at
