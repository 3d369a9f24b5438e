"""A nursery for tasks that together are one step: whoever awaits the step gets its fault, not a group around it.

Owns the rule of which fault that is. Where several faults matter each by itself, use trio's own nursery.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio


@asynccontextmanager
async def open_task_group() -> AsyncIterator[trio.Nursery]:
    """A nursery that raises the first fault of its tasks as it is, so that a caller's ``except`` meets it.

    Later faults, which the first one mostly caused, are counted in a note. A cancellation or an interrupt among
    them goes on in trio's own way.
    """
    try:
        async with trio.open_nursery() as nursery:
            yield nursery
        return
    except BaseExceptionGroup as group:
        fault = first_fault(group)
    raise fault


def first_fault(group: BaseException) -> BaseException:
    """What happened first in a group of exceptions, however deep; the group itself if an interrupt is in it."""
    fault = group
    while isinstance(fault, BaseExceptionGroup) and (len(fault.exceptions) == 1 or isinstance(fault, ExceptionGroup)):
        if len(fault.exceptions) > 1:
            fault.exceptions[0].add_note(f"faults that followed in tasks beside this one: {len(fault.exceptions) - 1}")
        fault = fault.exceptions[0]
    return fault
