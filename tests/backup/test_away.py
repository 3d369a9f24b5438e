"""A target that goes away while pages are written: what waits for it is bounded, and all is there once it is back."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.backup.archiver import Archiver
from svc.backup.litestream import ArchiveFault
from svc.backup.restoring import RestoreFault, Wanted
from svc.backup.service import Backup
from svc.clock import VirtualClock
from svc.store import Home
from tests.identity.people import sign_in
from tests.peers.buckets import buckets
from tests.peers.needs import S3, needs
from tests.peers.wire import wire
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S
from tests.support.service import MIA, open_service

pytestmark = [pytest.mark.wall_clock, pytest.mark.peer]

ENOUGH_BYTES = 100_000


async def all_is_there(archiver: Archiver) -> None:
    with trio.fail_after(HANGS_S):
        while True:
            with suppress(ArchiveFault):  # it is being started
                position = await archiver.position(wait_s=5)
                if position.replicated_txid == position.txid:
                    return
            await trio.sleep(0.1)


@needs(S3)
async def test_what_waits_is_bounded_and_a_whole_copy_makes_up_for_what_was_dropped(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    with buckets(tmp_path / "buckets") as there, wire(there.port) as line:
        settings: dict[str, Any] = {
            "PROVIDERS": "fake",
            "ARCHIVE_S3_PREFIX": f"s3://{there.bucket}/home",
            "ARCHIVE_S3_ENDPOINT": f"http://127.0.0.1:{line.port}",
            "ARCHIVE_S3_ACCESS_KEY_ID": there.key_id,
            "ARCHIVE_S3_SECRET_ACCESS_KEY": there.secret,
        }
        async with open_service(tmp_path / "home", clock=wall, log=log, **settings) as service:
            backup = service.workspace.service(Backup)
            parts, database = backup.on(), service.workspace.home.database
            with trio.fail_after(HANGS_S):
                while parts.archive.catalogue.base() is None:  # noqa: ASYNC110  the first base backup is made meanwhile
                    await trio.sleep(0.1)
            await all_is_there(parts.archiver)
            mia = await sign_in(service, MIA)
            await mia.mutate("pages.save", path="before", body="It was there before.")
            await all_is_there(parts.archiver)

            parts.archiver.unsent_max_bytes = ENOUGH_BYTES - database.stat().st_size
            parts.archiver.silent_s = 1
            line.cut()
            pages, runs = 0, log.events().count("backup.archiver_started")
            with trio.fail_after(HANGS_S):
                while log.events().count("backup.archiver_started") == runs:  # it hung, or too much waited
                    pages += 1
                    await mia.mutate("pages.save", path=f"meanwhile/{pages}", body=f"{pages} " * 5_000)
                    await trio.sleep(0.2)
            assert "away" in (parts.archive.problem or "")
            assert (await service.get("/readyz")).status == 200
            line.mend()
            await all_is_there(parts.archiver)

            into = tmp_path / "restored"
            with trio.fail_after(HANGS_S):
                while not into.exists():
                    with suppress(RestoreFault):  # what is known of the archive follows within seconds
                        await backup.restoring().restore(Wanted(into=into, without_blobs=True, keeps_secrets=True))
            connection = sqlite3.connect(Home.database_of(into))
            paths = {path for (path,) in connection.execute("select path from pages")}
            connection.close()
            assert {"before", *(f"meanwhile/{one + 1}" for one in range(pages))} <= paths
