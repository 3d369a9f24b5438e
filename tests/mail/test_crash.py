"""``kill -9`` in the middle of a sync, again and again, while the mailbox changes: as if nothing had been."""

from __future__ import annotations

import random
import sqlite3
from functools import partial
from pathlib import Path
from typing import Final

import pytest
import trio

from svc.clock import WallClock
from svc.mail.provider_fake import FakeWorld
from svc.nursery import ThreadGate
from svc.store import ReadTx
from tests.journeys.harness import ServiceProcess, until
from tests.mail.rig import MIA, mail, open_rig, state_of
from tests.recorded_log import RecordedLog, StoppedClock

MESSAGES: Final = 300
KILLS: Final = 3
BLOBS_A_MESSAGE: Final = 2
SYNC_DEADLINE_S: Final = 30.0


@pytest.mark.parametrize("seed", [1])
def test_a_sync_killed_again_and_again_ends_as_one_that_never_was(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    with ServiceProcess(tmp_path) as service:
        journal = service.home / "spool" / "fake.jsonl"
        journal.parent.mkdir(parents=True)
        trio.run(partial(_fill, journal, rng))
        unfinished = 0
        for blobs in sorted(rng.sample(range(BLOBS_A_MESSAGE * MESSAGES), KILLS)):
            service.spawn(PROVIDERS="fake")
            until(lambda: _blobs(service) >= blobs, deadline_s=SYNC_DEADLINE_S, tell=service.log)  # noqa: B023
            service.kill()
            unfinished += _messages(service) < MESSAGES
            trio.run(partial(_meanwhile, journal, rng))
        assert unfinished > 1, "no kill hit the sweep: the test tests nothing"
        service.start(PROVIDERS="fake")
        service.mutate("fake.mail.syncNow", address=MIA)
        (account,) = service.query("mail.accounts")
        assert (account["state"], account["problem"]) == ("caught-up", None)
        assert service.command("fsck", "--deep").stdout == "ok\n"
        assert service.stop() == 0
        with sqlite3.connect(service.home / "db" / "svc.sqlite3") as connection:
            killed = state_of(ReadTx(connection, now=0))
        assert killed == trio.run(_undisturbed, tmp_path / "undisturbed", journal)


def _blobs(service: ServiceProcess) -> int:
    """How far it is: blobs are the first trace that a message leaves."""
    return sum(1 for path in (service.home / "blobs").glob("*/*/*") if path.is_file())


def _messages(service: ServiceProcess) -> int:
    try:
        ((count,),) = service.rows("select count(*) from mail_messages")
    except sqlite3.OperationalError:
        return 0  # not even migrated
    return int(count)


def _world(journal: Path) -> FakeWorld:
    world = FakeWorld(journal=journal, clock=StoppedClock(), threads=ThreadGate(limit=1, name="fake"))
    world.load()
    return world


async def _fill(journal: Path, rng: random.Random) -> None:
    world = _world(journal)
    for number in range(MESSAGES):
        await _arrive(world, f"Mail {number}", rng)


async def _meanwhile(journal: Path, rng: random.Random) -> None:
    """The mailbox goes on without the service."""
    world = _world(journal)
    ids = sorted(world.mailbox(MIA).messages)
    gone, starred = rng.sample(ids, 2)
    await world.delete(address=MIA, message_id=gone)
    await world.set_labels(address=MIA, message_id=starred, labels=frozenset({"STARRED"}))
    await _arrive(world, f"Late {world.mailbox(MIA).next_number}", rng)
    if rng.random() < 0.3:
        await world.expire_history(address=MIA)


async def _arrive(world: FakeWorld, subject: str, rng: random.Random) -> None:
    second = int(subject.rpartition(" ")[2]) * 1_009 % 3_600  # in no order, and no two the same
    date = f"Mon, 19 Oct 2026 10:{second // 60:02}:{second % 60:02} +0000"
    raw = mail(subject, text=f"The body of {subject}.", date=date)
    labels = frozenset({"INBOX", "UNREAD"} if rng.random() < 0.5 else {"INBOX"})
    await world.inject(address=MIA, raw=raw, thread_key=str(rng.randrange(80)), labels=labels)


async def _undisturbed(home: Path, journal: Path) -> dict[str, object]:
    clock = WallClock()
    threads = ThreadGate(limit=8, name="test")
    async with open_rig(home, clock=clock, log=RecordedLog(clock), threads=threads, journal=journal) as rig:
        await rig.sync_of(await rig.connect()).step()
        return await rig.state()
