"""The run as a workflow's code sees it: each step returns its kept result, or does its work and reports it.

The code is stopped without notice if all of its branches wait or another worker holds the run: its scope is cancelled.
Trio then runs its ``finally`` blocks, as on every cancellation. A step in such a block is not begun, but raises
:class:`LetGo`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import msgspec
import trio

from svc.nursery import open_task_group
from svc.worker.history import KnownStep, input_digest
from svc.worker.session import Diverged, LetGo, Session, reason_of
from svc.worker.terms import (
    APPROVAL,
    BEGUN,
    BROKER_PATH,
    CALL_PATH,
    CHILD,
    DIVERGED,
    INLINE_PAUSE_MS,
    RUN_HEADER,
    SLEEP,
    STEP_PATH,
    diverged,
)
from svc.workflow import Answer, Fatal, Json, Later, Run, StepFailed, StepKind

_NOT_IN_NAMES: Final = frozenset("/#")
"""These join the parts of a step's key."""
IN_DOUBT: Final = (
    "It was begun, and whether it was done is not known. Approve to do it again. "
    "Decline where it was done, or must not be."
)
IN_DOUBT_S: Final = 30 * 86_400.0
LATEST_S: Final = 86_400.0
Work = Callable[[str], Awaitable[Json]]


class Steps:
    """One branch of the code. Implements :class:`svc.workflow.Run`."""

    def __init__(self, session: Session, path: str = "") -> None:
        self._session = session
        self._path = path
        self._times: Counter[str] = Counter()

    @property
    def id(self) -> str:
        return self._session.order.run_id

    @property
    def path(self) -> str:
        return self._path

    async def step(
        self, name: str, work: Work, *, input: Json = None, kind: StepKind = "step", once: bool = False
    ) -> Json:
        key = self._key(name)
        known = self._known(key, input, {kind})
        if known is not None and known.state != "waiting":
            return _result(known)
        if once:
            return await self._once(key, name, work, input=input, kind=kind)
        attempt = known.attempts if known else 0
        if known is not None and known.due_at is not None:
            await self._pause(key, known.due_at)
        while True:
            attempt += 1
            told = await self._try(key, work)
            retry_at = await self._tell(key, name, told, input=input, kind=kind, attempt=attempt)
            if isinstance(retry_at, _Done):
                return retry_at.output
            await self._pause(key, retry_at)

    async def _once(self, key: str, name: str, work: Work, *, input: Json, kind: str) -> Json:
        """Its reports are steps below it: that the work began, and what a person was asked."""
        below = Steps(self._session, key)
        for attempt in count(1):
            if await below._begins():
                told = await self._try(key, work)
                if told["state"] == "done" or not told["retryable"]:
                    done = await self._tell(key, name, told, input=input, kind=kind, attempt=attempt)
                    assert isinstance(done, _Done), "it is not tried again"
                    return done.output
                self._session.log.info("runs.once_in_doubt", run_id=self.id, step=key, why=told["error"]["message"])
            await below.approval("again", tool=name, summary=IN_DOUBT, input=input, expires_s=IN_DOUBT_S)
        raise AssertionError("it is asked for ever")

    async def _begins(self) -> bool:
        """Record that work begins. ``False`` if it had begun before this lease."""
        key = self._key("begun")
        if self._known(key, None, {"tool"}) is not None:
            return False
        await self._told({"call": BEGUN, "idempotencyKey": key, "name": "begun", "parentId": self._path})
        return True

    async def _try(self, key: str, work: Work) -> dict[str, Any]:
        """Do the work. Returns what to report."""
        began = self._session.clock.now()
        try:
            told = {"state": "done", "output": _as_json(await work(f"{self.id}:{key}"))}
        except Fatal as error:
            told = _failed(error, retryable=False)
        except Exception as error:  # an edge: for any error of the work, the run keeps its words
            told = _failed(error, retryable=True)
        return {**told, "startedAt": began, "endedAt": self._session.clock.now()}

    async def _tell(
        self, key: str, name: str, told: Mapping[str, Any], *, input: Json, kind: str, attempt: int
    ) -> _Done | int:
        """Report to the trusted plane. Returns the result, or when to try again. Raises :class:`StepFailed`."""
        body = {
            "runId": self.id,
            "stepId": key,
            "attempt": attempt,
            "name": name,
            "kind": kind,
            "parentId": self._path or None,
            "input": input,
            **told,
        }
        answer = await self._session.post(STEP_PATH, body)
        if not answer.ok:
            raise StepFailed(answer.problem(), type="Refused")
        said = answer.json()
        if said["stop"]:
            await self._session.leave()
        if said["state"] == "done":
            return _Done(told.get("output"))
        if said["state"] == "failed":
            raise StepFailed(told["error"]["message"], type=told["error"]["type"])
        return int(said["retryAt"])

    async def call(self, call: str, input: Json = None, *, name: str = "") -> Json:
        return await self._ask(call, input, name or call)

    async def sleep(self, name: str, seconds: float) -> None:
        await self._ask(SLEEP, {"seconds": seconds}, name)

    async def approval(self, name: str, *, tool: str, summary: str, input: Json, expires_s: float) -> Json:
        wanted = {"tool": tool, "summary": summary, "input": input, "expiresS": expires_s}
        return await self._ask(APPROVAL, wanted, name)

    async def child(self, name: str, workflow: str, input: Json = None) -> Json:
        return await self._ask(CHILD, {"workflow": workflow, "input": input}, name)

    async def broker(
        self, path: str, body: bytes, *, headers: Mapping[str, str], method: str = "POST", within_s: float = 600.0
    ) -> Answer:
        if self._session.over:
            raise LetGo
        fields = {**headers, RUN_HEADER: self._session.order.run_token}
        return await self._session.link.open(method, f"{BROKER_PATH}{path}", body, headers=fields, within_s=within_s)

    async def _ask(self, call: str, input: Json, name: str) -> Json:
        key = self._key(name)
        known = self._known(key, input, {"tool", "timer", "approval", "child"})
        if known is not None:
            if known.state == "waiting":
                await self._session.wait_for(key)
            return _result(known)
        body = {
            "call": call,
            "idempotencyKey": key,
            "input": input,
            "name": name,
            "parentId": self._path or None,
        }
        while True:
            said = await self._told(body)
            if said["error"] is not None:
                raise StepFailed(said["error"]["message"], type=said["error"]["type"])
            if not said["waiting"]:
                return said["result"]
            if said["dueAt"] is None:
                await self._session.wait_for(key)
            await self._pause(key, said["dueAt"])  # a short pause is waited out, and then the call is made again

    async def _told(self, body: Mapping[str, Any]) -> Any:
        answer = await self._session.post(CALL_PATH, body)
        if not answer.ok:
            if reason_of(answer) == DIVERGED:
                raise Diverged(answer.problem())
            raise StepFailed(answer.problem(), type="Refused")
        return answer.json()

    async def together(self, branches: Mapping[str, Callable[[Run], Awaitable[Json]]]) -> dict[str, Json]:
        results: dict[str, Json] = {}
        session = self._session

        async def work(name: str, code: Callable[[Run], Awaitable[Json]], within: Steps) -> None:
            try:
                results[name] = await code(within)
            finally:
                session.branches -= 1
                session.look()

        if not branches:
            return results
        session.branches += len(branches) - 1  # the asking branch only waits for them
        try:
            async with open_task_group() as nursery:
                for name, code in branches.items():
                    nursery.start_soon(work, name, code, Steps(session, self._key(name)))
        finally:
            session.branches += 1
        return {name: results[name] for name in branches}

    async def _pause(self, key: str, until: int) -> None:
        left_ms = until - self._session.clock.now()
        if left_ms > INLINE_PAUSE_MS:
            await self._session.wait_for(key)
        await trio.sleep(max(left_ms, 0) / 1_000)

    def _key(self, name: str) -> str:
        if self._session.over:
            raise LetGo
        if not name or _NOT_IN_NAMES & set(name):
            raise ValueError(f"A step's name may not be empty or hold '/' or '#': {name!r}")
        self._times[name] += 1
        times = self._times[name]
        path = f"{self._path}/{name}" if self._path else name
        return path if times == 1 else f"{path}#{times}"

    def _known(self, key: str, input: Json, kinds: set[str]) -> KnownStep | None:
        known = self._session.known.get(key)
        if known is not None and (known.kind not in kinds or known.input_digest != input_digest(input)):
            raise Diverged(diverged(key))
        return known


@dataclass(frozen=True)
class _Done:
    output: Json


def _as_json(output: object) -> Json:
    """The output as the code gets it again after a crash. Raises :class:`svc.workflow.Fatal` for what is no JSON."""
    try:
        return msgspec.json.decode(msgspec.json.encode(output))
    except (TypeError, ValueError, msgspec.MsgspecError, RecursionError) as error:
        raise Fatal(f"The step's result is no JSON: {error}") from error


def _failed(error: Exception, *, retryable: bool) -> dict[str, Any]:
    words = {"type": type(error).__name__, "message": str(error) or type(error).__name__}
    after_ms = round(min(error.after_s, LATEST_S) * 1_000) if isinstance(error, Later) else 0
    return {"state": "failed", "error": words, "retryable": retryable, "afterMs": after_ms}


def _result(known: KnownStep) -> Json:
    if known.error is not None and known.state == "failed":
        raise StepFailed(known.error.message, type=known.error.type)
    return known.output
