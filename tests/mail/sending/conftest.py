"""A mailer to send from, with and without a pause for second thoughts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from svc.clock import VirtualClock
from tests.mail.sending.mailer import Mailer, mailer_of
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service


@pytest.fixture
async def mailer(service: Service) -> Mailer:
    return await mailer_of(service)


@pytest.fixture
async def hasty(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Mailer]:
    """A mailer without a pause: mail leaves at once."""
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_UNDO_SEND_SECONDS="0") as opened:
        yield await mailer_of(opened)
