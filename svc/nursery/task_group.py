"""A nursery for tasks that together are one step: the caller of the step gets its exception, not a group around it.

Owns the rule which exception that is. Where each of several exceptions matters, use trio's own nursery.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio


@asynccontextmanager
async def open_task_group() -> AsyncIterator[trio.Nursery]:
    """A nursery that raises the first exception of its tasks directly, so that a caller's ``except`` catches it.

    Later exceptions, which the first one mostly caused, are counted in a note. If a cancellation or an interrupt is
    among them, trio's own behaviour applies.
    """
    try:
        async with trio.open_nursery() as nursery:
            yield nursery
        return
    except BaseExceptionGroup as group:
        fault = first_fault(group)
    raise fault


def first_fault(group: BaseException) -> BaseException:
    """The first exception in a group, however deep; the group itself if an interrupt is in it."""
    fault = group
    while isinstance(fault, BaseExceptionGroup) and (len(fault.exceptions) == 1 or isinstance(fault, ExceptionGroup)):
        if len(fault.exceptions) > 1:
            fault.exceptions[0].add_note(f"faults that followed in tasks beside this one: {len(fault.exceptions) - 1}")
        fault = fault.exceptions[0]
    return fault
