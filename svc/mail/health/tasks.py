"""The eraser: works off the accounts that are to be gone, one batch after the other, now or after the next boot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import trio

from svc.log import Log
from svc.mail.accounts import letting_go
from svc.mail.health import erasing, queries
from svc.mail.sending import erasing as sending
from svc.mail.sync import erasing as sync
from svc.nursery import Child, Wake
from svc.store import Store

ON_ITS_WAY_S: Final = 1.0
"""Between two looks whether a mail that was on its way has arrived: sending has a deadline of its own."""


@dataclass(kw_only=True)
class Eraser:
    store: Store
    log: Log
    _wake: Wake = field(default_factory=Wake)

    def look(self) -> None:
        """An account is to be erased."""
        self._wake.call()

    async def run(self, child: Child) -> None:
        child.started()
        while True:
            for account_id in await self.store.read(queries.erasing):
                await self.erase(account_id)
            await self._wake.wait()

    async def erase(self, account_id: str) -> None:
        """All of one account; may be cancelled anywhere and begun again. Others' writes go in between its batches."""
        while await self.store.write(sync.erase, account_id=account_id):
            pass
        while await self.store.write(sending.erase, account_id=account_id):
            if await self.store.read(queries.only_on_their_way, account_id=account_id):
                await trio.sleep(ON_ITS_WAY_S)
        for erase_records in (erasing.erase_events, erasing.erase_news):
            after: int | None = 0
            while after is not None:
                after = await self.store.write(erase_records, account_id=account_id, after=after)
        await self.store.write(letting_go.erase, account_id=account_id)
        self.log.info("mail.account_erased", account=account_id)
