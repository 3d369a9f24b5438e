"""``kill -9`` in the middle of a step on all that match, and of taking it back: it ends as if nothing had been."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

import pytest
import trio

from svc.fakes.mail.provider import FakeWorld
from svc.nursery import ThreadPool
from tests.recorded_log import StoppedClock
from tests.sizes import HANGS_S
from tests.support.mailbox import MIA, mail
from tests.support.process import ServiceProcess, until

pytestmark = pytest.mark.thorough

MESSAGES: Final = 320
WORKS: Final = "mail-bulk"
"""The name of the task that works such steps off."""
LONGEST_LIFE_STEPS: Final = 8
"""Of that task. It has eight batches to do, each of some steps: all lives together do not get to the end."""


def test_a_step_killed_again_and_again_is_done_whole_and_taken_back_whole(
    tmp_path: Path, chance: random.Random
) -> None:
    with ServiceProcess(tmp_path) as service:
        journal = service.home / "spool" / "fake.jsonl"
        journal.parent.mkdir(parents=True)
        trio.run(partial(_fill, journal))
        order = service.die_at(1, of=WORKS)
        order.unlink()
        service.start(PROVIDERS="fake")
        service.mutate("fake.mail.syncNow", address=MIA)
        before = service.rows("select id, labels from mail_messages order by id")
        chosen = service.mutate("mail.selectAll", section="inbox")
        assert chosen["count"] == MESSAGES
        begin = partial(service.mutate, "mail.actOnAll", id=chosen["id"], do="archive")
        _killed(service, chance, order, lives=2, begin=begin)
        assert _inbox(service) == 0
        assert _step(service) == ("done", MESSAGES, MESSAGES, 0)
        _killed(service, chance, order, lives=1, begin=partial(service.mutate, "mail.undo"))
        assert service.rows("select id, labels from mail_messages order by id") == before
        assert _step(service) == ("undone", MESSAGES, 0, 0)
        service.mutate("fake.mail.syncNow", address=MIA)
        assert service.rows("select * from mail_mirror") == []
        assert service.rows("select id, labels from mail_messages order by id") == before
        assert service.command("fsck", "--deep").stdout == "ok\n"
        assert service.stop() == 0


def _killed(
    service: ServiceProcess, chance: random.Random, order: Path, *, lives: int, begin: Callable[[], object]
) -> None:
    """Begin something, and let the service die of it that many times before it gets to the end."""
    _die(service, chance, order, begin)
    if not _is_under_way(service):  # the task was still at the end of what it did before, and it died of that
        service.start(PROVIDERS="fake")
        _die(service, chance, order, begin)
    for _ in range(lives - 1):
        _die(service, chance, order, partial(service.spawn, PROVIDERS="fake"))
    assert _is_under_way(service), "it died after the end: the test tests nothing"
    service.start(PROVIDERS="fake")
    until(lambda: not _is_under_way(service), what="the step to be done", deadline_s=HANGS_S)


def _die(service: ServiceProcess, chance: random.Random, order: Path, begin: Callable[[], object]) -> None:
    order.write_text(str(chance.randint(1, LONGEST_LIFE_STEPS)))
    with suppress(HTTPException, OSError):  # it may die under the call
        begin()
    assert service.wait() == -signal.SIGKILL, service.log()
    order.unlink()


def _is_under_way(service: ServiceProcess) -> bool:
    return any(state in {"working", "undoing"} for (state,) in service.rows("select state from mail_bulk_steps"))


def _step(service: ServiceProcess) -> tuple[Any, ...]:
    (row,) = service.rows("select state, total, taken, passed from mail_bulk_steps")
    return row


def _inbox(service: ServiceProcess) -> int:
    ((count,),) = service.rows("select count(*) from mail_threads where in_inbox > 0")
    return int(count)


async def _fill(journal: Path) -> None:
    fake_mail = FakeWorld(journal=journal, clock=StoppedClock(), threads=ThreadPool(limit=1, name="fake"))
    fake_mail.load()
    for number in range(MESSAGES):
        date = f"Mon, 19 Oct 2026 10:{number // 60:02}:{number % 60:02} +0000"
        raw = mail(f"Mail {number}", date=date)
        await fake_mail.inject(address=MIA, raw=raw, thread_key=str(number), labels=frozenset({"INBOX", "UNREAD"}))
