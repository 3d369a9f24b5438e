"""A call through the broker beside a bare loop of trio and h11, over the same kind of connection: memory and socket.

One call at a time on a kept connection, as a step of a run makes them. ``available`` opens nothing and shows what the
way itself costs: guard, two tokens, the run's row, the answer. A model call acquires the key, which is written down in
a durable commit before anything leaves, and goes on to a vendor: the bare loop, over a socket.
"""

from __future__ import annotations

import secrets
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import trio

from benchmarks.big_home import open_workspace
from benchmarks.processes import on_inherited_listener, svc_serve
from benchmarks.report import Table, count, median, milliseconds, paired_ratio, percentile
from benchmarks.servers.bare_trio import with_h11
from svc.broker import Outgoing, Streamed, Vendors
from svc.capabilities import Broker
from svc.doors import Internal
from svc.nursery import open_task_group
from svc.protocol import Drain, Idle, Link, serve_connection
from svc.protocol.memory import stream_pair
from svc.runs import begin
from svc.runs.leasing import lease
from svc.store import Tx
from svc.workflow import Json, Run, Workflow
from svc.workspace import Workspace

CALLS: Final = 300
QUICK_CALLS: Final = 100
ROUNDS: Final = 5
QUICK_ROUNDS: Final = 3
WARM_UP: Final = 20
A_DAY_MS: Final = 86_400_000
TOKEN: Final = secrets.token_urlsafe(32)
AVAILABLE: Final = ("/internal/broker/available", {"capability": "llm.a"})
MODEL: Final = (
    "/internal/broker/llm-a/v1/messages",
    {"model": "m", "messages": [{"role": "user", "content": "hello"}]},
)
_OK: Final = 200

Ask = Callable[[], Awaitable[None]]


def run(quick: bool) -> Iterable[Table]:
    rounds, calls = (QUICK_ROUNDS, QUICK_CALLS) if quick else (ROUNDS, CALLS)
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        home = Path(directory) / "home"
        run_token = trio.run(_planted, home)
        vendor = stack.enter_context(on_inherited_listener(["benchmarks.servers.bare_trio", "FD", "h11"]))
        here = trio.run(partial(_in_one_process, home, run_token, vendor.port, rounds, calls))
        port = _free_port()
        settings = {
            "PROVIDERS": "",
            "SVC_INTERNAL_PORT": str(port),
            "SVC_INTERNAL_TOKEN": TOKEN,
            "SVC_LLM_A_URL": f"http://127.0.0.1:{vendor.port}",
        }
        stack.enter_context(svc_serve(home, settings=settings))
        across = trio.run(partial(_across_two, port, run_token, vendor.port, rounds, calls))
    yield _table("A call through the broker in one process, through memory", here, rounds, calls)
    yield _table("A call through the broker across two processes, through a socket", across, rounds, calls)


def _table(title: str, times: Mapping[str, list[list[float]]], rounds: int, calls: int) -> Table:
    table = Table(title=title, columns=("call", "p50 ms", "p95 ms", "x bare loop"))
    bare = [median(one) for one in times["bare loop of trio and h11"]]
    for name, found in times.items():
        flat = [seconds for one in found for seconds in one]
        medians = [median(one) for one in found]
        table.add(name, milliseconds(median(flat)), milliseconds(percentile(flat, 95)), paired_ratio(medians, bare))
    table.notes.append(
        f"one call at a time, {count(calls)} a round, {rounds} interleaved rounds; ratios within each round"
    )
    return table


# One process


