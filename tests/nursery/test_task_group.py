"""Several tasks that fail in one step raise one fault."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import pytest
import trio

from svc.nursery import open_task_group


class ProviderFault(Exception):
    pass


async def fail_after(seconds: float, fault: BaseException) -> None:
    await trio.sleep(seconds)
    raise fault


async def together(*tasks: Callable[[], Awaitable[None]]) -> None:
    async with open_task_group() as group:
        for task in tasks:
            group.start_soon(task)


async def test_a_fault_of_a_task_comes_out_as_it_is() -> None:
    with pytest.raises(ProviderFault, match="first") as caught:
        await together(
            partial(fail_after, 1, ProviderFault("first")),
            partial(fail_after, 2, ProviderFault("second")),
        )
    assert not hasattr(caught.value, "__notes__")
    assert trio.current_time() == 1


async def test_a_fault_of_the_body_comes_out_as_it_is() -> None:
    fault = ProviderFault("body")

    async def nested() -> None:
        async with open_task_group() as group, open_task_group():
            group.start_soon(trio.sleep_forever)
            raise fault

    with pytest.raises(ProviderFault) as caught:
        await nested()
    assert caught.value is fault


async def test_of_two_faults_the_first_comes_out_and_tells_of_the_other() -> None:
    async def fail_in_turn(fault: Exception) -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise fault

    with pytest.raises(ProviderFault, match="first") as caught:
        await together(
            partial(fail_in_turn, ProviderFault("second")),
            partial(fail_after, 1, ProviderFault("first")),
        )
    assert caught.value.__notes__ == ["faults that followed in tasks beside this one: 1"]


async def test_its_cause_is_kept() -> None:
    fault = ProviderFault("first")
    fault.__cause__ = OSError("reset")
    with pytest.raises(ProviderFault) as caught:
        await together(partial(fail_after, 1, fault))
    assert isinstance(caught.value.__cause__, OSError)


async def test_a_cancellation_ends_it_quietly() -> None:
    with trio.move_on_after(5) as scope:
        async with open_task_group() as group:
            group.start_soon(trio.sleep_forever)
            await trio.sleep_forever()
    assert scope.cancelled_caught


async def test_a_fault_during_a_cancellation_is_not_lost() -> None:
    async def fail_on_the_way_out() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ProviderFault("late")

    with pytest.RaisesGroup(ProviderFault, flatten_subgroups=True):
        with trio.move_on_after(5):
            async with open_task_group() as group:
                group.start_soon(fail_on_the_way_out)
                group.start_soon(trio.sleep_forever)
