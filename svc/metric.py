"""A number about the running service that a feature tells: the row by which ``/metrics`` has it.

Names follow Prometheus: the unit is the last word, ``_total`` ends what only grows. A label has few values, all known
from the code; never an id, an address or a name of somebody's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from svc.exposition import Values
from svc.workspace import Workspace

__all__ = ["Metric", "Values"]


@dataclass(frozen=True, kw_only=True)
class Metric:
    name: str
    kind: Literal["gauge", "counter", "histogram"]
    help: str
    read: Callable[[Workspace], Awaitable[Values]]
    labels: tuple[str, ...] = ()
