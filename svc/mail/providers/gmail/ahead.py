"""Fetches messages ahead: a call for one expected message also fetches the expected messages after it.

Theory: one batch request costs the same quota at Google as single requests, but only one round trip. A message that did
not come with the batch is fetched alone by its caller, so each fault is handled, and worded, in one place. Owns which
messages are expected, requested and fetched. It makes no request itself: the caller passes ``get_many``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import trio

from svc.protocol.egress import EgressResponse

TOGETHER_MAX: Final = 50
"""Google accepts 100 in a batch and advises at most 50: parts of larger batches are refused more often (rate limit)."""

TOGETHER_MIN: Final = 3
"""Fewer messages are fetched by single requests, several at a time."""

GetMany = Callable[[list[str]], Awaitable[dict[str, EgressResponse]]]


@dataclass(kw_only=True)
class Ahead:
    together: int = TOGETHER_MAX
    """The largest batch now. Below :data:`TOGETHER_MIN` there are no batches."""
    _expected: dict[str, None] = field(default_factory=dict)
    _on_the_way: dict[str, trio.Event] = field(default_factory=dict)
    _here: dict[str, EgressResponse] = field(default_factory=dict)

    def expect(self, message_ids: Iterable[str]) -> None:
        """Expects these messages, in this order, in place of those that were expected before."""
        self._expected = dict.fromkeys(message_ids)
        self._here.clear()

    def less(self) -> None:
        """Halves the batch size: the messages were too large together."""
        self.together //= 2

    def never(self) -> None:
        """Stops batches: the server does not support them."""
        self.together = 0

    async def take(self, message_id: str, get_many: GetMany, *, at_most: int) -> EgressResponse | None:
        """The answer for a message, if it was fetched already or comes in a batch now. ``at_most``: how many messages
        may be requested at the moment."""
        if message_id in self._expected:
            wanted = self._next(message_id, min(at_most, self.together))
            if len(wanted) >= TOGETHER_MIN:
                await self._get(wanted, get_many)
            self._expected.pop(message_id, None)
        elif message_id in self._on_the_way:
            await self._on_the_way[message_id].wait()
        return self._here.pop(message_id, None)

    def _next(self, message_id: str, count: int) -> list[str]:
        others = (one for one in self._expected if one != message_id)
        return [message_id, *(one for one, _ in zip(others, range(count - 1), strict=False))]

    async def _get(self, wanted: list[str], get_many: GetMany) -> None:
        come = trio.Event()
        expected = self._expected
        for one in wanted:
            expected.pop(one, None)
            self._on_the_way[one] = come
        try:
            answers = await get_many(wanted)
            if expected is self._expected:  # expect() was not called in the meantime
                self._here.update(answers)
        finally:
            for one in wanted:
                if self._on_the_way.get(one) is come:
                    del self._on_the_way[one]
            come.set()
