"""What it costs to know who asks: resolving a principal, beside a whole small RPC.

In process, without sockets: the application answers ``health.ping`` as a signed-in browser, and the resolution alone is
timed on the same request. ``remembered`` is the rule; ``looked up`` is the first request after anything in identity was
written. The whole RPC is also asked with cookies that open nothing, which any other program on this machine can set:
one and the same, and another one each time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Final

import trio

from benchmarks.big_home import open_workspace
from benchmarks.report import Table, median, milliseconds, paired_ratio
from svc.identity import Identity
from svc.identity.actions import Claiming, sign_in
from svc.identity.model import Proof
from svc.protocol import Headers, Request
from svc.surface import Surface
from svc.workspace import Workspace

CALLS: Final = 2_000
QUICK_CALLS: Final = 500
ROUNDS: Final = 5


KNOWN: Final = "whole RPC, in process, a cookie that opens a session"
FOREIGN: Final = "... a foreign cookie, always the same"
FOREIGN_EACH: Final = "... a foreign cookie, another one each time"
REMEMBERED: Final = "principal alone, remembered"
LOOKED_UP: Final = "principal alone, looked up"


def run(quick: bool) -> Iterable[Table]:
    with tempfile.TemporaryDirectory() as directory:
        found = trio.run(_measure, Path(directory), QUICK_CALLS if quick else CALLS)
    table = Table(title="Knowing who asks, per request", columns=("what", "p50 ms", "x known"))
    for name, seconds in found.items():
        table.add(name, milliseconds(median(seconds)), paired_ratio(seconds, found[KNOWN]))
    table.notes.append(f"medians of {ROUNDS} interleaved rounds; ratios are taken within each round")
    table.notes.append("aim: foreign ones under 1.20, remembered under 0.05 ms")
    table.notes.append("sockets and framing are not counted, so the true shares are less")
    yield table


async def _measure(directory: Path, calls: int) -> dict[str, list[float]]:
    async with open_workspace(directory) as workspace:
        identity = workspace.service(Identity)
        cookie = _signed_in(workspace)
        application = workspace.service(Surface).build_application()
        numbers = count()

        async def ask(value: str) -> None:
            assert (await application(_request(value))).status == 200

        async def looked_up() -> None:
            identity.forget()
            assert await identity.resolve(_request(cookie))

        async def remembered() -> None:
            assert await identity.resolve(_request(cookie))

        ways = {
            KNOWN: lambda: ask(cookie),
            FOREIGN: lambda: ask(f"{0:043}"),
            FOREIGN_EACH: lambda: ask(f"{next(numbers):043}"),
            REMEMBERED: remembered,
            LOOKED_UP: looked_up,
        }
        rounds = [{name: await _timed(way, calls) for name, way in ways.items()} for _ in range(ROUNDS)]
        return {name: [round_[name] for round_ in rounds] for name in ways}


def _request(cookie: str) -> Request:
    fields = [("host", "127.0.0.1"), ("accept", "*/*"), ("cookie", f"svc_session={cookie}")]
    return Request(method="GET", target="/trpc/health.ping", headers=Headers(fields), peer="127.0.0.1")


async def _timed(ask: Callable[[], Awaitable[None]], calls: int) -> float:
    """Seconds a call, over all of them: a single one is too short for the clock."""
    began = time.perf_counter()
    for _ in range(calls):
        await ask()
    return (time.perf_counter() - began) / calls


def _signed_in(workspace: Workspace) -> str:
    """A cookie. Written at once: no subsystem runs here."""
    found = workspace.store.write_now(
        sign_in,
        proof=Proof(email="mia@example.org"),
        invite=None,
        claiming=Claiming(freely=True, hooks=()),
        old_cookie=None,
        device_name="benchmark",
        seen_from="",
    )
    return found.cookie
