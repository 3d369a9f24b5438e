"""The rows of the replica: blobs to upload, stored blobs, and blobs to remove. Nothing here knows the network.

A blob is ``waiting`` until the target has it, then ``held``. A blob that no row names is ``unnamed``: it gets a
tombstone, and seven days later it is ``deleting`` for the moment of its removal. In both states, a new name makes it
``waiting`` again: by a trigger in the commit that names it, or by the nightly full check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from svc.clock import DAY_MS, Millis
from svc.store import ADMINS, Invariant, ReadTx, Tx, json_array

NOTICES: Final = "notifications"
"""The topic of urgent messages to admins."""
TOMBSTONE_MS: Final = 7 * DAY_MS
"""From a tombstone to the removal of its blob. Within: it is kept, and being named again cancels the removal."""
LONGEST_WAIT_MS: Final = DAY_MS  # a later date means that the clock jumped
PART_OF: Final = 14
"""All held blobs are read back once in this many nights."""
BLOBS_A_PART: Final = 100_000  # compared at once: some 20 MB


@dataclass(frozen=True, kw_only=True)
class ReplicaStatus:
    """``pending``: named blobs that are not stored there yet. ``failed``: those of them with a failed attempt.
    ``complete``: all named blobs are stored there."""

    enabled: bool
    pending: int
    failed: int
    last_at: Millis | None
    problem: str | None
    complete: bool


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The result of one part of the full check: blobs to upload, blobs to upload again, and blobs that are no longer
    named (with how often each was named)."""

    missing: tuple[str, ...]
    revived: tuple[str, ...]
    unnamed: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Due:
    sha256: str
    buried: bool
    attempts: int


# For other features: recovery points


def pending(tx: ReadTx) -> int:
    """The number of blobs that this snapshot names and the target lacks."""
    return cast(int, tx.value("select count(*) from replica_blobs where state = 'waiting'"))


def is_complete(tx: ReadTx) -> bool:
    """Whether the target has every blob that this snapshot names. False before the first full check, which finds the
    blobs from before there was a replica."""
    is_compared = tx.value("select 1 from replica_state where swept_at is not null") is not None
    return is_compared and tx.value("select 1 from replica_blobs where state = 'waiting' limit 1") is None


def keep_since(tx: Tx, at_ms: Millis | None) -> None:
    """Keep at the target whatever was named at ``at_ms``, the time of the oldest kept recovery point, or later;
    ``None``: no point is kept. Without a replica it does nothing."""
    tx.run("update replica_state set keep_since = :at", at=at_ms)


def status(tx: ReadTx) -> ReplicaStatus:
    row = tx.one("select last_at, problem from replica_state")
    if row is None:
        return ReplicaStatus(enabled=False, pending=0, failed=0, last_at=None, problem=None, complete=False)
    failed, told = tx.one(
        "select count(*), min(problem) from replica_blobs where state = 'waiting' and attempts > 0"
    ) or (0, None)
    return ReplicaStatus(
        enabled=True,
        pending=pending(tx),
        failed=failed,
        last_at=row[0],
        problem=row[1] if row[1] is not None else told,
        complete=is_complete(tx),
    )


# For the loop


def begin(tx: Tx, target: str | None) -> None:
    """Set the target. A new target starts with no known blobs; without one nothing is queued."""
    if tx.value("select 1 from replica_state where target = :target", target=target) is not None:
        # Start interrupted removals again: it is unknown whether their blobs still exist.
        tx.run("update replica_blobs set state = 'unnamed' where state = 'deleting'")
        return
    tx.run("delete from replica_blobs")
    if target is None:
        tx.run("delete from replica_state")
        return
    tx.run(
        """
        insert into replica_state (id, target) values (1, :target)
        on conflict (id) do update set target = excluded.target, swept_at = null, last_at = null, problem = null,
            problem_at = null
        """,
        target=target,
    )


