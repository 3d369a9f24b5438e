"""Everything that habits contribute: a table, a setting, two procedures, a consumer, a job and a command."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from svc.habits.migrations import MIGRATIONS

from svc.command import JSON, OK, Command, Invocation
from svc.config import Setting, whole_number
from svc.feature import Feature
from svc.job import Job
from svc.protocol import NOTHING, Nothing, Procedure, Wire
from svc.store import Consumer, Event, ReadTx, Tx
from svc.workspace import RequestContext, Workspace

GOAL: Setting[int] = Setting(
    name="SVC_HABITS_GOAL", parse=whole_number(1, 99), default=3, type="whole number", help="How often is often enough."
)


class DoneInput(Wire, frozen=True):
    name: str


class HabitOut(Wire, frozen=True):
    name: str
    done: int
    goal: int
    met: bool


def _done(tx: Tx, *, name: str) -> None:
    tx.record(type="habit-done", payload={"name": name}, audience=None, device_id="habits")


def _all(tx: ReadTx) -> list[tuple[str, int, bool]]:
    rows = tx.all("select name, done, met from habits order by name")
    return [(name, done, bool(met)) for name, done, met in rows]


def _judge(tx: Tx, *, goal: int) -> None:
    tx.run("update habits set met = 1 where done >= :goal", goal=goal)


def _count(tx: Tx, events: Sequence[Event]) -> None:
    for event in events:
        tx.run(
            "insert into habits (name, done) values (:name, 1) on conflict do update set done = done + 1",
            name=msgspec.json.decode(event.payload)["name"],
        )


async def done(context: RequestContext, wanted: DoneInput) -> Nothing:
    await context.workspace.store.write(_done, name=wanted.name)
    return NOTHING


async def habits(context: RequestContext, wanted: Nothing) -> list[HabitOut]:
    goal = context.workspace.config[GOAL]
    rows = await context.workspace.store.read(_all)
    return [HabitOut(name=name, done=count, goal=goal, met=met) for name, count, met in rows]


async def judge(workspace: Workspace) -> None:
    await workspace.store.write(_judge, goal=workspace.config[GOAL])


def print_all(call: Invocation) -> int:
    with call.home(read_only=True) as opened:
        rows = [{"name": name, "done": str(count)} for name, count, _ in opened.store.read_now(_all)]
    call.print_rows(rows, columns=("name", "done"))
    return OK


FEATURE = Feature(
    name="habits",
    summary="What a person wants to do each day.",
    settings=(GOAL,),
    migrations=MIGRATIONS,
    tables=("habits",),
    jobs=(Job(name="habits", summary="Says which habits were done often enough.", run=judge, every_s=0.5),),
    commands=(Command(name="habits list", summary="every habit", run=print_all, arguments=(JSON,)),),
    consumers=(
        Consumer(name="habits", types=frozenset({"habit-done"}), summary="Counts what was done.", apply=_count),
    ),
    procedures=(
        Procedure(
            name="habits.done",
            kind="mutation",
            access="authenticated",
            input=DoneInput,
            output=Nothing,
            call=done,
            summary="A habit was done once more.",
        ),
        Procedure(
            name="habits.list",
            kind="query",
            access="authenticated",
            input=Nothing,
            output=list[HabitOut],
            call=habits,
            summary="All habits, and how often each was done.",
        ),
    ),
)
