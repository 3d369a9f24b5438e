"""Changes that the provider confirmed during a read from it: they are applied on top of the older answer.

Theory: a queued change is applied on top of everything that the provider reports. The queue deletes it once it is
confirmed. But an answer that the provider gave before that, and that is still being processed, does not contain the
change, and would take it back. So a reader declares when it begins to read, and gets all changes confirmed since then.

Kept in memory only, because the answers are lost with the process, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from svc.mail.model import LabelChange

Since = Callable[[], tuple[LabelChange, ...]]
"""Returns the changes that were confirmed from the beginning of a read until this call."""


@dataclass(kw_only=True)
class Confirmed:
    """The changes of one account that were confirmed while something was being read."""

    _rows: list[LabelChange] = field(default_factory=list)
    _readers: int = 0

    def note(self, rows: Sequence[LabelChange]) -> None:
        """Note confirmed changes. Call it before they are deleted from the queue."""
        if self._readers:
            self._rows.extend(rows)

    @contextmanager
    def reading(self) -> Iterator[Since]:
        """A context for reading from the provider and for all that is done with the answer."""
        start = len(self._rows)
        self._readers += 1
        try:
            yield lambda: tuple(self._rows[start:])
        finally:
            self._readers -= 1
            if not self._readers:
                self._rows.clear()
