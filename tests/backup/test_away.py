"""A target that goes away while pages are written: what waits for it is bounded, and all is there once it is back. And
one whose line is slow: a whole copy that takes long holds nothing up. And one that refuses, or is full."""

from __future__ import annotations

import os
import secrets
import signal
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
import trio

from svc.backup.archiver import LATE_S, Archiver
from svc.backup.litestream import ArchiveFault
from svc.backup.restoring import RestoreFault, Wanted
from svc.backup.service import Backup, Parts
from svc.clock import VirtualClock, WallClock
from svc.pages import MAX_BODY_BYTES
from svc.store import Home, ReadTx
from tests.identity.people import Person, sign_in
from tests.peers.buckets import buckets
from tests.peers.needs import S3, needs
from tests.peers.refusing import refusing
from tests.peers.wire import Wire, wire
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S
from tests.support.service import MIA, open_service
from tests.support.waiting import until

pytestmark = [pytest.mark.wall_clock, pytest.mark.peer]

ENOUGH_BYTES = 100_000
SOON_S = 0.5
"""Between two looks at the archiver, which is asked every few seconds otherwise."""


async def all_is_there(archiver: Archiver) -> None:
    found: object = None

    async def is_there() -> bool:
        nonlocal found
        try:
            found = position = await archiver.position(wait_s=5)
        except ArchiveFault as fault:  # it is being started
            found = fault
            return False
        return position.replicated_txid == position.txid

    await until(is_there, what="all transactions to be in the archive", tell=lambda: found)


async def a_restore_would_work_at_once(parts: Parts) -> None:
    """What the archive knows of itself is sent every ten seconds only; the first drill comes sooner."""
    tool = parts.archive.tool
    assert tool is not None
    await parts.archiver.send_ledger()
    assert await tool.reaches(parts.archiver.written_config(tool), "ledger") > 0


async def a_copy_on_a_slow_line_holds_nothing_up(parts: Parts, mia: Person, line: Wire, log: RecordedLog) -> None:
    """During the copy, new changes still arrive first, and recovery points are still made."""
    for number in range(2):  # which no program can make smaller
        await mia.mutate("pages.save", path=f"large/{number}", body=secrets.token_hex(MAX_BODY_BYTES // 2 - 1))
    await all_is_there(parts.archiver)
    before = parts.archive.catalogue.base()
    line.narrow_bytes, runs = MAX_BODY_BYTES // 2, starts(log)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(parts.nightly.make)
        await mia.mutate("pages.save", path="beside", body="Written while a whole copy is sent.")
        await until(lambda: starts(log) > runs, what="an archiver that is started anew for the copy")
        await all_is_there(parts.archiver)
        assert await is_begun(mia), "it did not wait for the copy"
        runs = starts(log)
        pid = next(one["pid"] for one in reversed(log.records) if one["event"] == "backup.archiver_started")
        os.kill(cast(int, pid), signal.SIGKILL)
        await until(lambda: starts(log) > runs, what="the killed archiver to be started again")
        await all_is_there(parts.archiver)
        assert await is_begun(mia), "what was cut off is no copy, and it is begun anew"
        assert parts.archive.catalogue.base() == before
        line.narrow_bytes = None
    after = parts.archive.catalogue.base()
    assert before is not None
    assert after is not None
    assert len(after.held) == len(before.held) + 1
    assert not await is_begun(mia)


async def what_refuses_is_told_with_its_word(parts: Parts, mia: Person, line: Wire, status: int, code: str) -> None:
    """It recovers by itself as soon as the target takes data again."""
    far, parts.archiver.late_s = line.far, 1.0
    with refusing(status, code) as port:
        line.turn_to(port)
        await mia.mutate("pages.save", path=f"refused/{status}", body="It waits here.")
        await until(
            lambda: code in (parts.archive.problem or ""),  # a few times it tries again
            what=f"{code} to be told",
            tell=lambda: parts.archive.problem,
        )
        checks = {one["name"]: one for one in (await mia.mutate("health.check"))["checks"]}
        assert checks["archive"]["state"] == "warning"
        assert code in (await mia.query("backup.status"))["archiving"]["problem"]
    line.turn_to(far)
    await all_is_there(parts.archiver)
    await until(
        lambda: parts.archive.problem is None, what="the problem to be over", tell=lambda: parts.archive.problem
    )
    parts.archiver.late_s = LATE_S


def notices(tx: ReadTx) -> list[str]:
    rows = tx.all(
        "select payload ->> 'text' from outbox where kind = 'notice' and ref = 'backup:archiver' order by seq"
    )
    return [str(text) for (text,) in rows]


def starts(log: RecordedLog) -> int:
    return log.events().count("backup.archiver_started")


async def is_begun(mia: Person) -> bool:
    return (await mia.query("backup.status"))["baseBegunAt"] is not None


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
        wall.offset_ms = WallClock().now() - wall.now()  # the archiver goes by the machine's
        async with open_service(tmp_path / "home", clock=wall, log=log, **settings) as service:
            backup = service.workspace.service(Backup)
            parts, database = backup.on(), service.workspace.home.database
            await until(parts.archive.catalogue.base, what="the first base backup")
            await a_restore_would_work_at_once(parts)
            parts.archiver.look_s, parts.archiver.sync_s = SOON_S, 1  # the latter from the next archiver on
            await all_is_there(parts.archiver)
            mia = await sign_in(service, MIA)
            await mia.mutate("pages.save", path="before", body="It was there before.")
            await all_is_there(parts.archiver)
            await a_copy_on_a_slow_line_holds_nothing_up(parts, mia, line, log)
            for status, code in ((403, "AccessDenied"), (507, "InsufficientStorage")):
                await what_refuses_is_told_with_its_word(parts, mia, line, status, code)
                await parts.archiver.renew()  # one that was refused pauses for half a minute before it tries again
            told = await service.workspace.store.read(notices)
            # Of the two one may be told with what the archiver said of it a moment later.
            assert any("Denied" in one or "Insufficient" in one for one in told), told
            assert told[-1].endswith("it works again."), told

            parts.archiver.unsent_max_bytes = ENOUGH_BYTES - database.stat().st_size
            parts.archiver.silent_s = 1
            line.cut()
            pages, runs = 0, starts(log)

            async def is_started_again() -> bool:  # it hung, or too much waited
                nonlocal pages
                pages += 1
                await mia.mutate("pages.save", path=f"meanwhile/{pages}", body=f"{pages} " * 5_000)
                return starts(log) > runs

            await until(is_started_again, what="an archiver that is started again")
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
            assert {"before", "beside", *(f"meanwhile/{one + 1}" for one in range(pages))} <= paths
