"""Messages got ahead of being asked for: whoever asks for one of those that are expected gets those after it as well.

Theory: one request for many costs Google's quota the same as many requests, and one round trip. What did not come with
it is asked for alone by whoever wants it, so that each fault is met, and worded, in one place. Owns what is expected,
on its way and here; it asks nobody itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import trio

from svc.protocol.egress import EgressResponse

TOGETHER_MAX: Final = 50
"""Google takes 100 and advises no more than these: what comes in larger ones is more often refused for its rate."""

TOGETHER_MIN: Final = 3
"""Fewer are asked for one by one, several at a time."""

GetMany = Callable[[list[str]], Awaitable[dict[str, EgressResponse]]]


@dataclass(kw_only=True)
class Ahead:
    together: int = TOGETHER_MAX
    """So many at a time; less than two: never."""
    _expected: dict[str, None] = field(default_factory=dict)
    _on_the_way: dict[str, trio.Event] = field(default_factory=dict)
    _here: dict[str, EgressResponse] = field(default_factory=dict)

    def expect(self, message_ids: Iterable[str]) -> None:
        """These, in this order, and nothing that was expected before."""
        self._expected = dict.fromkeys(message_ids)
        self._here.clear()

    def less(self) -> None:
        """They are too large together."""
        self.together //= 2

    def never(self) -> None:
        """Nobody answers such requests there."""
        self.together = 0

    async def take(self, message_id: str, get_many: GetMany, *, at_most: int) -> EgressResponse | None:
        """The answer, if it is here or comes with others now. ``at_most``: so many may be asked for at the moment."""
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
            if expected is self._expected:  # nobody expects others by now
                self._here.update(answers)
        finally:
            for one in wanted:
                if self._on_the_way.get(one) is come:
                    del self._on_the_way[one]
            come.set()
