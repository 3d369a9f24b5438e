"""A service that is killed at any of its steps, for tests that need no process: what is done so far stays done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Concatenate, ParamSpec, TypeVar

from svc.store import Tx

P = ParamSpec("P")
T = TypeVar("T")


class Killed(BaseException):
    """``kill -9``: nothing that the service wants to do then is done."""


@dataclass
class Steps:
    """Counts what can be done or not done, and dies at one of them."""

    last: int | None = None
    seen: int = 0

    def step(self) -> None:
        self.seen += 1
        if self.last is not None and self.seen > self.last:
            raise Killed


@dataclass
class Transactions:
    """A store whose transactions are there whole, or not at all."""

    tx: Tx
    steps: Steps = field(default_factory=Steps)

    async def read(self, query: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return query(self.tx, *args, **kwargs)

    async def write(self, action: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        self.steps.step()
        found = action(self.tx, *args, **kwargs)
        self.steps.step()
        return found
