"""The record of damaged blobs, ``blob_damage``: what was found, how it was repaired, and what can't be repaired.

Owns every statement about that table. Plain functions over a transaction; a feature does the repairs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, cast

from svc.clock import DAY_MS, Millis
from svc.store.arrays import json_array
from svc.store.blob_files import Harm
from svc.store.suspects import News
from svc.store.transaction import ReadTx, Tx

KEEP_MENDED_MS: Final = 30 * DAY_MS
MAX_REASON_CHARS: Final = 500

DamageState = Literal["waiting", "lost", "mended"]
"""``waiting``: a repair is due now or later. ``lost``: it can't be repaired here; a later check tries again."""


@dataclass(frozen=True, kw_only=True)
class Damage:
    """One damaged blob. ``attempts``: repair attempts since it was found."""

    sha256: str
    harm: Harm
    state: DamageState
    reason: str
    attempts: int
    found_at: Millis


@dataclass(frozen=True, kw_only=True)
class DamageCounts:
    waiting: int
    lost: int
    mended: int

    @property
    def damaged(self) -> int:
        """All damaged blobs that are not repaired yet."""
        return self.waiting + self.lost


def record(tx: Tx, news: News) -> None:
    """Record findings: found damage is due for repair at once. A blob stored again is due too: the repair sees that it
    is whole."""
    for sha256, harm in news.items():
        if harm is None:
            tx.run(
                "update blob_damage set state = 'waiting', next_at = :now where sha256 = :sha256 and state <> 'mended'",
                sha256=sha256,
                now=tx.now,
            )
            continue
        tx.run(
            """
            insert into blob_damage (sha256, harm, state, reason, attempts, found_at, next_at, changed_at)
            values (:sha256, :harm, 'waiting', '', 0, :now, :now, :now)
            on conflict do update set harm = :harm, state = 'waiting', reason = '', attempts = 0, found_at = :now,
                next_at = :now, changed_at = :now, became = null
            where state = 'mended'
            """,
            sha256=sha256,
            harm=harm,
            now=tx.now,
        )


def still_damaged(tx: ReadTx) -> list[tuple[str, Harm]]:
    rows = tx.all("select sha256, harm from blob_damage where state <> 'mended'")
    return [(cast(str, sha256), cast(Harm, harm)) for sha256, harm in rows]


def damaged_among(tx: ReadTx, names: Iterable[str]) -> frozenset[str]:
    """Those of ``names`` that are still damaged."""
    rows = tx.all(
        "select sha256 from blob_damage where state <> 'mended' and sha256 in (select value from json_each(:names))",
        names=json_array(names),
    )
    return frozenset(str(sha256) for (sha256,) in rows)


def due(tx: ReadTx) -> Damage | None:
    """The blob to repair next, if one is due."""
    row = tx.one(
        f"select {_COLUMNS} from blob_damage where state = 'waiting' and next_at <= :now order by next_at limit 1",
        now=tx.now,
    )
    return None if row is None else _damage(row)


def next_due(tx: ReadTx) -> Millis | None:
    found: Millis | None = tx.value("select min(next_at) from blob_damage where state = 'waiting'")
    return found


def mended(tx: Tx, sha256: str, *, became: str | None) -> None:
    """Mark it as repaired: it is whole, or the rows that named it now name ``became``."""
    tx.run(
        """
        update blob_damage set state = 'mended', reason = '', became = :became, changed_at = :now
        where sha256 = :sha256
        """,
        sha256=sha256,
        became=became,
        now=tx.now,
    )


def put_off(tx: Tx, sha256: str, *, reason: str, next_at: Millis) -> None:
    tx.run(
        """
        update blob_damage set reason = :reason, attempts = attempts + 1, next_at = :next_at, changed_at = :now
        where sha256 = :sha256 and state = 'waiting'
        """,
        sha256=sha256,
        reason=reason[:MAX_REASON_CHARS],
        next_at=next_at,
        now=tx.now,
    )


def given_up(tx: Tx, sha256: str, *, reason: str) -> None:
    tx.run(
        """
        update blob_damage set state = 'lost', reason = :reason, attempts = attempts + 1, changed_at = :now
        where sha256 = :sha256 and state = 'waiting'
        """,
        sha256=sha256,
        reason=reason[:MAX_REASON_CHARS],
        now=tx.now,
    )


def ask_again(tx: Tx) -> None:
    """Retry the lost blobs, since the bytes may exist somewhere by now. Deletes records of old repairs."""
    tx.run("update blob_damage set state = 'waiting', next_at = :now where state = 'lost'", now=tx.now)
    tx.run("delete from blob_damage where state = 'mended' and changed_at < :before", before=tx.now - KEEP_MENDED_MS)


def forget_unnamed(tx: Tx, *, after: str, up_to: str | None, named: frozenset[str]) -> list[str]:
    """Delete the records of blobs that no row names any more. ``named``: all named blobs of that range. Returns the
    deleted."""
    rows = tx.all(
        """
        select sha256 from blob_damage
        where state <> 'mended' and sha256 > :after and (:up_to is null or sha256 <= :up_to)
        """,
        after=after,
        up_to=up_to,
    )
    gone = [str(sha256) for (sha256,) in rows if sha256 not in named]
    for sha256 in gone:
        tx.run("delete from blob_damage where sha256 = :sha256", sha256=sha256)
    return gone


def counts(tx: ReadTx) -> DamageCounts:
    found: dict[str, int] = dict(tx.all("select state, count(*) from blob_damage group by state"))
    return DamageCounts(waiting=found.get("waiting", 0), lost=found.get("lost", 0), mended=found.get("mended", 0))


def recorded(tx: ReadTx) -> dict[str, Damage]:
    """All blobs that are still damaged, by hash."""
    rows = tx.all(f"select {_COLUMNS} from blob_damage where state <> 'mended'")
    return {damage.sha256: damage for damage in map(_damage, rows)}


_COLUMNS: Final = "sha256, harm, state, reason, attempts, found_at"


def _damage(row: tuple[object, ...]) -> Damage:
    return Damage(
        sha256=cast(str, row[0]),
        harm=cast(Harm, row[1]),
        state=cast(DamageState, row[2]),
        reason=cast(str, row[3]),
        attempts=cast(int, row[4]),
        found_at=cast(int, row[5]),
    )
