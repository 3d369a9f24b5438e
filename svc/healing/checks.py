"""Checks that stored blobs are intact: reports the known damage, and reads a part of the blobs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from svc.check import Check, CheckContext, Finding, failed, ok, skipped, warning
from svc.clock import DAY_MS, Millis, rfc3339
from svc.healing import queries
from svc.healing.queries import Place, Round
from svc.healing.settings import CHECK_RATE
from svc.store import Blobs, damage

LOOKED_AT: Final = 5_000
READ_BYTES: Final = 32 * 1024 * 1024
NAMED: Final = 3
SLOW_ROUND_MS: Final = 28 * DAY_MS
_REMEDY: Final = (
    "A running service mends what it can, from the raw message or the provider; svc fsck --deep lists every one, and "
    "a backup of blobs/ has the rest"
)


async def _known(context: CheckContext) -> Sequence[Finding]:
    """Known damage. It concerns single items, so it does not affect the service's readiness."""
    if context.store is None:
        return [skipped("The database is not open")]
    found = await context.store.read(damage.counts)
    if not found.damaged:
        return [ok("Nothing that is stored is known to be damaged")]
    told = f"{found.damaged} damaged, {found.lost} of them can't be mended"
    return [Finding(state="warning", detail=f"Of what is stored, {told}", remedy=_REMEDY, public=told)]


async def _content(context: CheckContext) -> Sequence[Finding]:
    """Reads all blobs of a small home, or a part of a large one: another part each time."""
    store, blobs = context.store, context.blobs
    if store is None or blobs is None:
        return [skipped("The database is not open")]
    references = [row for feature in context.features for row in feature.invariants if row.yields == "blobs"]
    found = await store.read(queries.names_after, references, after="", limit=LOOKED_AT)
    if not found.last:
        after = f"{random.getrandbits(256):064x}"
        found = await store.read(queries.names_after, references, after=after, limit=LOOKED_AT)
    return [await context.threads.run(_look, blobs, found.names)]


async def _rounds(context: CheckContext) -> Sequence[Finding]:
    """The state of the slow check that reads all blobs. ``blobs`` reports the damage that it found."""
    if context.store is None:
        return [skipped("The database is not open")]
    if context.config[CHECK_RATE] == 0:
        return [skipped(f"Stored content is not read by itself: {CHECK_RATE.name} is 0", "Run: svc fsck --deep")]
    return [_on_rounds(await context.store.read(queries.place), now=context.clock.now())]


def _on_rounds(place: Place, *, now: Millis) -> Finding:
    last = place.last
    before = "" if last is None else f"; the round before ended on {_day(last.ended_at)} and read {_read(last)}"
    if place.began_at is None:
        return ok("All that is stored is read once a week. The first round has not begun yet")
    if not place.after and last is not None:
        return ok(f"All that is stored was read by {_day(last.ended_at)}: {_read(last)}")
    share = int(place.after[:4] or "0", 16) * 100 // 0x10000
    told = f"All that is stored is read since {_day(place.began_at)}: {_read(place)} so far, some {share} %{before}"
    if now - place.began_at > SLOW_ROUND_MS:
        return warning(told, f"A larger {CHECK_RATE.name} ends it sooner: damage is found within one round")
    return ok(told)


def _read(of: Place | Round) -> str:
    return f"{of.blobs:,} items, {of.bytes / 2**20:,.0f} MiB"


def _day(at: Millis) -> str:
    return rfc3339(at)[:10]


def _look(blobs: Blobs, names: Sequence[str]) -> Finding:
    missing, damaged = [], []
    left = READ_BYTES
    for name in names:
        size = blobs.size_now(name)
        if size is None:
            missing.append(name)
        elif size <= left:
            left -= size
            if not blobs.is_sound(name):
                damaged.append(name)
    if not missing and not damaged:
        return ok(f"{len(names)} stored items were looked at, and are whole")
    kinds = ((missing, "missing"), (damaged, "damaged"))
    told = [f"{len(found)} {what} ({_named(found)})" for found, what in kinds if found]
    return failed(f"Of {len(names)} stored items, {' and '.join(told)}", _REMEDY)


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")


CHECKS: Final = (
    Check(name="blobs", summary="Nothing that is stored is known to be damaged.", run=_known, readyz="trouble"),
    Check(name="content-rounds", summary="All that is stored is read, slowly, and compared.", run=_rounds),
    Check(name="content", summary="A part of what is stored is there, and whole.", run=_content),
)
