"""SIGTERM and SIGINT drain; a second one cuts short; afterwards the handlers are given back."""

from __future__ import annotations

import signal

import pytest
import trio

from svc.nursery import Root, open_task_group, watch_signals
from tests.nursery.conftest import Diary


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_drains(root: Root, diary: Diary, number: signal.Signals) -> None:
    await _serve(root, diary, [number])
    assert diary.entries == ["http finished at 4", "store ends"]


async def test_a_second_signal_of_either_kind_cuts_the_drain_short(root: Root, diary: Diary) -> None:
    await _serve(root, diary, [signal.SIGINT, signal.SIGTERM])
    assert diary.entries == ["http cut off at 2", "store ends"]


async def test_after_two_signals_the_third_is_the_systems(root: Root) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    async with trio.open_nursery() as nursery:
        await nursery.start(watch_signals, root)
        for number, handler in before.items():
            assert signal.getsignal(number) is not handler
            signal.raise_signal(number)
    assert {number: signal.getsignal(number) for number in before} == before


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