def due(tx: ReadTx, *, limit: int) -> list[Due]:
    """The blobs to upload that may be tried now."""
    rows = tx.all(
        """
        select sha256, buried, attempts from replica_blobs
        where state = 'waiting' and (retry_at <= :now or retry_at > :jumped) order by retry_at limit :limit
        """,
        now=tx.now,
        jumped=tx.now + LONGEST_WAIT_MS,
        limit=limit,
    )
    return [Due(sha256=sha256, buried=bool(buried), attempts=attempts) for sha256, buried, attempts in rows]


def arrived(tx: Tx, sha256: str) -> None:
    """Record that the target has it. A ``waiting`` blob can't be in removal, so it stays there."""
    tx.run(
        """
        update replica_blobs set state = 'held', buried = 0, attempts = 0, retry_at = 0, problem = null
        where sha256 = :sha256 and state = 'waiting'
        """,
        sha256=sha256,
    )
    if tx.value("select problem from replica_state") is not None:
        _notice(tx, None)
    tx.run("update replica_state set last_at = :now, problem = null, problem_at = null", now=tx.now)


def put_off(tx: Tx, sha256: str, *, problem: str, retry_at: Millis) -> None:
    """Record that only this blob could not be uploaded."""
    tx.run(
        """
        update replica_blobs set attempts = attempts + 1, retry_at = :retry_at, problem = :problem
        where sha256 = :sha256 and state = 'waiting'
        """,
        sha256=sha256,
        problem=problem,
        retry_at=retry_at,
    )


def went_wrong(tx: Tx, problem: str) -> bool:
    """Record a fault of the target itself; admins are told when it begins, and when it is over. Returns whether it is
    new."""
    before = tx.one("select problem from replica_state")
    if before is None or before[0] == problem:
        return False
    if before[0] is None:
        _notice(tx, problem)
    tx.run(
        "update replica_state set problem_at = coalesce(problem_at, :now), problem = :problem",
        problem=problem,
        now=tx.now,
    )
    return True


def _notice(tx: Tx, problem: str | None) -> None:
    tx.emit(
        topic=NOTICES,
        kind="notice",
        id="replica",
        payload={
            "text": problem or "The replica takes blobs again.",
            "href": "/settings/backups",
            "bad": problem is not None,
        },
        audience=ADMINS,
        device_id="system:replica",
    )


# The full check


def parts(tx: ReadTx) -> int:
    """The number of parts of a full check, so that each holds a bounded number of names."""
    return 1 + cast(int, tx.value("select count(*) from replica_blobs")) // BLOBS_A_PART


def look(tx: ReadTx, references: Sequence[Invariant], *, part: int, of: int) -> Comparison:
    """Compare the references of this snapshot with its rows."""
    named = {sha256 for sha256 in _each(tx, references) if int(sha256[:8], 16) % of == part}
    known = {
        str(sha256): (str(state), int(times))
        for sha256, state, times in tx.each("select sha256, state, named from replica_blobs")
        if int(sha256[:8], 16) % of == part
    }
    return Comparison(
        missing=tuple(sorted(named - known.keys())),
        revived=tuple(sorted(one for one in named & known.keys() if known[one][0] in {"unnamed", "deleting"})),
        unnamed={one: times for one, (_, times) in sorted(known.items()) if one not in named},
    )


def record(tx: Tx, found: Comparison) -> None:
    """Record what was found. A row that was named since the look is not changed."""
    wanted = json_array([*found.missing, *found.revived])
    tx.run(
        """
        insert into replica_blobs (sha256, state) select value, 'waiting' from json_each(:wanted) where true
        on conflict (sha256) do update set state = 'waiting', attempts = 0, retry_at = 0, unnamed_at = null,
            buried_at = null
        where replica_blobs.state in ('unnamed', 'deleting')
        """,
        wanted=wanted,
    )
    # If the clock was set back, nothing becomes older than earlier rows or than a recovery point.
    latest = tx.value(
        """
        select max(coalesce((select max(unnamed_at) from replica_blobs), 0), coalesce((select keep_since from
            replica_state), 0))
        """
    )
    tx.run_many(
        """
        update replica_blobs set state = 'unnamed', unnamed_at = :at, attempts = 0, retry_at = 0, problem = null
        where sha256 = :sha256 and named = :named and state in ('waiting', 'held')
        """,
        [{"sha256": sha256, "named": times, "at": max(tx.now, latest)} for sha256, times in found.unnamed.items()],
    )


