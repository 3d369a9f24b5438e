"""The archive of one boot, as its parts and others see it: where it goes, how it fares, what is wrong.

Owns that state, in memory, and the news of a problem that comes or goes: each is told once, to admins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from svc.backup.catalogue import Catalogue
from svc.backup.litestream import Litestream
from svc.backup.target import Target
from svc.clock import SECOND_MS, Clock, Millis
from svc.log import Log
from svc.nursery import Wake
from svc.store import ADMINS, Store, Tx

TOPIC: Final = "backup"
NOTICES: Final = "notifications"

Part = Literal["archiver", "base backup", "recovery points", "drill"]

PARTS: Final[tuple[Part, ...]] = ("archiver", "base backup", "recovery points", "drill")


@dataclass(kw_only=True)
class Archive:
    """``tool`` is there once the program was found. ``synced_at``: when the target last had all there was to send."""

    target: Target
    catalogue: Catalogue
    store: Store
    clock: Clock
    log: Log
    tool: Litestream | None = None
    version: str = ""
    synced_at: Millis | None = None
    began_at: Millis | None = None
    unsent_bytes: int = 0
    runs: bool = False
    changed: Wake = field(default_factory=Wake)
    """Called once it runs, for those who wait for that."""
    _problems: dict[Part, str] = field(default_factory=dict)

    @property
    def lag_s(self) -> float | None:
        """How much would be lost now, in seconds; ``None`` before anything was sent."""
        if self.synced_at is None:
            return None
        return max(0, self.clock.now() - self.synced_at) / SECOND_MS

    @property
    def problem(self) -> str | None:
        """The first thing that is wrong with archiving itself."""
        return next((self._problems[part] for part in PARTS[:3] if part in self._problems), None)

    def problem_of(self, part: Part) -> str | None:
        return self._problems.get(part)

    async def note(self, part: Part, problem: str | None) -> None:
        """How that part fares now. One that was not known is logged, and told to admins."""
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
