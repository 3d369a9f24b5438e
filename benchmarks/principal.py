"""What it costs to know who asks: resolving a principal, beside a whole small RPC.

In process, without sockets: the application answers ``health.ping`` as a signed-in browser, and the resolution alone is
timed on the same request. ``remembered`` is the rule; ``looked up`` is the first request after anything in identity was
written.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Final

import trio

from benchmarks.big_home import open_workspace
from benchmarks.report import Table, median, milliseconds, ratio
from svc.identity import Identity
from svc.identity.actions import Claiming, sign_in
from svc.identity.model import Proof
from svc.protocol import Headers, Request
from svc.surface import Surface
from svc.workspace import Workspace

CALLS: Final = 2_000
QUICK_CALLS: Final = 500
ROUNDS: Final = 5


def run(quick: bool) -> Iterable[Table]:
    with tempfile.TemporaryDirectory() as directory:
        whole, remembered, looked_up = trio.run(_measure, Path(directory), QUICK_CALLS if quick else CALLS)
    table = Table(title="Knowing who asks, per request", columns=("what", "p50 ms", "share of the RPC"))
    table.add("whole RPC, in process", milliseconds(whole), ratio(whole, whole))
    table.add("principal, remembered", milliseconds(remembered), ratio(remembered, whole))
    table.add("principal, looked up", milliseconds(looked_up), ratio(looked_up, whole))
    table.notes.append("aim: remembered under 0.05; sockets and framing are not counted, so the true share is less")
    yield table


async def _measure(directory: Path, calls: int) -> tuple[float, float, float]:
    async with open_workspace(directory) as workspace:
        identity = workspace.service(Identity)
        cookie = _signed_in(workspace, identity)
        application = workspace.service(Surface).build_application()

        def request() -> Request:
            fields = [("host", "127.0.0.1"), ("accept", "*/*"), ("cookie", f"svc_session={cookie}")]
            return Request(method="GET", target="/trpc/health.ping", headers=Headers(fields), peer="127.0.0.1")

        async def whole() -> None:
            assert (await application(request())).status == 200

        async def remembered() -> None:
            assert await identity.resolve(request())

        async def looked_up() -> None:
            identity.forget()
            assert await identity.resolve(request())

        rounds = [[await _timed(one, calls) for one in (whole, remembered, looked_up)] for _ in range(ROUNDS)]
        first, second, third = (median([round_[index] for round_ in rounds]) for index in range(3))
        return first, second, third


async def _timed(ask: Callable[[], Awaitable[None]], calls: int) -> float:
    """Seconds a call, over all of them: a single one is too short for the clock."""
    began = time.perf_counter()
    for _ in range(calls):
        await ask()
    return (time.perf_counter() - began) / calls


def _signed_in(workspace: Workspace, identity: Identity) -> str:
    """A cookie. Written at once: no subsystem runs here."""
    identity.claimed = True
    found = workspace.store.write_now(
        sign_in,
        proof=Proof(email="mia@example.org"),
        invite=None,
        claiming=Claiming(freely=True, hooks=()),
        old_cookie=None,
        device_name="benchmark",
    )
    return found.cookie
