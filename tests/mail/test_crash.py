"""``kill -9`` in the middle of a sync, again and again, while the mailbox changes: the result is the same as without.

When it dies and what changes meanwhile is chosen anew in each run. A failure says its seed, and
``SVC_TEST_SEED=<seed>`` runs the same again.
"""

from __future__ import annotations

import random
import signal
import sqlite3
from functools import partial
from pathlib import Path
from typing import Final

import pytest
import trio

from svc.clock import WallClock
from svc.fakes.mail.provider import FakeWorld
from svc.nursery import ThreadPool
from svc.store import ReadTx
from tests.recorded_log import RecordedLog, StoppedClock
from tests.sizes import KILLS_A_HOME, SYNC_HOMES
from tests.support.mailbox import MIA, State, mail, open_mail_sync, state_of
from tests.support.process import ServiceProcess

pytestmark = pytest.mark.thorough

MESSAGES: Final = 300
SYNCS: Final = "mail:"
"""How the name of an account's task begins."""
LONGEST_LIFE_STEPS: Final = MESSAGES
"""A full sync takes six steps a message and more, so that all lives together do not get to its end."""


@pytest.mark.parametrize("home", range(SYNC_HOMES))
def test_a_sync_killed_again_and_again_ends_as_one_that_never_was(
    tmp_path: Path, chance: random.Random, home: int
) -> None:
    with ServiceProcess(tmp_path) as service:
        journal = service.home / "spool" / "fake.jsonl"
        journal.parent.mkdir(parents=True)
        trio.run(partial(_fill, journal, chance))
        for _ in range(KILLS_A_HOME):
            order = service.die_at(chance.randint(1, LONGEST_LIFE_STEPS), of=SYNCS)
            service.spawn(PROVIDERS="fake")
            assert service.wait() == -signal.SIGKILL, service.log()
            assert _messages(service) < MESSAGES, "it died after the sweep: the test tests nothing"
            trio.run(partial(_meanwhile, journal, chance))
        order.unlink()
        service.start(PROVIDERS="fake")
        service.mutate("fake.mail.syncNow", address=MIA)
        (account,) = service.query("mail.accounts")
        assert (account["state"], account["problem"]) == ("caught-up", None)
        assert service.command("fsck", "--deep").stdout == "ok\n"
        assert service.stop() == 0
        with sqlite3.connect(service.home / "db" / "svc.sqlite3") as connection:
            killed = state_of(ReadTx(connection, now=0))
        assert killed == trio.run(_undisturbed, tmp_path / "undisturbed", journal)


def _messages(service: ServiceProcess) -> int:
    try:
        ((count,),) = service.rows("select count(*) from mail_messages")
    except sqlite3.OperationalError:
        return 0  # not even migrated
    return int(count)


def _fake_mail(journal: Path) -> FakeWorld:
    fake_mail = FakeWorld(journal=journal, clock=StoppedClock(), threads=ThreadPool(limit=1, name="fake"))
    fake_mail.load()
    return fake_mail


async def _fill(journal: Path, rng: random.Random) -> None:
    fake_mail = _fake_mail(journal)
    for number in range(MESSAGES):
        await _arrive(fake_mail, f"Mail {number}", rng)


async def _meanwhile(journal: Path, rng: random.Random) -> None:
    """The mailbox goes on without the service."""
    fake_mail = _fake_mail(journal)
    ids = sorted(fake_mail.mailbox(MIA).messages)
    gone, starred = rng.sample(ids, 2)
    await fake_mail.delete(address=MIA, message_id=gone)
    await fake_mail.set_labels(address=MIA, message_id=starred, labels=frozenset({"STARRED"}))
    await _arrive(fake_mail, f"Late {fake_mail.mailbox(MIA).next_number}", rng)
    if rng.random() < 0.3:
        await fake_mail.expire_history(address=MIA)


async def _arrive(fake_mail: FakeWorld, subject: str, rng: random.Random) -> None:
    second = int(subject.rpartition(" ")[2]) * 1_009 % 3_600  # in no order, and no two the same
    date = f"Mon, 19 Oct 2026 10:{second // 60:02}:{second % 60:02} +0000"
    raw = mail(subject, text=f"The body of {subject}.", date=date)
    labels = frozenset({"INBOX", "UNREAD"} if rng.random() < 0.5 else {"INBOX"})
    await fake_mail.inject(address=MIA, raw=raw, thread_key=str(rng.randrange(80)), labels=labels)


async def _undisturbed(home: Path, journal: Path) -> State:
    clock = WallClock()
    threads = ThreadPool(limit=8, name="test")
    async with open_mail_sync(home, clock=clock, log=RecordedLog(clock), threads=threads, journal=journal) as mail_sync:
        await mail_sync.sync_of(await mail_sync.connect()).step()
        return await mail_sync.state()
