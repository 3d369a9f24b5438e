"""A metric: a number about the running service, which ``/metrics`` shows. A feature adds metrics as rows.

Names follow Prometheus: the unit is the last word, and ``_total`` ends a counter's name. A label has few values, all
known from the code; never an id, an address or a person's name.
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
