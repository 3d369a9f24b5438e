"""A model that is asked by a run's step, through the broker, and by itself: until the first token, and until the end.

The vendor is a bare loop of trio and h11 that streams twenty words without a pause, over a socket, so that all that is
seen is the way. Through the broker a call is reserved in the ledger and the key's acquisition written down, both
durably, before anything leaves; a step is kept durably, too, with its answer.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Final

import trio

from benchmarks.broker import TOKEN, opened
from benchmarks.processes import on_inherited_listener
from benchmarks.report import Table, count, median, milliseconds, paired_ratio, percentile
from benchmarks.runs import give_to
from svc.broker import Outgoing, Streamed, Vendors
from svc.doors import Internal
from svc.nursery import open_task_group
from svc.protocol import Drain, Idle, Link, serve_connection
from svc.protocol.memory import stream_pair
from svc.worker.executor import Executor
from svc.worker.models import Question, Said, Text, ask
from svc.worker.models.terms import Event
from svc.workflow import Json, Run, Workflow
from svc.workspace import Workspace

CALLS: Final = 100
QUICK_CALLS: Final = 30
ROUNDS: Final = 5
QUICK_ROUNDS: Final = 3
WARM_UP: Final = 5
PATH: Final = "/llm-a/v1/messages"
BODY: Final = b'{"model":"claude-haiku","max_tokens":50,"stream":true,"messages":[{"role":"user","content":"hello"}]}'
HEADERS: Final = {"content-type": "application/json", "anthropic-version": "2023-06-01"}

Times = dict[str, list[list[tuple[float, float]]]]
"""By way and round: seconds until the first token and until the end, of each call."""


def run(quick: bool) -> Iterable[Table]:
    rounds, calls = (QUICK_ROUNDS, QUICK_CALLS) if quick else (ROUNDS, CALLS)
    with (
        tempfile.TemporaryDirectory() as directory,
        on_inherited_listener(["benchmarks.servers.streaming_vendor", "FD"]) as vendor,
    ):
        times = trio.run(_measured, Path(directory) / "home", vendor.port, rounds, calls)
    table = Table(
        title="A model asked, by way",
        columns=("way", "first token, p50 ms", "p95", "x direct", "whole, p50 ms", "p95", "x direct"),
    )
    direct = times[DIRECT]
    for name, found in times.items():
        cells: list[str] = []
        for which in (0, 1):
            flat = [one[which] for calls_ in found for one in calls_]
            medians, others = ([median([one[which] for one in calls_]) for calls_ in ways] for ways in (found, direct))
            cells += [milliseconds(median(flat)), milliseconds(percentile(flat, 95)), paired_ratio(medians, others)]
        table.add(name, *cells)
    table.notes.append(f"{count(calls)} calls a round, {rounds} interleaved rounds; ratios within each round")
    table.notes.append("both planes in one process, memory between them; a vendor thinks for half a second and more")
    yield table


DIRECT: Final = "the vendor itself, over a socket"
BROKER: Final = "a call of a run through the broker"
STEP: Final = "a step of a run that asks"


async def _measured(home: Path, vendor_port: int, rounds: int, calls: int) -> Times:
    times: Times = {DIRECT: [], BROKER: [], STEP: []}
    ended = trio.Event()
    direct = Link(
        connect=partial(trio.open_tcp_stream, "127.0.0.1", vendor_port), authority="127.0.0.1:4782", token=TOKEN
    )

    async def code(run: Run, input: Json) -> Json:
        """The clock stands in a run's code for this once: none of it decides what the run does."""
        for number in range(-1, rounds):
            here = calls if number >= 0 else WARM_UP
            found = {
                DIRECT: [await _direct(direct) for _ in range(here)],
                BROKER: [await _through(run) for _ in range(here)],
                STEP: [await _step(run) for _ in range(here)],
            }
            if number >= 0:
                for name, way in found.items():
                    times[name].append(way)
        ended.set()

    workflow = Workflow(name="measured", version=1, title="", code=code, capabilities=("llm.a",))
    async with opened(home) as workspace, open_task_group() as nursery:
        internal = workspace.service(Internal)
        internal.trust(TOKEN)
        internal.port = 4782
        workspace.service(Vendors).replace_all(partial(_over_http, workspace, vendor_port))
        serve = partial(serve_connection, log=workspace.log, peer="127.0.0.1", drain=Drain(), idle=Idle())
        application = internal.build_application()

        async def connect() -> trio.abc.Stream:
            ours, theirs = stream_pair()
            nursery.start_soon(serve, theirs, application)
            return ours

        executor = Executor(
            workflows={workflow.name: workflow},
            link=Link(connect=connect, authority="127.0.0.1:4782", token=TOKEN),
            control_url="http://127.0.0.1:1",
            clock=workspace.clock,
            log=workspace.log,
        )
        executor.work_in(nursery)
        await give_to(workspace, executor, workflow)
        await ended.wait()
        await direct.aclose()
        nursery.cancel_scope.cancel()
    return times


async def _direct(link: Link) -> tuple[float, float]:
    began = time.perf_counter()
    answer = await link.open("POST", "/v1/messages", BODY, headers=HEADERS, within_s=60.0)
    return await _read(answer, began)


async def _through(run: Run) -> tuple[float, float]:
    began = time.perf_counter()
    return await _read(await run.broker(PATH, BODY, headers=HEADERS), began)


async def _read(answer: Json, began: float) -> tuple[float, float]:
    first = 0.0
    try:
        while await answer.receive():
            first = first or time.perf_counter() - began
    finally:
        await answer.aclose()
    return first, time.perf_counter() - began


async def _step(run: Run) -> tuple[float, float]:
    began = time.perf_counter()
    first: list[float] = []

    def heard(event: Event) -> None:
        if not first:
            first.append(time.perf_counter() - began)

    async def work(key: str) -> Json:
        question = Question(model="claude-haiku", messages=[Said("user", (Text("hello"),))], max_tokens=50)
        return (await ask(run, question, heard=heard)).text

    await run.step("ask", work, kind="llm")
    return first[0], time.perf_counter() - began


async def _over_http(workspace: Workspace, port: int, call: Outgoing) -> Streamed:
    url = f"http://127.0.0.1:{port}{call.target}"
    return await workspace.egress.open(call.method, url, headers=call.headers, body=call.body, head_s=60, idle_s=60)
