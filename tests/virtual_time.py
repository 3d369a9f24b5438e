"""Every async test runs on a ``MockClock`` that jumps, without asking; ``@pytest.mark.wall_clock`` opts out.

pytest-trio takes a clock only from the arguments of the test itself, so an autouse fixture alone does nothing, and one
that becomes asynchronous hides the clock without a word; for hypothesis it takes none. So the runner is ours, and it
fails a test rather than run it on the wrong time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any

import pytest
import trio
from trio.abc import Instrument
from trio.testing import MockClock

MARKER = "wall_clock"


def clock_for(*, real: bool, fixtures: Mapping[str, object]) -> MockClock | None:
    """The clock a test must run on: the one its fixtures see, so that moving it moves the test."""
    clock = fixtures.get("clock")
    if real:
        if clock is not None:
            pytest.fail(f"a test marked {MARKER} has no mock clock to offer")
        return None
    if not isinstance(clock, MockClock):
        pytest.fail(f"the fixture `clock` must be a MockClock, and something made it {clock!r}")
    return clock


def put_on_virtual_time(item: pytest.Item) -> None:
    """Have pytest-trio run this async test with our runner. Its own marker, which comes later, then has no say."""

    def run(
        main: Callable[[], Awaitable[object]], *, clock: object = None, instruments: Sequence[Instrument] = ()
    ) -> object:
        fixtures: Mapping[str, object] = getattr(item, "funcargs", {})
        return trio.run(main, clock=clock_for(real=_is_real(item), fixtures=fixtures), instruments=instruments)

    item.add_marker(pytest.mark.trio(run=run))


def put_examples_on_virtual_time(item: pytest.Item) -> None:
    """The same for an async property test: each example has a run and a clock of its own."""
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    if handle is None or getattr(handle.inner_test, "_trio_test_runner_wrapped", False):
        return
    inner = handle.inner_test

    @wraps(inner)
    def one_example(**kwargs: Any) -> None:
        clock = None if _is_real(item) else MockClock(autojump_threshold=0)
        trio.run(partial(inner, **kwargs), clock=clock)

    one_example._trio_test_runner_wrapped = True  # type: ignore[attr-defined]  # pytest-trio's own mark: leave it alone
    handle.inner_test = one_example


async def hours_pass(clock: MockClock, hours: float) -> None:
    """In jumps of a quarter of an hour, each with a minute in which all that came due is done. A service that sleeps
    through an hour looks hundreds of times whether there is anything to do.
    """
    for _ in range(round(hours * 4)):
        clock.jump(14 * 60)
        await trio.sleep(60)


def _is_real(item: pytest.Item) -> bool:
    return item.get_closest_marker(MARKER) is not None
