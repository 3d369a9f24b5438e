"""What the provider confirmed while something was being read from it: it stands on top of what was read before.

Theory: a change made here lies on top of whatever the provider tells as long as it is queued. Once it is confirmed the
queue forgets it; but an answer that the provider gave before, and that is still being worked through, knows nothing of
it, and would take it back. So whoever reads says when the reading began, and gets what was confirmed since.

Kept in memory only: what was read dies with the process, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from svc.mail.model import LabelChange

Since = Callable[[], tuple[LabelChange, ...]]
"""What was confirmed since a reading began, as of now."""


@dataclass(kw_only=True)
class Confirmed:
    """Of one account."""

    _rows: list[LabelChange] = field(default_factory=list)
    _readers: int = 0

    def note(self, rows: Sequence[LabelChange]) -> None:
        """Before they leave the queue."""
        if self._readers:
            self._rows.extend(rows)

    @contextmanager
    def reading(self) -> Iterator[Since]:
        """Around a reading and all that is done with it."""
        start = len(self._rows)
        self._readers += 1
        try:
            yield lambda: tuple(self._rows[start:])
        finally:
            self._readers -= 1
            if not self._readers:
                self._rows.clear()
