"""The job that ends snoozes: it asks the wall what is due, and brings it back once."""

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
        """Whatever the clock did meanwhile: a snooze that is due ends in the transaction that forgets it."""
        if not await self.store.read_small(queries.due_snoozes, limit=1):
            return await self.store.read_small(queries.next_snooze_at)
        next_at = await self.store.write(actions.wake)
        self.engine.wake_outboxes()
        return next_at
