"""The state of the archive in one boot: its target, its progress, and its problems.

Owns that state, in memory, and the notices about a problem that begins or ends: each is sent once, to admins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

import trio

from svc.backup.catalogue import Catalogue
from svc.backup.litestream import Litestream
from svc.backup.moments import Moment
from svc.backup.target import Target
from svc.clock import Clock, Millis
from svc.log import Log
from svc.nursery import Wake
from svc.store import ADMINS, Store, Tx

TOPIC: Final = "backup"
NOTICES: Final = "notifications"

Part = Literal["archiver", "base backup", "archive check", "drill"]

PARTS: Final[tuple[Part, ...]] = ("archiver", "base backup", "archive check", "drill")


@dataclass(kw_only=True)
class Archive:
    """``tool`` is set once the program was found. ``synced_at``: the target has all that was committed before."""

    target: Target
    catalogue: Catalogue
    store: Store
    clock: Clock
    log: Log
    tool: Litestream | None = None
    version: str = ""
    synced_at: Millis | None = None
    unsent_bytes: int = 0
    runs: bool = False
    is_on_the_same_disk: bool = False
    """As the database; found out when the archiver starts."""
    changed: Wake = field(default_factory=Wake)
    """Called once the archiver runs, for tasks that wait for that."""
    _moved: float | None = None
    """``synced_at`` by Trio's clock, because the wall clock may be set to any time; before, when archiving began."""
    _problems: dict[Part, str] = field(default_factory=dict)

    @property
    def lag_s(self) -> float | None:
        """How much would be lost now, in seconds; ``None`` before anything was sent."""
        return None if self.synced_at is None else self.still_s()

    def begins(self) -> None:
        """Note that the archiver starts. The time without progress counts from the first start."""
        if self._moved is None:
            self._moved = trio.current_time()

    def synced(self, moment: Moment) -> None:
        self.synced_at, self._moved = moment.at, moment.since

    def still_s(self) -> float:
        """For how many seconds the target may lack what was committed, as far as known; without the time in which the
        machine slept."""
        return 0.0 if self._moved is None else trio.current_time() - self._moved

    @property
    def problem(self) -> str | None:
        """The first problem of archiving itself."""
        return next((self._problems[part] for part in PARTS[:3] if part in self._problems), None)

    def problem_of(self, part: Part) -> str | None:
        return self._problems.get(part)

    def recall(self, part: Part, problem: str) -> None:
        """Set a problem of an earlier start, about which admins were told then."""
        self._problems[part] = problem

    async def note(self, part: Part, problem: str | None) -> None:
        """Set or clear the problem of a part. One that begins or ends is sent to admins; one that begins is also
        logged."""
        before = self._problems.get(part)
        if problem is None:
            self._problems.pop(part, None)
        else:
            self._problems[part] = problem
        if (before is None) == (problem is None):
            return
        if problem is not None:
            self.log.warning("backup.problem", part=part, problem=problem)
        await self.store.write(_tell, part, problem)


def _tell(tx: Tx, part: Part, problem: str | None) -> None:
    device = "system:backup"
    text = f"Backup, {part}: {problem}." if problem else f"Backup, {part}: it works again."
    tx.emit(
        topic=TOPIC, kind="status.changed", id=part, payload={"problem": problem}, audience=ADMINS, device_id=device
    )
    tx.emit(
        topic=NOTICES,
        kind="notice",
        id=f"backup:{part}",
        payload={"text": text, "href": "/settings/backups", "bad": problem is not None},
        audience=ADMINS,
        device_id=device,
    )
