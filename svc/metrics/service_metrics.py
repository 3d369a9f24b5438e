"""The metrics of the service itself: memory, the event loop, queues, the database, subsystems."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import trio

from svc import __version__
from svc.metric import Metric, Values
from svc.nursery import Inspector, Watchdog, open_descriptors, resident_bytes
from svc.store import Following, lags
from svc.workspace import Workspace


async def _up(workspace: Workspace) -> Values:
    return {(): trio.current_time() - workspace.service(Inspector).began_s}


async def _version(workspace: Workspace) -> Values:
    return {(__version__,): 1}


async def _memory(workspace: Workspace) -> Values:
    return _if_known(await workspace.threads.run(resident_bytes))


async def _descriptors(workspace: Workspace) -> Values:
    return _if_known(await workspace.threads.run(open_descriptors))


def _if_known(value: int | None) -> Values:
    return {} if value is None else {(): value}


async def _rounds(workspace: Workspace) -> Values:
    return {(): workspace.service(Watchdog).rounds}


async def _queued(workspace: Workspace) -> Values:
    threads, processes = workspace.threads.statistics(), workspace.processes.statistics()
    return {
        ("writes",): workspace.store.queued_writes,
        ("threads",): threads.tasks_waiting,
        ("processes",): processes.tasks_waiting,
    }


async def _busy(workspace: Workspace) -> Values:
    threads, processes = workspace.threads.statistics(), workspace.processes.statistics()
    return {("threads",): threads.borrowed_tokens, ("processes",): processes.borrowed_tokens}


async def _listeners(workspace: Workspace) -> Values:
    return {(): workspace.store.outbox.listeners}


async def _behind(workspace: Workspace) -> Values:
    found = await workspace.store.read(lags, workspace.service(Following).rows)
    return {(one.name,): one.events for one in found}


async def _database(workspace: Workspace) -> Values:
    database = workspace.home.database
    files = {"database": database, "wal": database.with_name(f"{database.name}-wal")}
    return await workspace.threads.run(_sizes, files)


def _sizes(files: dict[str, Path]) -> Values:
    return {(name,): path.stat().st_size for name, path in files.items() if path.exists()}


async def _parts(workspace: Workspace) -> Values:
    counts = Counter(state.phase for state in workspace.root.states().values())
    return {(phase,): count for phase, count in counts.items()}


async def _restarts(workspace: Workspace) -> Values:
    return {(): sum(state.restarts for state in workspace.root.states().values())}


METRICS = (
    Metric(name="svc_info", kind="gauge", help="The version that runs.", read=_version, labels=("version",)),
    Metric(name="svc_up_seconds", kind="gauge", help="Since the start.", read=_up),
    Metric(name="svc_process_resident_memory_bytes", kind="gauge", help="Memory of the process in use.", read=_memory),
    Metric(name="svc_process_open_descriptors", kind="gauge", help="Files and sockets open.", read=_descriptors),
    Metric(
        name="svc_loop_round_seconds",
        kind="histogram",
        help="How long rounds of the event loop took, which is how late what was due at their start came.",
        read=_rounds,
    ),
    Metric(name="svc_queue_waiting", kind="gauge", help="Calls that wait.", read=_queued, labels=("queue",)),
    Metric(name="svc_queue_busy", kind="gauge", help="Calls that are worked on.", read=_busy, labels=("queue",)),
    Metric(
        name="svc_live_listeners", kind="gauge", help="Who follows live updates, our own included.", read=_listeners
    ),
    Metric(
        name="svc_consumer_behind_events",
        kind="gauge",
        help="Events that a consumer has not dealt with yet; counted up to 10,000.",
        read=_behind,
        labels=("consumer",),
    ),
    Metric(
        name="svc_store_size_bytes",
        kind="gauge",
        help="Of the database and its write-ahead log on disk.",
        read=_database,
        labels=("file",),
    ),
    Metric(name="svc_parts", kind="gauge", help="Parts of the service by phase.", read=_parts, labels=("phase",)),
    Metric(name="svc_part_restarts_total", kind="counter", help="Restarts of parts after a crash.", read=_restarts),
)
