"""A log whose records a test can read, exactly as they were written: JSON, redacted."""

from __future__ import annotations

import json
from io import StringIO

from svc.clock import Clock, Millis
from svc.log import Log


class StoppedClock:
    """Always the same moment, for tests without a loop."""

    def now(self) -> Millis:
        return 1_793_088_000_000  # 2026-10-27T08:00:00Z


class RecordedLog(Log):
    """Records everything from ``debug`` up."""

    def __init__(self, clock: Clock) -> None:
        self._text = StringIO()
        super().__init__(self._text, readable=False, clock=clock, level="debug")

    @property
    def records(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self._text.getvalue().splitlines()]

    @property
    def text(self) -> str:
        return self._text.getvalue()

    def events(self, *levels: str) -> list[str]:
        """The names of what was logged, in order; only at ``levels`` if given."""
        return [str(record["event"]) for record in self.records if not levels or record["level"] in levels]
