"""The records of ``inside`` on the wire. None of them holds text of mail, pages or files."""

from __future__ import annotations

from svc.clock import rfc3339
from svc.log import Level, Trouble
from svc.mail import AccountState
from svc.nursery import ChildState, Phase, Stall, TreeRow
from svc.nursery.inspector import Kind
from svc.protocol import Wire


class TaskRow(Wire, frozen=True):
    """A line of the task tree, in the order of the tree. ``depth``: its level in the tree.

    ``kind``: a `task`; a `nursery` of the task above it, if that task has several; or `more` tasks of one name, which
    wait less long than those shown. ``count``: the number of tasks in a nursery, or behind `more`. ``waits_in``: the
    place in the code; ``waits_for``: the function that it called. ``seconds``: the time since it last ran, of each
    task; ``at_least``: it may be some seconds more, because the task has not run since somebody first looked.
    """

    depth: int
    kind: Kind
    name: str
    waits_in: str
    waits_for: str
    seconds: float | None
    at_least: bool
    count: int


class PartRow(Wire, frozen=True):
    """A subsystem: its state, how often it was restarted, and its last crash."""

    name: str
    phase: Phase
    restarts: int
    last_error: str


class LineRow(Wire, frozen=True):
    """A queue where work waits for its turn: ``busy`` of ``most`` places are in use (``most`` 0: one after the
    other)."""

    name: str
    title: str
    waiting: int
    busy: int
    most: int


class AccountRow(Wire, frozen=True):
    """A connected mailbox, without its address."""

    id: str
    owner: str
    provider: str
    state: AccountState
    last_synced_at: str | None


class StallRow(Wire, frozen=True):
    """A stall: something blocked the event loop until ``at``. ``stack``: the innermost place first."""

    at: str
    took_ms: int
    stack: tuple[str, ...]


class TroubleRow(Wire, frozen=True):
    at: str
    level: Level
    event: str
    detail: str


class InsideOut(Wire, frozen=True):
    """``cut``: the tree has more rows than are shown. ``connections``: the open ones of the public port, and the
    maximum; both are ``None`` behind another front."""

    at: str
    version: str
    up_seconds: float
    memory_bytes: int | None
    descriptors: int | None
    connections: int | None
    connections_most: int | None
    tasks: tuple[TaskRow, ...]
    cut: bool
    parts: tuple[PartRow, ...]
    lines: tuple[LineRow, ...]
    accounts: tuple[AccountRow, ...]
    stalls: tuple[StallRow, ...]
    troubles: tuple[TroubleRow, ...]


def task_row(row: TreeRow) -> TaskRow:
    return TaskRow(
        depth=row.depth,
        kind=row.kind,
        name=row.name,
        waits_in=row.waits_in,
        waits_for=row.waits_for,
        seconds=None if row.seconds is None else round(row.seconds, 3),
        at_least=row.at_least,
        count=row.count,
    )


def part_row(name: str, state: ChildState) -> PartRow:
    return PartRow(name=name, phase=state.phase, restarts=state.restarts, last_error=state.last_error)


def stall_row(stall: Stall) -> StallRow:
    return StallRow(at=rfc3339(stall.at), took_ms=stall.took_ms, stack=stall.stack)


def trouble_row(trouble: Trouble) -> TroubleRow:
    return TroubleRow(at=rfc3339(trouble.at), level=trouble.level, event=trouble.event, detail=trouble.detail)
