"""Fixtures: a mailbox with its sync, and a Gmail mailbox on a scripted wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from svc.clock import VirtualClock
from svc.log import Log
from svc.nursery import ThreadPool
from tests.mail.gmail_wire import Mailbox
from tests.support.mailbox import MailSync, open_mail_sync


@pytest.fixture
async def mail_sync(tmp_path: Path, wall: VirtualClock, log: Log, threads: ThreadPool) -> AsyncIterator[MailSync]:
    async with open_mail_sync(tmp_path, clock=wall, log=log, threads=threads) as opened:
        yield opened


@pytest.fixture
def mailbox(wall: VirtualClock) -> Mailbox:
    return Mailbox(wall)
