"""Durable runs: steps a second, each committed before the next begins, and what waiting runs cost.

The limit is a bare table of SQLite with one durable commit a step. The peer is DBOS on SQLite, where it is installed
(``pip install dbos``): one workflow of as many steps, its own way of keeping them.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import trio

from benchmarks.broker import TOKEN, opened
from benchmarks.processes import REPOSITORY, START_TIMEOUT_S, environment
from benchmarks.report import Table, count, median, milliseconds, paired_ratio
from benchmarks.run_worker import MEASURED
from svc.doors import LOOPBACK, Internal
from svc.nursery import open_task_group
from svc.protocol import Drain, Idle, Link, serve_connection
from svc.protocol.memory import stream_pair
from svc.runs import Dispatcher, begin
from svc.runs.dispatch import order_of
from svc.runs.leasing import lease
from svc.store import ReadTx, Tx
from svc.worker.executor import Executor
from svc.worker.history import Order
from svc.workflow import Json, Run, Workflow
from svc.workspace import Workspace

STEPS: Final = 1_000
QUICK_STEPS: Final = 200
ROUNDS: Final = 5
QUICK_ROUNDS: Final = 3
SLEEPERS: Final = 10_000
LOOKS: Final = 200
A_DAY_MS: Final = 86_400_000

DBOS: Final = """
import sys, time
from dbos import DBOS
steps, path = int(sys.argv[1]), sys.argv[2]
url = f"sqlite:///{path}"
DBOS(config={"name": "bench", "system_database_url": url, "run_admin_server": False, "log_level": "ERROR"})
@DBOS.step()
def one(number): return number
@DBOS.workflow()
def many():
    for number in range(steps): one(number)
