"""A workflow: work that continues after a crash, as plain functions that call steps. Features add workflows as rows.

The code of a workflow runs in the worker plane and gets a :class:`Run`. It does all its work in steps. The trusted
plane stores the result of each step under the step's key. After a crash the code runs again from the beginning, and
gets the stored results instead of doing the work again. So between two steps the code must decide the same each time:
no clock, no random numbers, no files.

A :class:`Call` is what a workflow may ask of the trusted plane. It is decided in the transaction that stores the step's
result, so it happens exactly once. What a step does at another service happens at least once, with the same key each
time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from svc.clock import Millis
from svc.principal import Principal

if TYPE_CHECKING:
    from svc.store import Tx
    from svc.workspace import Workspace

Json = Any
"""None, bool, int, float, str, list or dict of these: all that JSON can hold."""

StepKind = Literal["step", "tool", "llm", "timer", "approval", "child"]


class StepFailed(Exception):
    """A step has failed for good. The code may catch it; else its run fails with the same message."""

    def __init__(self, message: str, *, type: str = "StepFailed") -> None:
        super().__init__(message)
        self.type = type


class Fatal(Exception):
    """Raised by the work of a step: another try would not help."""


class Later(Exception):
    """Raised by the work of a step: another try may help, but not before ``after_s`` seconds."""

    after_s: float = 0.0


class Answer(Protocol):
    """An answer of the broker whose head has arrived. Its body is read piece by piece. The caller closes it."""

    @property
    def status(self) -> int: ...

    def header(self, name: str) -> str | None:
        """``name`` is in lower case."""
        ...

    async def receive(self) -> bytes:
        """The next piece; empty at the end. Raises ``LinkFault`` if the answer is cut off."""
        ...

    async def aclose(self) -> None: ...


class Run(Protocol):
    """What the code of a workflow gets.

    A step's key is its path: the names of the branches around it, its own name and, from the second use of that name
    on, a number. Raises :class:`StepFailed` if a step fails for good.
    """

    @property
    def id(self) -> str: ...

    @property
    def path(self) -> str:
        """The names of the branches around the current code, as in the keys of its steps; empty outside of
        any branch.
        """
        ...

    async def step(
        self,
        name: str,
        work: Callable[[str], Awaitable[Json]],
        *,
        input: Json = None,
        kind: StepKind = "step",
        once: bool = False,
    ) -> Json:
        """The result of ``work(key)``. ``key`` is the same for each try, as an idempotency key for services that
        support one.

        ``once``: for work that must not happen twice, at a service without idempotency keys. The start is recorded
        before the work. If it has started and no end was recorded (it raised, or its worker died), a person is asked
        whether to do it again. If they decline, the step fails.

        Work must not block the event loop: the worker would fall silent and lose the run to another. Long computations
        go to a thread, ``await trio.to_thread.run_sync(…)``.
        """
        ...

    async def call(self, call: str, input: Json = None, *, name: str = "") -> Json:
        """The answer of the trusted plane to this call of a feature. ``name`` of the step: by default the name of the
        call.
        """
        ...

    async def sleep(self, name: str, seconds: float) -> None:
        """Continue after this many seconds, which may be days. Meanwhile nothing of the run is held in memory."""
        ...

    async def approval(self, name: str, *, tool: str, summary: str, input: Json, expires_s: float) -> Json:
        """The input that a person approved, perhaps changed. Raises :class:`StepFailed` if they decline."""
        ...

    async def child(self, name: str, workflow: str, input: Json = None) -> Json:
        """The output of a child run, which is begun once and waited for."""
        ...

    async def broker(
        self, path: str, body: bytes, *, headers: Mapping[str, str], method: str = "POST", within_s: float = 600.0
    ) -> Answer:
        """Send a request through the broker, which adds a credential of the run. For use within a step's work.

        ``path`` is below the broker's, such as ``/llm-a/v1/messages``. It is not a step itself. Raises ``LinkFault``.
        """
        ...

    async def together(self, branches: Mapping[str, Callable[[Run], Awaitable[Json]]]) -> dict[str, Json]:
        """The results of branches that run at the same time. Each name is part of the keys of the branch's steps."""
        ...


Code = Callable[[Run, Json], Awaitable[Json]]


@dataclass(frozen=True, kw_only=True)
class Workflow:
    """``version`` is raised by hand when a change would lead a run in progress to other steps. ``older``: the code of
    earlier versions, kept so that their runs can end. A run whose version is gone fails with a message.

    ``calls`` and ``capabilities`` are all that its runs may use.
    """

    name: str
    version: int
    title: str
    code: Code
    older: Mapping[int, Code] = field(default_factory=dict)
    calls: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The run that calls, its principal, and the key of the call, which is the same each time."""

    run_id: str
    key: str
    principal: Principal


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """The answer to a call comes later, at ``due_at`` at the latest, if that is given."""

    kind: StepKind
    due_at: Millis | None = None


Decide = Callable[["Workspace", "Tx", Caller, Any], Json | Waiting]


@dataclass(frozen=True, kw_only=True)
class Call:
    """``decide`` gets the decoded ``input`` inside the transaction that stores its answer. ``then`` is called after the
    commit, to wake whatever continues the work.
    """

    name: str
    summary: str
    input: type
    decide: Decide
    then: Callable[[Workspace], None] = lambda workspace: None
