"""The service with a small Internet around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import VirtualClock
from svc.mail.images.proxy import ImageProxy
from svc.workspace import Workspace
from tests.protocol.small_internet import ELSEWHERE, PICTURES, Internet
from tests.recorded_log import RecordedLog
from tests.support.certificates import certificates
from tests.support.service import Service, open_service


@dataclass
class Gallery:
    service: Service
    internet: Internet

    async def receive(self, html: str, **more: Any) -> str:
        """A mail with this HTML that is known to come from its sender, read once: its thread's id."""
        known = {"authentication": "dmarc=pass header.from=example.org", **more}
        (thread_id,) = await self.service.synced("Pictures", html=html, **known)
        await self.service.query("mail.thread", id=thread_id)
        return thread_id


@pytest.fixture
async def gallery(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Gallery]:
    server_tls, client_tls = certificates(tmp_path, PICTURES, ELSEWHERE)
    async with trio.open_nursery() as nursery:
        internet = Internet(server_tls=server_tls, client_tls=client_tls, nursery=nursery)

        def around(workspace: Workspace) -> None:
            workspace.service(ImageProxy).egress = internet.egress()

        async with open_service(tmp_path, clock=wall, log=log, before=around, PROVIDERS="fake") as service:
            yield Gallery(service, internet)
        nursery.cancel_scope.cancel()
