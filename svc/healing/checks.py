"""Whether what is stored is whole: what is known to be damaged, and a look at a part of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from svc.check import Check, CheckContext, Finding, failed, ok, skipped
from svc.healing import queries
from svc.store import Blobs, damage

LOOKED_AT: Final = 5_000
READ_BYTES: Final = 32 * 1024 * 1024
NAMED: Final = 3
_REMEDY: Final = (
    "A running service mends what it can, from the raw message or the provider; svc fsck --deep lists every one, and "
    "a backup of blobs/ has the rest"
)


async def _known(context: CheckContext) -> Sequence[Finding]:
    """A damaged item is that item's trouble: the service's readiness is not in it."""
    if context.store is None:
        return [skipped("The database is not open")]
    found = await context.store.read(damage.counts)
    if not found.damaged:
        return [ok("Nothing that is stored is known to be damaged")]
    told = f"{found.damaged} damaged, {found.lost} of them can't be mended"
    return [Finding(state="warning", detail=f"Of what is stored, {told}", remedy=_REMEDY, public=told)]


async def _content(context: CheckContext) -> Sequence[Finding]:
    """All of a small home, a part of a large one: another part each time."""
    store, blobs = context.store, context.blobs
    if store is None or blobs is None:
        return [skipped("The database is not open")]
    references = [row for feature in context.features for row in feature.invariants if row.yields == "blobs"]
    found = await store.read(queries.names_after, references, after="", limit=LOOKED_AT)
    if not found.last:
        after = f"{random.getrandbits(256):064x}"
        found = await store.read(queries.names_after, references, after=after, limit=LOOKED_AT)
    return [await context.threads.run(_look, blobs, found.names)]


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
    Check(name="content", summary="A part of what is stored is there, and whole.", run=_content),
)