def all_compared(tx: Tx) -> None:
    """Record that all parts were compared."""
    tx.run("update replica_state set swept_at = :now", now=tx.now)


def compared_at(tx: ReadTx) -> Millis | None:
    return cast("Millis | None", tx.value("select swept_at from replica_state"))


def to_bury(tx: ReadTx, *, limit: int) -> list[str]:
    """Unnamed blobs whose tombstone the target does not have yet."""
    rows = tx.all(
        "select sha256 from replica_blobs where state = 'unnamed' and buried_at is null limit :limit", limit=limit
    )
    return [str(sha256) for (sha256,) in rows]


def burying(tx: Tx, sha256: str) -> bool:
    """Before its tombstone is sent: note it, so that a later upload removes it. Returns whether the blob is still
    unnamed."""
    return bool(
        tx.run("update replica_blobs set buried = 1 where sha256 = :sha256 and state = 'unnamed'", sha256=sha256)
    )


def buried(tx: Tx, sha256: str, *, at: Millis | None) -> None:
    """Record when the target got its tombstone; ``None``: it has none, and needs one."""
    tx.run(
        "update replica_blobs set buried_at = :at where sha256 = :sha256 and state = 'unnamed'", sha256=sha256, at=at
    )


def to_delete(tx: ReadTx, *, named: Mapping[str, int]) -> list[str]:
    """Of the blobs that this night's look found unnamed: those whose time is over and that no recovery point
    can name."""
    rows = tx.all(
        """
        select b.sha256, b.named from replica_blobs b, replica_state s
        where b.state = 'unnamed' and b.buried_at <= :latest and (s.keep_since is null or b.unnamed_at < s.keep_since)
        """,
        latest=tx.now - TOMBSTONE_MS,
    )
    return [str(sha256) for sha256, times in rows if named.get(sha256) == times]


def deleting(tx: Tx, sha256: str, *, named: int) -> bool:
    """Called just before the removal. Returns whether nothing has named the blob since the look, and nothing
    keeps it."""
    return bool(
        tx.run(
            """
            update replica_blobs set state = 'deleting' where sha256 = :sha256 and state = 'unnamed' and named = :named
                and not exists (select 1 from replica_state s where s.keep_since <= replica_blobs.unnamed_at)
            """,
            sha256=sha256,
            named=named,
        )
    )


def deleted(tx: Tx, sha256: str) -> None:
    """Delete the row, unless the blob was wanted meanwhile: then its state is ``waiting`` again."""
    tx.run("delete from replica_blobs where sha256 = :sha256 and state = 'deleting'", sha256=sha256)


def not_deleted(tx: Tx, sha256: str) -> None:
    """Undo ``deleting``: the target refused, or the result is unknown. The next night tries again."""
    tx.run("update replica_blobs set state = 'unnamed' where sha256 = :sha256 and state = 'deleting'", sha256=sha256)


# Reading back


def held(tx: ReadTx, *, after: str, limit: int) -> list[str]:
    rows = tx.all(
        "select sha256 from replica_blobs where state = 'held' and sha256 > :after order by sha256 limit :limit",
        after=after,
        limit=limit,
    )
    return [str(sha256) for (sha256,) in rows]


def next_part(tx: Tx) -> int:
    """The number of the fourteenth part that is read back this night."""
    tx.run("update replica_state set checked = (checked + 1) % :parts", parts=PART_OF)
    return cast(int, tx.value("select checked from replica_state") or 0)


def lost(tx: Tx, names: Iterable[str]) -> None:
    """Record that the target no longer has them, or has them damaged: they must be uploaded again."""
    tx.run(
        """
        update replica_blobs set state = 'waiting', retry_at = 0
        where state = 'held' and sha256 in (select value from json_each(:names))
        """,
        names=json_array(names),
    )


def _each(tx: ReadTx, references: Sequence[Invariant]) -> Iterator[str]:
    for reference in references:
        yield from reference.check(tx)
