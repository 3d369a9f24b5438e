"""An agent as its page defines it: instructions, tools, which calls need approval, and when it starts by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, Millis
from svc.tools import Approval

FOLDER: Final = "agents"
DEFAULT_TOOLS: Final = (
    "pages.*",
    "mail.*",
    "people.*",
    "tasks.*",
    "files.*",
    "memory.*",
    "http.fetch",
)
MAX_TURNS: Final = 60
"""How often one run asks a model. Beyond: the run fails, and says so."""
MAX_PROMPT_CHARS: Final = 50_000
"""Characters of one prompt for an agent. Beyond: 400 `invalid`."""
MAX_CEILING_DOLLARS: Final = 1_000
"""The ceiling that a page may set for one run of its agent. Beyond: the page is broken."""
MAX_INPUT_BYTES: Final = 100 * 1024
"""The input of an agent's run, as JSON. Beyond: 400 `invalid`."""
TRIGGERED_AN_HOUR: Final = 60
"""Runs that triggers begin of one agent in an hour. Beyond: none is begun; its settings and the log say so."""
OPEN_AT_ONCE: Final = 20
"""Runs of one agent that began by themselves and have not ended, such as those that wait for a person. Beyond: triggers
begin none, and its schedule waits; its settings and the log say so."""
OPEN_AT_MOST_MS: Final = 30 * DAY_MS
"""Runs that began earlier are not looked for: whatever they waited for has ended."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """At an interval, or at a minute of the day (UTC), on every day or on one day of the week (Monday is 0)."""

    every_ms: Millis = 0
    minute: int = 0
    weekday: int | None = None
    said: str = ""
    """As the page writes it."""

    def after(self, now: Millis) -> Millis:
        """The next time after ``now``."""
        if self.every_ms:
            return now - now % self.every_ms + self.every_ms
        at = now - now % DAY_MS + self.minute * MINUTE_MS
        while at <= now or (self.weekday is not None and (at // DAY_MS + _EPOCH_WEEKDAY) % 7 != self.weekday):
            at += DAY_MS
        return at


_EPOCH_WEEKDAY: Final = 3  # 1 January 1970 was a Thursday
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
UNITS: Final[Mapping[str, Millis]] = {"minute": MINUTE_MS, "hour": HOUR_MS, "day": DAY_MS}
LEAST_EVERY_MS: Final = 5 * MINUTE_MS


@dataclass(frozen=True, kw_only=True)
class Definition:
    """``triggers``: ``mail``, or ``page:`` and a pattern of paths. ``model``: ``None`` for the instance's model.
    ``ceiling_micros``: what one run may cost, in millionths of a dollar; the instance's ceiling holds too.
    """

    instructions: str
    model: str | None = None
    tools: tuple[str, ...] = DEFAULT_TOOLS
    approvals: Mapping[str, Approval]
    schedule: Schedule | None = None
    triggers: tuple[str, ...] = ()
    ceiling_micros: int | None = None
