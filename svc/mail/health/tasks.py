"""The eraser: deletes the accounts that are marked for erasing, batch by batch. What a stop interrupts goes on after
the next boot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import trio

from svc.erase import Erase
from svc.log import Log
from svc.mail.health import queries
from svc.nursery import Child, Wake
from svc.store import Store

NOT_YET_S: Final = 1.0
"""The pause before the next look at a mail that is still being sent. Sending has a deadline of its own."""


@dataclass(kw_only=True)
class Eraser:
    """``erases``: the functions of the owners of tables, in the order in which they are called."""

    store: Store
    log: Log
    erases: Sequence[Erase]
    _wake: Wake = field(default_factory=Wake)

    def look(self) -> None:
        """Wake the eraser, because an account is to be erased."""
        self._wake.call()

    async def run(self, child: Child) -> None:
        child.started()
        while True:
            for account_id in await self.store.read(queries.erasing):
                await self.erase(account_id)
            await self._wake.wait()

    async def erase(self, account_id: str) -> None:
        """Erase one account. It may be cancelled anywhere and begun again. Other writes can run between its batches."""
        for erase in self.erases:
            while (left := await self.store.write(erase, account_id=account_id)) != "nothing":
                if left == "not-yet":
                    await trio.sleep(NOT_YET_S)
        self.log.info("mail.account_erased", account=account_id)
