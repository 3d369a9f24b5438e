"""What must always be true of the replica, checked by ``svc fsck`` and by each drill: its triggers cover every blob."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from svc.replica.migrations import NAMING
from svc.store import Invariant, ReadTx, missing_triggers


def _triggers(tx: ReadTx) -> Iterable[str]:
    missing = missing_triggers(tx, [f"replica_{name}" for name, _, _ in NAMING])
    return [f"the trigger {name} is gone, so blobs get to the replica each night only" for name in missing]


INVARIANTS: Final = (Invariant(name="the replica hears of every blob", check=_triggers),)
