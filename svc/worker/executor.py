"""Runs the code of workflows in the worker plane: takes runs, up to a limit, and releases them on drain.

Owns the list of runs that this worker holds. It knows of a run only what it was sent with it, and reports all results.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec
import trio

from svc import __version__
from svc.clock import Clock
from svc.errors import Invalid, NotFound, Unavailable
from svc.log import Log
from svc.nursery import Child, Wake
from svc.protocol import Link, LinkFault, Request, Response, Route, json_response
from svc.worker.history import Order
from svc.worker.rows import WorkerRows
from svc.worker.session import Diverged, Session
from svc.worker.steps import Steps
from svc.worker.terms import DIVERGED, FLOW_PATH, HANDSHAKE_PATH, HEARTBEAT_S, PROTOCOL
from svc.workflow import Code, StepFailed, Workflow
from svc.workspace import ScrubbedContext

MAX_HELD: Final = 200
MAX_ORDER_BYTES: Final = 64 * 1024 * 1024


@dataclass(kw_only=True)
class _Held:
    session: Session
    cancelled: bool = False


@dataclass(kw_only=True)
class Executor:
    """``link`` leads to the trusted plane; ``control_url`` is the address of this worker for the trusted plane."""

    workflows: Mapping[str, Workflow]
    link: Link
    control_url: str
    clock: Clock
    log: Log
    instance: str = field(default_factory=lambda: secrets.token_hex(8))
    met: str = ""
    """The instance of the trusted plane at the last successful handshake; empty after a failed one."""
    problem: str = ""
    """Why the last handshake failed: the trusted plane's own words if it refused."""
    _held: dict[str, _Held] = field(default_factory=dict)
    _nursery: trio.Nursery | None = None
    _wake: Wake = field(default_factory=Wake)

    async def run(self, child: Child) -> None:
        """Shake hands repeatedly, until the intake is cancelled. On drain, the runs held are released."""
        self.work_in(child.work)
        child.work.start_soon(self._let_go_on_drain, child)
        child.started()
        while True:
            await self.shake_hands()
            await self._wake.wait(at_most_s=HEARTBEAT_S)

    def work_in(self, nursery: trio.Nursery) -> None:
        """Set the nursery for the runs that it takes."""
        self._nursery = nursery

    async def _let_go_on_drain(self, child: Child) -> None:
        await child.wait_draining()
        self._nursery = None
        for held in tuple(self._held.values()):
            held.session.scope.cancel()

    async def shake_hands(self) -> None:
        """Report that this worker is up, and which runs it holds. While it is refused, it is given no runs."""
        said = {
            "protocol": PROTOCOL,
            "role": "worker",
            "version": __version__,
            "controlUrl": self.control_url,
            "instance": self.instance,
            "runs": {run_id: held.session.order.epoch for run_id, held in self._held.items()},
        }
        try:
            answer = await self.link.post(HANDSHAKE_PATH, said)
            if not answer.ok:
                raise LinkFault(answer.problem())
        except LinkFault as fault:
            if self.problem != str(fault):
                self.log.warning("worker.alone", why=str(fault))
            self.met, self.problem = "", str(fault)
            return
        self.problem = ""
        met = answer.json()
        if met["instance"] != self.met:
            self.log.info("worker.met", version=met["version"])
        self.met = met["instance"]
        for run_id in met["drop"]:
            self.drop(run_id)

    def take(self, order: Order) -> None:
        """Begin a run or go on with one. Raises :class:`svc.errors.Unavailable` if there is no room, or on drain."""
        if self._nursery is None:
            raise Unavailable("This worker is not running or is shutting down.")
        if len(self._held) >= MAX_HELD:
            raise Unavailable(f"This worker holds {MAX_HELD} runs already.")
        earlier = self._held.get(order.run_id)
        if earlier is not None:
            if earlier.session.order.epoch >= order.epoch:
                return
            earlier.session.scope.cancel()
        held = _Held(session=Session(order=order, link=self.link, clock=self.clock, log=self.log))
        self._held[order.run_id] = held
        self._nursery.start_soon(self._work, held, name=f"run:{order.run_id}")

    def drop(self, run_id: str) -> bool:
        """Stop a run that was cancelled, or that another worker holds. Returns whether it was held."""
        held = self._held.get(run_id)
        if held is not None:
            held.cancelled = True
            held.session.scope.cancel()
        return held is not None

    async def _work(self, held: _Held) -> None:
        try:
            flow = await self._flow(held)
            if flow is not None:
                await held.session.tell(FLOW_PATH, {"runId": held.session.order.run_id, **flow})
        finally:
            run_id = held.session.order.run_id
            if self._held.get(run_id) is held:
                del self._held[run_id]

    async def _flow(self, held: _Held) -> dict[str, object] | None:
        """Run the code. Returns what to report of the run, or ``None`` if there is nothing to report."""
        session = held.session
        code = self._code(session.order)
        if code is None:
            gone = f"This program has no version {session.order.version} of {session.order.workflow} any more."
            return _failed("CodeGone", gone)
        told: dict[str, object] | None = None
        with session.scope:
            told = await self._outcome(code, session)
        if session.waits_out:
            return {"state": "waiting", "waits": list(session.waits_out)}
        if session.over or held.cancelled:
            return None
        return told or {"state": "cancelled"}  # this worker ends, and another one goes on

    async def _outcome(self, code: Code, session: Session) -> dict[str, object] | None:
        order = session.order
        try:
            output = await code(Steps(session), order.input)
        except Diverged as error:
            return _failed(DIVERGED, str(error))
        except StepFailed as error:
            return _failed(error.type, str(error))
        except Exception as error:  # an edge: an error of the author's code; the run keeps its words, the log its stack
            if session.over:
                return None
            self.log.error("runs.code_failed", error, run_id=order.run_id, workflow=order.workflow)
            return _failed(type(error).__name__, str(error) or type(error).__name__)
        return {"state": "done", "output": output}

    def _code(self, order: Order) -> Code | None:
        row = self.workflows.get(order.workflow)
        if row is None:
            return None
        version = row.version if order.version is None else order.version
        return row.code if row.version == version else row.older.get(version)


def _failed(type_: str, message: str) -> dict[str, object]:
    return {"state": "failed", "error": {"type": type_, "message": message}}


async def take(context: ScrubbedContext, request: Request) -> Response:
    """Begin a run, or go on with one."""
    try:
        order = msgspec.convert(await request.read_json(MAX_ORDER_BYTES), Order)
    except msgspec.ValidationError as error:
        raise Invalid(str(error)) from None
    context.workspace.service(Executor).take(order)
    return json_response({}, status=202)


async def cancel(context: ScrubbedContext, request: Request) -> Response:
    """Stop a run."""
    if not context.workspace.service(Executor).drop(request.params["id"]):
        raise NotFound("This worker does not hold that run.")
    return json_response({})


ROWS: Final = WorkerRows(
    routes=(
        Route(
            method="POST",
            path="/runs",
            access="authenticated",
            handle=take,
            summary="Begin a run, or go on with one.",
            listener="internal",
        ),
        Route(
            method="POST",
            path="/runs/:id/cancel",
            access="authenticated",
            handle=cancel,
            summary="Stop a run.",
            listener="internal",
        ),
    )
)
