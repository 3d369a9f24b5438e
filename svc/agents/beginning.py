"""Agents that start by themselves: on their schedule, when a mail arrives, or when a page changes. No cause starts a
run twice, and no agent has more than a few runs at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from svc.agents.actions import Wanted, begin
from svc.agents.definitions import AGENTS
from svc.agents.model import OPEN_AT_MOST_MS, OPEN_AT_ONCE, TRIGGERED_AN_HOUR, Definition, Schedule
from svc.clock import HOUR_MS
from svc.configuring import Configuration, Configured
from svc.errors import Refusal
from svc.mail import MAIL_RECEIVED
from svc.pages import PAGE_CHANGED
from svc.principal import Principal
from svc.runs import Dispatcher, acting_for
from svc.store import Event, ReadTx, Tx
from svc.workspace import Workspace

TYPES: Final = frozenset({MAIL_RECEIVED, PAGE_CHANGED})
DEVICE_ID: Final = "system:agents"
_PAGE: Final = "page:"


async def keep_schedules(workspace: Workspace) -> None:
    """Begin the runs that are due. If none is due, nothing is written."""
    if not await workspace.store.read(_behind, workspace):
        return
    _tell(workspace, await workspace.store.write(_begin_due, workspace))


async def follow(workspace: Workspace, events: Sequence[Event]) -> None:
    _tell(workspace, await workspace.store.write(_begin_triggered, workspace, events))


@dataclass
class _Begun:
    """``refused``: for each agent of which no run was begun, its path and the reason."""

    count: int = 0
    refused: dict[str, str] = field(default_factory=dict)


def _tell(workspace: Workspace, begun: _Begun) -> None:
    for path, why in begun.refused.items():
        workspace.log.warning("agents.not_begun", path=path, why=why)
    if begun.count:
        workspace.service(Dispatcher).wake.call()


def owner_of(tx: ReadTx, one: Configured[Definition]) -> Principal:
    """The principal of an agent's run: the owner of its page."""
    return acting_for(tx, one.owner_id, device_id=DEVICE_ID)


@dataclass(frozen=True)
class _Behind:
    """``gone``: the pages that have no schedule any more. ``due``: agents whose next time must be set, each with the
    time that has come; ``None`` where its page is new or changed.
    """

    gone: frozenset[str]
    due: tuple[tuple[Configured[Definition], Schedule, int | None], ...]

    def __bool__(self) -> bool:
        return bool(self.gone or self.due)


def _behind(tx: ReadTx, workspace: Workspace) -> _Behind:
    known = {row[0]: (row[1], row[2]) for row in tx.all("select page_id, revision, next_at from agent_schedules")}
    gone, due = set(known), []
    for one in workspace.service(Configuration).of(tx, AGENTS, everybody=True):
        schedule = one.value.schedule
        if schedule is None:
            continue
        gone.discard(one.page_id)
        revision, next_at = known.get(one.page_id, (None, 0))
        if revision != one.revision:
            due.append((one, schedule, None))
        elif next_at <= tx.now:
            due.append((one, schedule, next_at))
    return _Behind(frozenset(gone), tuple(due))


def _begin_due(tx: Tx, workspace: Workspace) -> _Begun:
    begun = _Begun()
    behind = _behind(tx, workspace)
    for page_id in behind.gone:
        tx.run("delete from agent_schedules where page_id = :id", id=page_id)
    for one, schedule, came in behind.due:
        if came is not None and _is_busy(tx, one):
            continue  # its time stays, so it begins as soon as it may
        if came is not None:
            _begin(tx, workspace, one, Wanted(agent=one.path, cause=f"{one.page_id}:{came}"), begun)
        tx.run(
            """
            insert into agent_schedules (page_id, revision, next_at) values (:id, :revision, :next_at)
            on conflict (page_id) do update set revision = excluded.revision, next_at = excluded.next_at
            """,
            id=one.page_id,
            revision=one.revision,
            next_at=schedule.after(tx.now),
        )
    return begun


