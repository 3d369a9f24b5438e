"""The invariant of the files of pages, checked by ``svc fsck``: every change of a page is queued."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from svc.okf.migrations import CHANGES
from svc.store import Invariant, ReadTx, missing_triggers


def _triggers(tx: ReadTx) -> Iterable[str]:
    missing = missing_triggers(tx, [f"okf_{name}" for name, _, _ in CHANGES])
    return [f"the trigger {name} is gone, so files are not written anew" for name in missing]


INVARIANTS: Final = (Invariant(name="the files of pages hear of every change", check=_triggers),)
