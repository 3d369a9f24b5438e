"""The service with a person in it, a mailbox of theirs, and a push service outside."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import VirtualClock
from svc.fakes.mail.provider import FakeWorld
from svc.mail import sync_now
from svc.notifications.delivering import Pusher
from svc.principal import Principal
from svc.store import Tx
from svc.workspace import Workspace
from tests.notifications.push_service import HOST, PushService, Subscription
from tests.recorded_log import RecordedLog
from tests.support.certificates import certificates
from tests.support.mailbox import mail
from tests.support.service import MIA, Service, open_service

ME = Principal(user_id="usr_mia", device_id="dev_mia", is_admin=True, via="session")


@dataclass
class NotifiedPerson:
    service: Service
    outside: PushService
    account_id: str = ""
    browser: Subscription = field(default_factory=Subscription)

    async def ask(self, procedure: str, **wanted: object) -> Any:
        reply = await self.service.ask_as(ME, procedure, wanted)
        told = json.loads(reply.body)
        return told["result"]["data"] if "result" in told else told["error"]["data"]["code"]

    async def settle(self, **wanted: object) -> None:
        """Hear of the account, and take pushes."""
        given = {"accountIds": [self.account_id], "words": "all", "quiet": None, **wanted}
        assert await self.ask("notifications.set", **given) == {}
        assert "browserId" in await self.ask("notifications.subscribe", **self.browser.told)

    async def receive(self, subject: str = "Hello", *, labels: tuple[str, ...] = ("INBOX", "UNREAD")) -> None:
        """A mail comes, and all that follows of it is done."""
        fake_mail = self.service.workspace.service(FakeWorld)
        await fake_mail.inject(address=MIA, raw=mail(subject), thread_key=None, labels=frozenset(labels))
        await sync_now(self.service.workspace, self.account_id)
        await trio.sleep(40)  # virtual: consumers and jobs have had their turn

    def read(self) -> list[str]:
        return [self.browser.read(body)["subject"] for _, body in self.outside.pushes]


def _settle_in(tx: Tx) -> None:
    tx.run("insert into users (id, email, name, role, created_at) values ('usr_mia', :me, 'Mia', 'admin', 0)", me=MIA)
    tx.run(
        """
        insert into devices (id, user_id, kind, name, capabilities, created_at)
        values ('dev_mia', 'usr_mia', 'web', 'Mia', '{}', 0)
        """
    )
    tx.run("update mail_accounts set owner_id = 'usr_mia'")


@pytest.fixture
async def person(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[NotifiedPerson]:
    server_tls, client_tls = certificates(tmp_path, HOST)
    async with trio.open_nursery() as nursery:
        outside = PushService(server_tls=server_tls, client_tls=client_tls, nursery=nursery)

        def around(workspace: Workspace) -> None:
            workspace.service(Pusher).egress = outside.egress()

        async with open_service(tmp_path, clock=wall, log=log, before=around, PROVIDERS="fake") as service:
            await service.synced("There before")
            ((account_id,),) = await service.rows("select id from mail_accounts")
            await service.workspace.store.write(_settle_in)
            yield NotifiedPerson(service, outside, account_id=str(account_id))
        nursery.cancel_scope.cancel()
