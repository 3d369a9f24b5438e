"""What every test gets: virtual time, a log to read, a thread pool, and a guard against what is left running."""

from __future__ import annotations

import gc
import os
import random
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from inspect import iscoroutinefunction
from multiprocessing import resource_tracker
from pathlib import Path

import pytest
from hypothesis import settings
from trio.testing import MockClock

from svc.clock import VirtualClock
from svc.nursery import ThreadPool
from tests import shares, sizes, virtual_time
from tests.chance import seeded
from tests.dawdling import dawdle
from tests.peers.needs import check_marked
from tests.recorded_log import RecordedLog, StoppedClock
from tests.stalled import StallAlarm
from tests.support.service import Service, open_service
from tests.support.warm import started_processes, warm_processes

YOUNG_OBJECTS = 50_000
"""So many more of them begin a collection. The usual 700 spend a tenth of the tests' time."""

JOURNEYS_END_AT = 0.7
"""The last journey begins when so much of the other files is done."""

settings.register_profile("ours", max_examples=sizes.EXAMPLES, deadline=None, suppress_health_check=sizes.NO_SPEED)
settings.load_profile("ours")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{virtual_time.MARKER}: runs on real time, for what only real time can show")
    if config.getoption("numprocesses", None) and not sizes.SOAK:  # the process that gives out the tests
        config.pluginmanager.register(StallAlarm())


def in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """Files that wait beside files that work: journeys wait for other processes most of their time, so they come evenly
    between the others, and none among the last, where one process would end alone with it. Files of ``tests/web`` stay
    together, since they share a browser, and come last, their longest first.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    in_web = [file for path, file in files.items() if path.parent.name == "web"]
    in_web.sort(key=lambda file: not _any_is(file, "look"))
    elsewhere = [file for path, file in files.items() if path.parent.name != "web"]
    return [item for part in (elsewhere, in_web) for file in _spread(part) for item in file]


def _spread(files: list[list[pytest.Item]]) -> list[list[pytest.Item]]:
    waiting = [file for file in files if _any_is(file, "journey")]
    working = [file for file in files if not _any_is(file, "journey")]
    ordered: list[tuple[float, list[pytest.Item]]] = [(place, file) for place, file in enumerate(working, start=1)]
    for number, file in enumerate(waiting):
        ordered.append((number / len(waiting) * len(working) * JOURNEYS_END_AT, file))
    return [file for _, file in sorted(ordered, key=lambda one: one[0])]


def _any_is(file: list[pytest.Item], kind: str) -> bool:
    return any(item.get_closest_marker(kind) is not None for item in file)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if (run := getattr(config, "workerinput", {}).get("testrunuid")) and not sizes.SOAK:
        items[:] = shares.draw(items, run)
    for item in items:
        if iscoroutinefunction(getattr(item, "obj", None)):
            virtual_time.put_on_virtual_time(item)
    items[:] = in_order(items)


def pytest_collection_finish() -> None:
    """What is loaded by now stays to the end: no collection of garbage needs to look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    check_marked(item)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    if item.get_closest_marker("trio") is not None:
        virtual_time.put_examples_on_virtual_time(item)
    return (yield)


@pytest.fixture(autouse=True)
def clock(request: pytest.FixtureRequest) -> MockClock | None:
    """The clock the test runs on. It jumps whenever every task sleeps; ``clock.jump(seconds)`` moves it by hand."""
    real = request.node.get_closest_marker(virtual_time.MARKER) is not None
    return None if real else MockClock(autojump_threshold=0)


@pytest.fixture
def wall() -> VirtualClock:
    """What time it is, following ``clock``. ``wall.offset_ms`` makes it jump alone."""
    return VirtualClock()


@pytest.fixture
def log(request: pytest.FixtureRequest, wall: VirtualClock) -> RecordedLog:
    is_async = request.node.get_closest_marker("trio") is not None
    return RecordedLog(wall if is_async else StoppedClock())


@pytest.fixture
def chance() -> random.Random:
    """Random choices, new in each run; a test that fails says how to make them again."""
    return seeded()


@pytest.fixture
def threads() -> ThreadPool:
    return ThreadPool(limit=8, name="test")


@pytest.fixture
async def service(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    """The whole service in-process, with the fake providers and nothing in it yet."""
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as opened:
        yield opened


@pytest.fixture(autouse=sizes.DAWDLES)
def _tasks_dawdle(monkeypatch: pytest.MonkeyPatch) -> None:
    dawdle(monkeypatch, seeded())


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    """No test leaves a thread or a process behind. Tasks can't be left: a trio run ends with its last one."""
    threads_before, processes_before = _threads(), _processes()
    yield
    assert not (_threads() - threads_before), "the test left threads running"
    assert not (_processes() - processes_before), "the test left processes running"


def _threads() -> set[threading.Thread]:
    """Without trio's cache of idle threads, which it ends itself, and those of the browser driver's own loop."""
    return {thread for thread in threading.enumerate() if not thread.name.startswith(("Trio thread", "asyncio"))}


def _processes() -> set[int]:
    """Children of this process; without the standard library's tracker, which stays. None where there is no /proc."""
    tracker = getattr(resource_tracker, "_resource_tracker")  # noqa: B009  private, and untyped
    children: set[int] = set()
    tasks = f"/proc/{os.getpid()}/task"
    for task in os.listdir(tasks) if os.path.isdir(tasks) else ():  # plain calls: it is done twice for each test
        # An idle thread may end while we look.
        with suppress(FileNotFoundError, ProcessLookupError), open(f"{tasks}/{task}/children") as file:
            children |= {int(pid) for pid in file.read().split()}
    return children - {tracker._pid} - warm_processes() | started_processes()