DBOS.launch()
many()
began = time.perf_counter(); many(); print("seconds", time.perf_counter() - began)
DBOS.destroy()
"""


def run(quick: bool) -> Iterable[Table]:
    rounds, steps = (QUICK_ROUNDS, QUICK_STEPS) if quick else (ROUNDS, STEPS)
    yield _steps(rounds, steps)
    yield trio.run(_sleepers)


def _steps(rounds: int, steps: int) -> Table:
    table = Table(title="Steps of a run, one after the other, each durable", columns=("way", "steps/s", "x bare"))
    ways: dict[str, Callable[[Path, int], float]] = {
        "bare SQLite, a commit a step": _bare,
        "svc, both planes in one process": lambda path, steps: trio.run(_ours, path, steps),
        "svc, the worker a process of its own": lambda path, steps: trio.run(_apart, path, steps),
    }
    if subprocess.run([sys.executable, "-c", "import dbos"], capture_output=True, check=False).returncode == 0:
        ways["DBOS on SQLite"] = _dbos
    else:
        table.notes.append("DBOS is not installed here")
    found: dict[str, list[float]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as directory:
        for number in range(rounds):
            for name, way in ways.items():
                found[name].append(way(Path(directory) / f"{number}-{len(found[name])}-{len(name)}", steps))
    bare = found["bare SQLite, a commit a step"]
    for name, times in found.items():
        table.add(name, count(steps / median(times)), paired_ratio(times, bare))
    table.notes.append(f"{count(steps)} steps a round, {rounds} interleaved rounds; x bare: time, medians of ratios")
    return table


def _bare(path: Path, steps: int) -> float:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript("pragma journal_mode = wal; pragma synchronous = full; create table s (k text, v text);")
    began = time.perf_counter()
    for number in range(steps):
        connection.execute("insert into s values (?, ?)", (str(number), str(number)))
    seconds = time.perf_counter() - began
    connection.close()
    return seconds


def _dbos(path: Path, steps: int) -> float:
    done = subprocess.run(
        [sys.executable, "-c", DBOS, str(steps), f"{path}.sqlite"], capture_output=True, text=True, check=True
    )
    return float(done.stdout.rpartition("seconds ")[2])


async def _ours(path: Path, steps: int) -> float:
    ended = trio.Event()
    times: list[float] = []

    async def code(run: Run, input: Json) -> Json:
        began = time.perf_counter()
        for number in range(steps):
            await run.step("one", partial(_number, number))
        times.append(time.perf_counter() - began)
        ended.set()

    workflow = Workflow(name="measured", version=1, title="", code=code)
    async with opened(path) as workspace, open_task_group() as nursery:
        internal = workspace.service(Internal)
        internal.trust(TOKEN)
        internal.port = 4782
        serve = partial(serve_connection, log=workspace.log, peer="127.0.0.1", drain=Drain(), idle=Idle())
        application = internal.build_application()

        async def connect() -> trio.abc.Stream:
            ours, theirs = stream_pair()
            nursery.start_soon(serve, theirs, application)
            return ours

        link = Link(connect=connect, authority="127.0.0.1:4782", token=TOKEN)
        executor = Executor(
            workflows={workflow.name: workflow},
            link=link,
            control_url="http://127.0.0.1:1",
            clock=workspace.clock,
            log=workspace.log,
        )
        executor.work_in(nursery)
        await give_to(workspace, executor, workflow)
        await ended.wait()
        nursery.cancel_scope.cancel()
    return times[0]


async def _apart(path: Path, steps: int) -> float:
    """The trusted plane here, the worker as another process, and loopback between them."""
    async with opened(path) as workspace, open_task_group() as nursery:
        internal, dispatcher = workspace.service(Internal), workspace.service(Dispatcher)
        internal.trust(TOKEN)
        dispatcher.token = TOKEN
        listeners = await trio.open_tcp_listeners(0, host=LOOPBACK)
        internal.take(listeners)
        application = internal.build_application()

        async def serve(stream: trio.SocketStream) -> None:
            await serve_connection(stream, application, log=workspace.log, peer=LOOPBACK, drain=Drain(), idle=Idle())

        nursery.start_soon(trio.serve_listeners, serve, listeners)
        settings = {"SVC_INTERNAL_TOKEN": TOKEN, "SVC_BROKER_URL": f":{internal.port}", "SVC_WORKER_URL": ":0"}
        worker = await trio.lowlevel.open_process(
            [sys.executable, "-m", "benchmarks.run_worker"],
            cwd=REPOSITORY,
            env={**environment(path), **settings},
            stderr=subprocess.DEVNULL,
        )
        try:
            with trio.fail_after(START_TIMEOUT_S):
                while not dispatcher.workers():
                    await dispatcher.wake.wait()
            run_id = await workspace.store.write(begin, None, MEASURED, steps)
            await dispatcher.look()
            while (output := await workspace.store.read(_output, run_id)) is None:
                await dispatcher.wake.wait()  # the end of a run calls it
        finally:
            worker.terminate()
            with trio.CancelScope(shield=True):  # bounded: it ends on this signal
                await worker.wait()
        nursery.cancel_scope.cancel()
    return output


def _output(tx: ReadTx, run_id: str) -> float | None:
    found = tx.one("select state, output, error from runs where id = :id", id=run_id)
    assert found is not None
    assert found[0] != "failed", found[2]
    return None if found[1] is None else float(str(found[1]))


async def give_to(workspace: Workspace, executor: Executor, workflow: Workflow) -> None:
    """Give the run to the executor as the dispatcher does, but without a port."""
    await workspace.store.write(begin, None, workflow, None)
    (leased,) = await workspace.store.write(lease, "measured")
    executor.take(msgspec.convert(msgspec.json.decode(msgspec.json.encode(order_of(leased))), Order))


async def _number(number: int, key: str) -> Json:
    return number


async def _sleepers() -> Table:
    table = Table(title=f"{count(SLEEPERS)} runs that wait for tomorrow", columns=("", "a look, ms", "memory, KiB"))
    with tempfile.TemporaryDirectory() as directory:
        async with opened(Path(directory) / "home") as workspace:
            dispatcher = workspace.service(Dispatcher)
            await dispatcher.meet(url="http://127.0.0.1:1", instance="i", version="", held={})
            tracemalloc.start()
            for name, plant in (("none", 0), (count(SLEEPERS), SLEEPERS)):
                await workspace.store.write(_plant, plant)
                before = tracemalloc.get_traced_memory()[0]
                began = time.perf_counter()
                for _ in range(LOOKS):
                    await dispatcher.look()
                seconds = (time.perf_counter() - began) / LOOKS
                grown = (tracemalloc.get_traced_memory()[0] - before) / 1024
                table.add(name, milliseconds(seconds), count(max(grown, 0)))
            tracemalloc.stop()
    table.notes.append("a look: the dispatcher asks what is due, every 30 s at the latest; traced by tracemalloc")
    return table


def _plant(tx: Tx, number: int) -> None:
    tx.run_many(
        """
        insert into runs (id, workflow, version, title, state, input, calls, capabilities, due_at, created_at)
        values (:id, 'nap', 1, 'Nap', 'waiting', 'null', '[]', '[]', :due_at, :now)
        """,
        [{"id": f"run_{one}", "due_at": tx.now + A_DAY_MS + one, "now": tx.now} for one in range(number)],
    )
