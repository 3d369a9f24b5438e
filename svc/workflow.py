"""A workflow: work that survives a crash, as plain functions that call steps. The rows by which features add it.

The code of a workflow runs in the worker plane and is handed a :class:`Run`. All that it does it does through steps:
the result of each is kept in the trusted plane under the step's key, and after a crash the code runs again from its
beginning, with the kept results in place of the work. So between two steps the code must decide the same each time:
no clock, no chance, no files.

A :class:`Call` is what a workflow may ask of the trusted plane: it is decided in the transaction that keeps the step's
result, so it happens exactly once. What a step does elsewhere happens at least once, with the same key each time.
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
"""None, bool, int, float, str, list or dict of such: what JSON can say."""

StepKind = Literal["step", "tool", "llm", "timer", "approval", "child"]


class StepFailed(Exception):
    """A step has failed for good. The code may catch it; else its run fails with the same words."""

    def __init__(self, message: str, *, type: str = "StepFailed") -> None:
        super().__init__(message)
        self.type = type


class Fatal(Exception):
    """Raised by the work of a step: trying again would not help."""


class Answer(Protocol):
    """An answer of the broker whose head is here; its body is read piece by piece. Who asked closes it."""

    @property
    def status(self) -> int: ...

    def header(self, name: str) -> str | None:
        """``name`` in small letters."""
        ...

    async def receive(self) -> bytes:
        """The next piece; empty at the end. Raises ``LinkFault`` where the answer is cut."""
        ...

    async def aclose(self) -> None: ...


class Run(Protocol):
    """What the code of a workflow is handed.

    A step's key is its path: the names of the branches around it, its own name and, from the second time, which time
    it is. Raises :class:`StepFailed` where a step fails for good.
    """

    @property
    def id(self) -> str: ...

    @property
    def path(self) -> str:
        """The branches around what is done here, as in the keys of its steps; empty outside of any."""
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
        """The result of ``work(key)``. ``key`` is the same for each try, for services that know such keys.

        ``once``: for work that must not happen twice, at a service that knows no such keys. It is noted before it
        begins. Where it has begun and nothing says that it was done (it raised, or its worker died), a person is
        asked whether to do it again; where they decline, the step fails.

        Work must not hold up the event loop, for the worker would fall silent and lose the run to another: what
        computes for long goes to a thread, ``await trio.to_thread.run_sync(…)``.
        """
        ...

    async def call(self, call: str, input: Json = None, *, name: str = "") -> Json:
        """What the trusted plane answers to that call of a feature. ``name`` of the step: the call's, unless given."""
        ...

    async def sleep(self, name: str, seconds: float) -> None:
        """Go on after so many seconds, days included. Nothing of the run is held in memory meanwhile."""
        ...

    async def approval(self, name: str, *, tool: str, summary: str, input: Json, expires_s: float) -> Json:
        """The input that a person let through, perhaps changed. Raises :class:`StepFailed` where they decline."""
        ...

    async def child(self, name: str, workflow: str, input: Json = None) -> Json:
        """The output of another run, begun once and waited for."""
        ...

    async def broker(
        self, path: str, body: bytes, *, headers: Mapping[str, str], method: str = "POST", within_s: float = 600.0
    ) -> Answer:
        """Ask the broker something that goes out with a credential of the run's, within a step's work.

        ``path`` lies below the broker's, as ``/llm-a/v1/messages``. It is no step of its own. Raises ``LinkFault``.
        """
        ...

    async def together(self, branches: Mapping[str, Callable[[Run], Awaitable[Json]]]) -> dict[str, Json]:
        """The results of branches that work at the same time, each with a name of its own in its steps' keys."""
        ...


Code = Callable[[Run, Json], Awaitable[Json]]


@dataclass(frozen=True, kw_only=True)
class Workflow:
    """``version`` is raised by hand when a change would lead a run that has begun to other steps. ``older``: the code
    of earlier versions that is kept so that their runs can end; a run whose version is gone fails in words.

    ``calls`` and ``capabilities`` are all that a run of it may use.
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
    """Which run calls, for whom, and under which key, which is the same each time."""

    run_id: str
    key: str
    principal: Principal


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """The answer of a call that is there later: at ``due_at`` at the latest, where there is a time."""

    kind: StepKind
    due_at: Millis | None = None


Decide = Callable[["Workspace", "Tx", Caller, Any], Json | Waiting]


@dataclass(frozen=True, kw_only=True)
class Call:
    """``decide`` gets the decoded ``input`` inside the transaction that keeps its answer. ``then`` is called after the
    commit: to wake whoever carries on."""

    name: str
    summary: str
    input: type
    decide: Decide
    then: Callable[[Workspace], None] = lambda workspace: None