async def _in_one_process(
    home: Path, run_token: str, vendor_port: int, rounds: int, calls: int
) -> dict[str, list[list[float]]]:
    async with opened(home) as workspace, open_task_group() as nursery:
        internal = workspace.service(Internal)
        internal.trust(TOKEN)
        internal.port = 4782
        workspace.service(Vendors).replace_all(partial(_over_http, workspace, vendor_port))
        serve = partial(serve_connection, log=workspace.log, peer="127.0.0.1", drain=Drain(), idle=Idle())
        application = internal.build_application()
        served = {
            "bare": lambda stream: nursery.start_soon(_quietly, stream),
            "broker": lambda stream: nursery.start_soon(serve, stream, application),
        }
        bare, broker = (_link(partial(_through_memory, one)) for one in served.values())
        direct = _link(partial(trio.open_tcp_stream, "127.0.0.1", vendor_port))
        found = await _timed(_ways(bare, broker, direct, run_token), rounds, calls)
        for link in (bare, broker, direct):
            await link.aclose()
        nursery.cancel_scope.cancel()
    return found


async def _through_memory(serve: Callable[[Any], None]) -> trio.abc.Stream:
    ours, theirs = stream_pair()
    serve(theirs)
    return ours


async def _quietly(stream: Any) -> None:
    try:
        await with_h11(stream)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return


async def _over_http(workspace: Workspace, port: int, call: Outgoing) -> Streamed:
    url = f"http://127.0.0.1:{port}{call.target}"
    return await workspace.egress.open(call.method, url, headers=call.headers, body=call.body, head_s=60, idle_s=60)


# Two processes


async def _across_two(
    port: int, run_token: str, vendor_port: int, rounds: int, calls: int
) -> dict[str, list[list[float]]]:
    bare, broker = (_link(partial(trio.open_tcp_stream, "127.0.0.1", one)) for one in (vendor_port, port))
    found = await _timed(_ways(bare, broker, bare, run_token), rounds, calls)
    for link in (bare, broker):
        await link.aclose()
    return found


# Both


def _link(connect: Callable[[], Awaitable[trio.abc.Stream]]) -> Link:
    return Link(connect=connect, authority="127.0.0.1:4782", token=TOKEN)


def _ways(bare: Link, broker: Link, vendor: Link, run_token: str) -> dict[str, Ask]:
    said = {"x-svc-run": run_token}
    return {
        "bare loop of trio and h11": partial(_ask, bare, *AVAILABLE, said),
        "broker: available": partial(_ask, broker, *AVAILABLE, said),
        "the vendor itself, over a socket": partial(_ask, vendor, *MODEL, said),
        "broker: a model call to that vendor": partial(_ask, broker, *MODEL, said),
    }


async def _ask(link: Link, path: str, body: object, headers: Mapping[str, str]) -> None:
    answer = await link.post(path, body, headers=headers)
    if answer.status != _OK:
        raise RuntimeError(f"{path} answered {answer.status}: {answer.body[:300]!r}")


async def _timed(ways: Mapping[str, Ask], rounds: int, calls: int) -> dict[str, list[list[float]]]:
    """Seconds of each call, by way and round."""
    found: dict[str, list[list[float]]] = {name: [] for name in ways}
    for number in range(-1, rounds):
        for name, ask in ways.items():
            times = []
            for _ in range(calls if number >= 0 else WARM_UP):
                began = time.perf_counter()
                await ask()
                times.append(time.perf_counter() - began)
            if number >= 0:
                found[name].append(times)
    return found


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[Workspace]:
    """A home with its writer at work."""
    async with open_workspace(home) as workspace, open_task_group() as nursery:
        started = trio.Event()
        nursery.start_soon(partial(workspace.store.run_writer, started=started.set))
        await started.wait()
        yield workspace
        nursery.cancel_scope.cancel()


async def _planted(home: Path) -> str:
    """The token of a run whose lease lasts, in a home where the key is set."""
    async with opened(home) as workspace:
        broker = workspace.service(Broker)

        def plant(tx: Tx) -> str:
            broker.secrets.write(tx, "llm.a", b"the key", source="user")
            workflow = Workflow(name="measured", version=1, title="", code=_nothing, capabilities=("llm.a",))
            run_id = begin(tx, None, workflow, None)
            (leased,) = lease(tx, "measured")
            tx.run("update runs set due_at = :at where id = :id", at=tx.now + A_DAY_MS, id=run_id)
            return leased.token

        return await workspace.store.write(plant)


async def _nothing(run: Run, input: Json) -> Json:
    return None


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])
