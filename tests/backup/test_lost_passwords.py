"""A restore without the master key: mailboxes of each kind are still listed, and ask to be connected again."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import trio

from svc.clock import VirtualClock
from svc.mail.accounts import actions, progress
from svc.principal import UNCLAIMED
from svc.store import Tx
from tests.recorded_log import RecordedLog
from tests.support.service import open_service

REAL: Final[dict[str, Any]] = {"GOOGLE_CLIENT_ID": "an-id", "GOOGLE_CLIENT_SECRET": "a-secret"}


@pytest.mark.thorough
@pytest.mark.parametrize("provider", ["imap", "gmail"])
async def test_an_account_whose_password_was_let_go_of_stands_at_reconnect(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, provider: str
) -> None:
    def connected(tx: Tx) -> str:
        account_id = actions.connect(tx, UNCLAIMED, address="mia@example.org", provider=provider)
        progress.finish_full_sync(tx, account_id=account_id)
        return account_id

    async with open_service(tmp_path, clock=wall, log=log) as service:
        account_id = await service.workspace.store.write(connected)
    async with open_service(tmp_path, clock=wall, log=log, **REAL) as service:
        with trio.fail_after(3_600):
            while True:
                (account,) = await service.query("mail.accounts")
                if account["id"] == account_id and account["state"] == "reconnect":
                    break
                await trio.sleep(1)
        assert "onnect it again" in account["problem"]
