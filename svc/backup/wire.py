"""The wire types of backup: what an admin sees of it."""

from __future__ import annotations

from svc.backup.catalogue import Base, DrillState
from svc.backup.points import Point
from svc.clock import Millis, rfc3339
from svc.protocol import Wire

POINTS_SHOWN = 500


class Empty(Wire, frozen=True):
    pass


class ArchivingOut(Wire, frozen=True):
    """``lastAt``: when the target last had everything. ``unsentBytes`` are still waiting here.
    ``sameDisk``: the target is a folder on the disk of the home, and lost with it."""

    enabled: bool
    target: str | None
    last_at: str | None
    lag_seconds: float | None
    problem: str | None
    version: str | None
    unsent_bytes: int
    same_disk: bool


class BaseOut(Wire, frozen=True):
    id: str
    at: str
    bytes: int


class ReplicaOut(Wire, frozen=True):
    enabled: bool
    pending: int
    failed: int
    last_at: str | None
    problem: str | None


class PointOut(Wire, frozen=True):
    """``complete``: archive and replica both had the complete moment when it was made, and no drill contradicts it."""

    at: str
    id: str
    complete: bool
    blobs: int
    bytes: int


class SnapshotOut(Wire, frozen=True):
    id: str
    at: str


class DrillOut(Wire, frozen=True):
    """``point``: the newest one, or the one that has the problem. ``older``: the time of the other one of
    which the database was restored, too."""

    at: str
    ok: bool
    seconds: float
    problem: str | None
    point: str
    older: str | None


class RestoreOut(Wire, frozen=True):
    """The last restore that was asked for in the app. ``lines``: its steps, the newest last."""

    into: str
    at: str
    running: bool
    lines: tuple[str, ...]
    notes: tuple[str, ...]
    problem: str | None


class RecoveryOut(Wire, frozen=True):
    """``confirmed``: a person has typed the code again from their written copy."""

    at: str
    confirmed: bool


class StatusOut(Wire, frozen=True):
    """``waitsFor``: why there is no newer recovery point. ``recoveryCode``: of the copy of the master key in the
    archive; ``fingerprint``: of the key that signs recovery points. ``baseBegunAt``: of the base backup
    that is being sent; ``nextAt``: the next one."""

    archiving: ArchivingOut
    base_backups: tuple[BaseOut, ...]
    replica: ReplicaOut
    recovery_points: tuple[PointOut, ...]
    point_count: int
    snapshots: tuple[SnapshotOut, ...]
    drill: DrillOut | None
    drill_enabled: bool
    waits_for: str | None
    recovery_code: RecoveryOut | None
    fingerprint: str | None
    base_begun_at: str | None
    next_at: str | None
    restore: RestoreOut | None


class CodeOut(Wire, frozen=True):
    code: str
    fingerprint: str


class ConfirmIn(Wire, frozen=True):
    code: str


class RestoreIn(Wire, frozen=True):
    """``at``: the wanted moment (RFC 3339); ``point``: the id of a recovery point; neither: the newest state."""

    at: str | None = None
    point: str | None = None


class RestoreBegunOut(Wire, frozen=True):
    into: str


def base_out(base: Base) -> BaseOut:
    return BaseOut(id=base.id, at=rfc3339(base.at), bytes=base.bytes)


def point_out(point: Point, *, broken: frozenset[str]) -> PointOut:
    return PointOut(
        at=point.when,
        id=point.id,
        complete=point.id not in broken,
        blobs=point.blobs.count,
        bytes=point.blobs.bytes,
    )


def drill_out(state: DrillState | None) -> DrillOut | None:
    if state is None:
        return None
    return DrillOut(
        at=rfc3339(state.at),
        ok=state.problem is None,
        seconds=state.seconds,
        problem=state.problem,
        point=state.point,
        older=time_out(state.older),
    )


def time_out(at: Millis | None) -> str | None:
    return None if at is None else rfc3339(at)
