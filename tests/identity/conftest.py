"""Signing in at a scripted identity provider, as fixtures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from svc.clock import VirtualClock
from tests.identity.oidc_door import open_door
from tests.identity.scripted_provider import ScriptedProvider
from tests.recorded_log import RecordedLog
from tests.support.service import Service


@pytest.fixture
def idp(wall: VirtualClock) -> ScriptedProvider:
    return ScriptedProvider(clock=wall)


@pytest.fixture
async def door(tmp_path: Path, wall: VirtualClock, log: RecordedLog, idp: ScriptedProvider) -> AsyncIterator[Service]:
    async with open_door(tmp_path, wall, log, idp) as opened:
        yield opened