def _begin_triggered(tx: Tx, workspace: Workspace, events: Sequence[Event]) -> _Begun:
    begun = _Begun()
    there = [one for one in workspace.service(Configuration).of(tx, AGENTS, everybody=True) if one.value.triggers]
    if not there:
        return begun
    for event in events:
        said = msgspec.json.decode(event.payload, type=dict[str, Any])
        for one in there:
            wanted = _wanted(one, event, said) if _hears(tx, one, event) else None
            if wanted is None:
                continue
            if why := held_up(tx, one):
                begun.refused[one.path] = why
            else:
                _begin(tx, workspace, one, wanted, begun)
    return begun


def _hears(tx: ReadTx, one: Configured[Definition], event: Event) -> bool:
    owner = owner_of(tx, one)
    return owner.sees_everything or (owner.user_id is not None and event.audience == owner.user_id)


def _wanted(one: Configured[Definition], event: Event, said: dict[str, Any]) -> Wanted | None:
    """The run to begin if the event triggers this agent. Changes made by runs trigger nothing."""
    cause = f"{one.page_id}:{event.key}"
    if event.type == MAIL_RECEIVED:
        if "mail" not in one.value.triggers or said.get("own") or said.get("backfill"):
            return None
        told = {"threadId": said.get("threadId"), "messageId": said.get("messageId")}
        return Wanted(agent=one.path, prompt="A mail came.", input=told, cause=cause, outside="a mail that came")
    path = str(said.get("path", ""))
    if event.device_id.startswith(("run:", "system:")) or path == one.path:
        return None
    patterns = [trigger[len(_PAGE) :] for trigger in one.value.triggers if trigger.startswith(_PAGE)]
    if not any(fnmatchcase(path, pattern) for pattern in patterns):
        return None
    return Wanted(
        agent=one.path, prompt="A page changed.", input={"path": path}, cause=cause, outside="a page that changed"
    )


def held_up(tx: ReadTx, one: Configured[Definition]) -> str:
    """Why nothing of this agent begins by itself now; empty if it does."""
    if not one.value.triggers and one.value.schedule is None:
        return ""
    if len(_open(tx, one)) >= OPEN_AT_ONCE:
        return f"{OPEN_AT_ONCE} of its runs have not ended. It begins by itself again once one of them has."
    begun = tx.value(
        "select count(*) from agent_runs where page_id = :id and at > :since and cause is not null",
        id=one.page_id,
        since=tx.now - HOUR_MS,
    )
    if one.value.triggers and int(begun) >= TRIGGERED_AN_HOUR:
        return f"It has begun {TRIGGERED_AN_HOUR} times within an hour. Its triggers begin nothing until it is over."
    return ""


def _is_busy(tx: ReadTx, one: Configured[Definition]) -> bool:
    """Whether its schedule waits: an earlier run goes on, or too many wait for a person."""
    states = _open(tx, one)
    return len(states) >= OPEN_AT_ONCE or any(state != "waiting" for state in states)


def _open(tx: ReadTx, one: Configured[Definition]) -> list[str]:
    """The states of its runs that began by themselves and have not ended."""
    rows = tx.all(
        """
        select r.state from agent_runs a join runs r on r.id = a.run_id
        where a.page_id = :id and a.at > :since and a.cause is not null and r.state in ('queued', 'running', 'waiting')
        limit :most
        """,
        id=one.page_id,
        since=tx.now - OPEN_AT_MOST_MS,
        most=OPEN_AT_ONCE,
    )
    return [str(state) for (state,) in rows]


def _begin(tx: Tx, workspace: Workspace, one: Configured[Definition], wanted: Wanted, begun: _Begun) -> None:
    if tx.value("select 1 from agent_runs where cause = :cause", cause=wanted.cause) is not None:
        return
    try:
        with tx.savepoint():
            begin(tx, workspace, owner_of(tx, one), wanted)
    except Refusal as refusal:
        begun.refused[one.path] = str(refusal)
        return
    begun.count += 1
