"""One lease of a run, held by its worker: the kept steps, the connection to the trusted plane, and when to release the
run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import trio

from svc.backoff import Retries
from svc.clock import Clock
from svc.log import Log
from svc.protocol import Link, LinkAnswer, LinkFault
from svc.worker.history import KnownStep, Order
from svc.worker.terms import RUN_HEADER

_TRIES: Final = 15
_RETRIES: Final = Retries(first_s=0.5, cap_s=4.0)
"""All pauses together take a minute: as long as a lease. They have no jitter."""


class LetGo(Exception):
    """The run was released, but its code still asks for a step."""


class Diverged(Exception):
    """The code does something else than it did when the run began."""


class Refused(Exception):
    """The trusted plane's refusal, in its words."""


@dataclass(kw_only=True)
class Session:
    """One lease of one run: its history, the connection to the trusted plane, and which of its branches wait.

    ``scope`` is the cancel scope of the code. ``waits_out``: the steps that the branches wait for, once all branches
    wait.
    """

    order: Order
    link: Link
    clock: Clock
    log: Log
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    branches: int = 1
    over: bool = False
    waits_out: tuple[str, ...] = ()
    known: dict[str, KnownStep] = field(init=False)
    _waits: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.known = {step.step_id: step for step in self.order.steps}

    async def post(self, path: str, body: Mapping[str, Any]) -> LinkAnswer:
        """Send a step's data, as :meth:`tell` does, while this worker holds the run."""
        if self.over:
            raise LetGo
        answer = await self.tell(path, body)
        if answer is None:
            await self.leave()
        return answer

    async def tell(self, path: str, body: Mapping[str, Any]) -> LinkAnswer | None:
        """Send to the trusted plane. If it does not answer, it may be restarting: retry for a while.

        Each message may be sent twice. ``None`` if another worker holds the run, or nobody answers.
        """
        for attempt in range(1, _TRIES + 1):
            try:
                answer = await self.link.post(path, body, headers={RUN_HEADER: self.order.run_token})
            except LinkFault as fault:
                why = str(fault)
            else:
                if answer.status == _FORBIDDEN and reason_of(answer) in {"unknown_run", "no_run"}:
                    return None
                if answer.status < _SERVER_FAULT:
                    return answer
                why = answer.problem()
            self.log.info("runs.not_told", run_id=self.order.run_id, why=why, attempt=attempt)
            await trio.sleep(_RETRIES.pause_s(attempt))
        return None

    async def wait_for(self, key: str) -> NoReturn:
        """Wait until the run is released. The result is then in the history of the next lease."""
        self._waits[key] = None
        try:
            self.look()
            await trio.sleep_forever()
        finally:
            del self._waits[key]
        raise LetGo

    def look(self) -> None:
        """Release the run if all of its branches wait."""
        if self._waits and len(self._waits) >= self.branches and not self.over:
            self.waits_out = tuple(self._waits)
            self.over = True
            self.scope.cancel()

    async def leave(self) -> NoReturn:
        """Stop: this worker does not hold the run any more."""
        self.over = True
        self.scope.cancel()
        await trio.sleep_forever()
        raise LetGo


_FORBIDDEN: Final = 403
_SERVER_FAULT: Final = 500


def reason_of(answer: LinkAnswer) -> str:
    try:
        return str(answer.json().get("reason", ""))
    except (LinkFault, AttributeError):
        return ""
