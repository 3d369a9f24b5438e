"""A service with a person who writes drafts, and in-memory mail servers that keep drafts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trio

from svc.clock import VirtualClock
from svc.formats import mime
from svc.mail.accounts import actions as account_actions
from svc.mail.providers.table import Providers
from svc.mail.sync.engine import MailEngine
from svc.principal import UNCLAIMED
from tests.mail.folder_provider import FolderMailbox, FolderProvider
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, Service, open_service

OTHER = "noa@example.org"


_OPEN = "select 1 from mail_draft_copies where next_at is not null union all select 1 from mail_draft_finds"


@dataclass
class DraftWriter:
    """A person who writes, with two accounts whose servers keep drafts."""

    service: Service
    boxes: dict[str, FolderMailbox]
    accounts: dict[str, str]

    async def save(self, subject: str, *, address: str = MIA, **more: object) -> dict[str, Any]:
        wanted = {"accountId": self.accounts[address], "to": [], "subject": subject, "html": "<p>So far</p>", **more}
        answer: dict[str, Any] = await self.service.mutate("mail.saveDraft", **wanted)
        return answer

    def there(self, address: str = MIA) -> list[str | None]:
        return [one.subject for one in self.copies(address)]

    def copies(self, address: str = MIA) -> list[mime.ParsedMessage]:
        return [mime.parse_message(raw) for _, raw in self.boxes[address].drafts]

    async def notes(self) -> dict[str, list[str]]:
        """Of the drafts that are listed, by their subjects."""
        return {one["subject"]: one["notes"] for one in await self.service.query("mail.drafts")}

    async def told(self) -> None:
        """Virtual time passes until no server waits to hear anything, and nothing that was found there is undecided."""
        with trio.fail_after(86_400):
            while True:
                if not await self.service.rows(_OPEN):
                    return
                await trio.sleep(1)


@asynccontextmanager
async def open_writer(
    home: Path, wall: VirtualClock, log: RecordedLog, boxes: dict[str, FolderMailbox]
) -> AsyncIterator[DraftWriter]:
    async with open_service(home, clock=wall, log=log, SVC_UNDO_SEND_SECONDS="10") as service:
        workspace = service.workspace
        providers = workspace.service(Providers)
        providers.replace_all("folders", lambda account: FolderProvider(box=boxes[account.address]))
        accounts = {}
        for address in boxes:
            accounts[address] = await workspace.store.write(
                account_actions.connect, UNCLAIMED, address=address, provider="folders"
            )
            await workspace.service(MailEngine).start_account(accounts[address])
            await workspace.service(MailEngine).sync_now(accounts[address])
        yield DraftWriter(service=service, boxes=boxes, accounts=accounts)
