"""SIGTERM and SIGINT drain; a second one cuts short; afterwards the handlers are given back."""

from __future__ import annotations

import signal
from functools import partial

import pytest
import trio

from svc.nursery import Root, open_task_group, watch_signals
from svc.nursery.signals import DRAIN_SIGNALS
from tests.nursery.conftest import Diary


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_drains(root: Root, diary: Diary, number: signal.Signals) -> None:
    await _serve(root, diary, [number])
    assert diary.entries == ["http finished at 4", "store ends"]


async def test_a_second_signal_of_either_kind_cuts_the_drain_short(root: Root, diary: Diary) -> None:
    await _serve(root, diary, [signal.SIGINT, signal.SIGTERM])
    assert diary.entries == ["http cut off at 2", "store ends"]


async def test_any_more_signals_change_nothing(root: Root, diary: Diary) -> None:
    await _serve(root, diary, [signal.SIGINT, *[signal.SIGTERM] * 3])
    assert diary.entries == ["http cut off at 2", "store ends"]


async def test_the_handlers_are_given_back_or_to_the_end_stay_ignored(root: Root) -> None:
    before = {number: signal.getsignal(number) for number in DRAIN_SIGNALS}
    try:
        for to_the_end, after in ((False, before), (True, dict.fromkeys(before, signal.SIG_IGN))):
            async with trio.open_nursery() as nursery:
                await nursery.start(partial(watch_signals, to_the_end=to_the_end), root)
                nursery.cancel_scope.cancel()
            assert {number: signal.getsignal(number) for number in before} == after
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _serve(root: Root, diary: Diary, signals: list[signal.Signals]) -> None:
    """A root with four seconds of work, and a signal after each second."""
    async with open_task_group() as watching:
        await watching.start(watch_signals, root)
        async with open_task_group() as serving:
            await serving.start(root.run, [diary.plain("store"), diary.working("http", work_s=4)])
            diary.entries.clear()
            for number in signals:
                await trio.sleep(1)
                signal.raise_signal(number)
        watching.cancel_scope.cancel()
