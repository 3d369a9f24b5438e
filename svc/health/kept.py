"""Checks of the stored data: the database, its schema, and the durable consumers of its events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.check import Check, CheckContext, Finding, failed, ok, refused, skipped, warning
from svc.store import Following, Home, Lag, OlderDatabase, ReadTx, Store, lags, quick_problem

QUICK_CHECK_BYTES: Final = 256 * 1024 * 1024
"""A check of a larger database takes too long for a person who waits for the answer."""

_FULL: Final = Finding(
    state="failed",
    detail="The disk is full: what is there can be read, and nothing more can be kept",
    remedy="Make room on the disk of SVC_HOME; the service goes on by itself",
    public="full",
)


async def _database(context: CheckContext) -> Sequence[Finding]:
    store = context.store
    if store is None:
        return [_unopened(context)]
    if store.broken:
        return [
            failed(
                "The disk failed under the database, and nothing is kept any more",
                "Look after the disk, then start the service again",
            )
        ]
    await store.read(_answers)
    no_room = context.blobs is not None and await context.blobs.is_full()
    return [_FULL if no_room or store.full else ok(f"{store.path} answers")]


def _unopened(context: CheckContext) -> Finding:
    problem = context.store_problem
    if problem is None:
        if Home.exists(context.home):
            return failed(
                f"The database of this home is missing: {Home.database_of(context.home)}",
                "Put the newest good backup in its place; only a home that was never used is started without",
            )
        return skipped(f"There is no database under {context.home} yet: the first start makes it")
    if isinstance(problem, OlderDatabase):
        return skipped("The database waits for the migrations of this version")
    return refused(problem)


def _answers(tx: ReadTx) -> None:
    tx.value("select 1")


async def _integrity(context: CheckContext) -> Sequence[Finding]:
    store = context.store
    if store is None:
        return [skipped("The database is not open")]
    if store.path.stat().st_size > QUICK_CHECK_BYTES:
        return [skipped("The database is too large to be read while you wait", "Run: svc fsck")]
    problem = await store.read(quick_problem)
    if problem is None:
        return [ok("Every page of the database is whole")]
    return [
        failed(
            f"{store.path} is damaged: {problem}",
            "Stop the service, keep a copy of the home, and put the newest good backup in its place",
        )
    ]


async def _migrations(context: CheckContext) -> Sequence[Finding]:
    """All migrations have run if the database is open: nothing runs on another schema."""
    if isinstance(context.store_problem, OlderDatabase):
        return [warning("The database was last used by an older version", "Start the service once: svc serve")]
    if context.store is None:
        return [skipped("The database is not open")]
    return [ok("The database has this version's schema")]


async def _consumers(context: CheckContext) -> Sequence[Finding]:
    """Which durable consumers are behind. That delays their work; the service still serves."""
    if context.store is None:
        return [skipped("The database is not open")]
    behind = [lag for lag in await _lags(context, context.store) if lag.events or lag.passed_over]
    if not behind:
        return [ok("Everything that was recorded is dealt with")]
    return [
        Finding(
            state="warning",
            detail="; ".join(_told(lag) + (f" ({lag.problem})" if lag.problem else "") for lag in behind),
            remedy="What waits is tried again by itself; the log says more, at consumer.failed",
            public="; ".join(map(_told, behind)),
        )
    ]


async def _lags(context: CheckContext, store: Store) -> list[Lag]:
    if context.workspace is not None:
        return await store.read(lags, context.workspace.service(Following).rows)
    return await store.read(lags, [row for feature in context.features for row in feature.consumers])


def _told(lag: Lag) -> str:
    """The message without the reason, since everybody may read it. The reason is for admins and the log only."""
    waiting = f"{lag.name}: {lag.events} events wait" + (", it fails and tries again" if lag.problem else "")
    return waiting + (f", {lag.passed_over} could not be dealt with" if lag.passed_over else "")


CHECKS: Final = (
    Check(name="database", summary="The database answers, and finds room.", run=_database, readyz="always"),
    Check(name="migrations", summary="The database has this version's schema.", run=_migrations, readyz="always"),
    Check(name="integrity", summary="Every page of the database is whole.", run=_integrity),
    Check(name="consumers", summary="What was recorded is dealt with soon.", run=_consumers, readyz="always"),
)
