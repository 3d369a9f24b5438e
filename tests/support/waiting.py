"""The one way to wait on real time: ask again and again until something holds, and say what was waited for if not.

It is only for what has no event: another process, its files, a state that the code shows and does not announce. Where
there is an event, wait for it. Tests without an event loop have an ``until`` in :mod:`tests.support.process` and
:mod:`tests.support.browser`. Tests on virtual time may sleep.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Final, TypeVar, overload

import trio

from tests.sizes import HANGS_S

T = TypeVar("T")
LOOK_AGAIN_S: Final = 0.02
PAUSE_GROWS: Final = 1.2


@overload
async def until(
    holds: Callable[[], Awaitable[T]],
    *,
    what: str,
    within_s: float = HANGS_S,
    longest_pause_s: float = LOOK_AGAIN_S,
    tell: Callable[[], object] = str,
) -> T: ...
@overload
async def until(
    holds: Callable[[], T],
    *,
    what: str,
    within_s: float = HANGS_S,
    longest_pause_s: float = LOOK_AGAIN_S,
    tell: Callable[[], object] = str,
) -> T: ...
async def until(
    holds: Callable[[], Any],
    *,
    what: str,
    within_s: float = HANGS_S,
    longest_pause_s: float = LOOK_AGAIN_S,
    tell: Callable[[], object] = str,
) -> Any:
    """What ``holds`` returns, once that is true. It may be asynchronous.

    ``what`` completes "waited for …"; ``tell`` says how it stands when the time is over. On virtual time, where days
    pass, the pauses may grow to ``longest_pause_s``.
    """
    pause_s = LOOK_AGAIN_S
    with trio.move_on_after(within_s):
        while True:
            found = holds()
            if isawaitable(found):
                found = await found
            if found:
                return found
            await trio.sleep(pause_s)
            pause_s = min(pause_s * PAUSE_GROWS, longest_pause_s)
    raise AssertionError(f"waited {within_s:g} s for {what}: {tell()}")
