"""A service that a Microsoft and its Exchange stand beside, on virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import trio

from svc.clock import VirtualClock
from svc.mail.providers.outlook import kind
from tests.mail.outlook.exchange import Exchange
from tests.peers.microsoft import CLIENT_ID, CLIENT_SECRET, Microsoft
from tests.recorded_log import RecordedLog
from tests.support.http import Reply
from tests.support.service import Service, open_service

ADDRESS = "mia@outlook.com"


@dataclass
class OutlookService:
    service: Service
    microsoft: Microsoft
    exchange: Exchange

    async def begin(self, *, email: str = ADDRESS) -> tuple[dict[str, str], str]:
        """What the consent screen is asked for, and the browser's cookie."""
        reply = await self.service.get(f"/oauth/mail/start?provider=outlook&email={quote(email)}")
        assert reply.status == 302, reply
        location = reply.header("location") or ""
        query = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        return query, (reply.header("set-cookie") or "").partition(";")[0]

    async def connect(self, *, email: str = ADDRESS) -> Reply:
        """A person consents, and their browser comes back the whole way."""
        query, cookie = await self.begin(email=email)
        landed = urlsplit(self.microsoft.consented(query))
        reply = await self.service.ask("GET", f"{landed.path}?{landed.query}", host=landed.netloc)
        assert reply.status == 302
        return await self.back(reply.header("location") or "", cookie)

    async def back(self, location: str, cookie: str) -> Reply:
        there = urlsplit(location)
        fields = {"cookie": cookie}
        return await self.service.ask("GET", f"{there.path}?{there.query}", host=there.netloc, fields=fields)

    async def refused(self, *, email: str = ADDRESS) -> str:
        """By which cause; nothing is kept then."""
        reply = await self.connect(email=email)
        target = urlsplit(reply.header("location") or "")
        assert (reply.status, target.path) == (302, "/p/mail"), reply
        assert await self.service.query("mail.accounts") == []
        assert await self.service.rows("select name from secrets") == [("microsoft.oauth",)]
        return parse_qs(target.query)["connect"][0]

    async def account(self) -> dict[str, object]:
        (found,) = await self.service.query("mail.accounts")
        return dict(found)


@pytest.fixture
def settings() -> dict[str, str]:
    return {"MICROSOFT_CLIENT_ID": CLIENT_ID, "MICROSOFT_CLIENT_SECRET": CLIENT_SECRET}


@pytest.fixture
async def outlook_service(
    tmp_path: Path,
    wall: VirtualClock,
    log: RecordedLog,
    settings: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[OutlookService]:
    microsoft = Microsoft(address=ADDRESS, clock=wall)
    async with trio.open_nursery() as nursery:
        exchange = Exchange(microsoft=microsoft, nursery=nursery)
        monkeypatch.setattr(kind, "dialler_of", lambda workspace: exchange)
        async with open_service(tmp_path, clock=wall, log=log, egress=microsoft, environ=settings) as service:
            yield OutlookService(service=service, microsoft=microsoft, exchange=exchange)
        nursery.cancel_scope.cancel()
