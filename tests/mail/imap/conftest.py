"""A Dovecot for the tests of a module, and an account at it. Each test begins with an empty mailbox."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import trio

from svc.clock import WallClock
from svc.mail.accounts import actions as account_actions
from svc.mail.providers.table import Providers
from svc.principal import UNCLAIMED
from tests.mail.imap.dovecot_account import ALL_ABILITIES, PLAIN_IMAP, DovecotAccount
from tests.peers.dovecot import ADDRESS, Dovecot, dovecot
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S, SOAK
from tests.support.service import open_service


@pytest.fixture(scope="module")
def running_dovecot() -> Iterator[Dovecot]:
    with dovecot() as server:
        yield server


@pytest.fixture
def server(running_dovecot: Dovecot) -> Iterator[Dovecot]:
    """Tests that use it are marked ``needs(DOVECOT)``."""
    running_dovecot.empty()
    yield running_dovecot
    running_dovecot.relay.settle()


CONDSTORE_ALONE = frozenset({"QRESYNC"})


@pytest.fixture(params=[ALL_ABILITIES, CONDSTORE_ALONE, PLAIN_IMAP], ids=["able", "condstore", "plain"])
async def dovecot_account(
    request: pytest.FixtureRequest, tmp_path: Path, log: RecordedLog, server: Dovecot
) -> AsyncIterator[DovecotAccount]:
    async with open_service(tmp_path, clock=WallClock(), log=log, SVC_UNDO_SEND_SECONDS="0") as service:
        dovecot_account = DovecotAccount(service=service, server=server, without=request.param)
        workspace = service.workspace
        workspace.service(Providers).replace_all("imap", lambda account: dovecot_account.provider())
        dovecot_account.account_id = await workspace.store.write(
            account_actions.connect, UNCLAIMED, address=ADDRESS, provider="imap"
        )
        with trio.fail_after(HANGS_S * (20 if SOAK else 1)):
            yield dovecot_account
