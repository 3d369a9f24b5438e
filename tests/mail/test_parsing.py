"""Where messages are parsed: few in a thread, many in a worker, and each alone where a worker died of one."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeVar

import pytest

from svc.formats.mime.many import Read, read
from svc.mail.sync import parsing
from svc.mail.sync.parsing import PARSED_TOGETHER, SENT_TOGETHER, Parser
from svc.nursery import ProcessPool, ThreadPool
from tests.recorded_log import RecordedLog
from tests.support.mailbox import mail

T = TypeVar("T")

MANY = SENT_TOGETHER + PARSED_TOGETHER


class Counting(ThreadPool):
    """``parsed``: messages that were parsed in it."""

    parsed = 0

    async def run(self, fn: Callable[..., T], *args: object) -> T:
        if fn is parsing._parse_some:
            (raws, _) = args
            assert isinstance(raws, Sequence)
            self.parsed += len(raws)
        return await super().run(fn, *args)


@pytest.fixture
def threads() -> Counting:
    return Counting(limit=4, name="test")


@pytest.fixture
async def parser(threads: Counting, log: RecordedLog, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Parser]:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    async with ProcessPool(limit=1, name="test") as processes:
        yield Parser(threads=threads, processes=processes, log=log, with_readable=True)


def mails(count: int) -> list[bytes]:
    return [mail(f"Mail {number}", text=f"Grüße {number}\n" * 9) for number in range(count)]


def as_read(raws: Sequence[bytes]) -> list[Read]:
    return [read(raw, with_readable=True) for raw in raws]


def dies(raws: bytes, sizes: Sequence[int], with_readable: bool) -> list[bytes | None]:
    os._exit(3)


def reads_none(raws: bytes, sizes: Sequence[int], with_readable: bool) -> list[bytes | None]:
    return [None for _ in sizes]


async def test_many_small_ones_are_parsed_in_a_worker_once_it_is_there(parser: Parser, threads: Counting) -> None:
    raws = mails(MANY)
    assert await parser.parse_all(raws) == as_read(raws)
    assert threads.parsed == MANY
    await parser.warm_up()
    assert await parser.parse_all(raws) == as_read(raws)
    assert threads.parsed == MANY


async def test_few_are_parsed_in_a_thread_all_the_same(parser: Parser, threads: Counting) -> None:
    await parser.warm_up()
    raws = mails(PARSED_TOGETHER - 1)
    assert await parser.parse_all(raws) == as_read(raws)
    assert threads.parsed == len(raws)


async def test_one_processor_parses_in_threads(
    parser: Parser, threads: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    await parser.warm_up()
    await parser.parse_all(mails(MANY))
    assert threads.parsed == MANY


@pytest.mark.thorough
async def test_where_a_worker_dies_of_one_each_is_parsed_alone(
    parser: Parser, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    await parser.warm_up()
    monkeypatch.setattr(parsing, "read_each", dies)
    raws = mails(PARSED_TOGETHER)
    assert await parser.parse_all(raws) == as_read(raws)
    assert [one["messages"] for one in log.records if one["event"] == "mail.parse_apart"] == [PARSED_TOGETHER]


@pytest.mark.thorough
async def test_what_a_worker_can_not_read_is_read_here_which_tells_why(
    parser: Parser, threads: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    await parser.warm_up()
    monkeypatch.setattr(parsing, "read_each", reads_none)
    raws = mails(PARSED_TOGETHER)
    assert await parser.parse_all(raws) == as_read(raws)
    assert threads.parsed == PARSED_TOGETHER
