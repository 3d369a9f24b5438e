"""The rig, and a Gmail mailbox on a scripted wire, as fixtures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from svc.clock import VirtualClock
from svc.log import Log
from svc.nursery import ThreadPool
from tests.mail.gmail_wire import Mailbox
from tests.support.mailbox import Rig, open_rig


@pytest.fixture
async def rig(tmp_path: Path, wall: VirtualClock, log: Log, threads: ThreadPool) -> AsyncIterator[Rig]:
    async with open_rig(tmp_path, clock=wall, log=log, threads=threads) as opened:
        yield opened


@pytest.fixture
def mailbox(wall: VirtualClock) -> Mailbox:
    return Mailbox(wall)
