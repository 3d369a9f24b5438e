"""A small RPC query on keep-alive, signed in, all guards on, beside two peers and the bare loops below svc.

The ratios to Starlette with like checks and to Hypercorn's trio worker are the result; the bare loops say how much of
the way down there is left, and the profile says where svc spends what it adds.
"""

from __future__ import annotations

import http.client
import json
import pstats
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, cast

from benchmarks.load import CONNECTIONS, answers_a_second, generator
from benchmarks.processes import REPOSITORY, Server, on_inherited_listener, svc_serve
from benchmarks.report import Table, count, median, paired_ratio

QUERY: Final = "/trpc/health.ping"
ROUNDS: Final = 5
SECONDS: Final = 2.0
QUICK_ROUNDS: Final = 3
QUICK_SECONDS: Final = 1.0
PROFILE_SECONDS: Final = 2.0
TOP_AREAS: Final = 8
TOP_FUNCTIONS: Final = 14
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")

SVC: Final = "svc serve, health.ping"
STARLETTE: Final = "starlette on uvicorn, httptools and uvloop, like checks"
HYPERCORN: Final = "hypercorn, trio worker, smallest ASGI app"
PEERS: Final = {
    STARLETTE: ["benchmarks.servers.checked_starlette", "FD", "TOKEN"],
    HYPERCORN: ["benchmarks.servers.smallest_asgi", "FD"],
    "limit: trio and h11, one receive one send": ["benchmarks.servers.bare_trio", "FD", "h11"],
    "limit: trio, nothing parsed": ["benchmarks.servers.bare_trio", "FD", "nothing"],
}

Stats = dict[tuple[str, int, str], tuple[int, int, float, float, object]]


def run(quick: bool) -> Iterable[Table]:
    yield _race(quick)
    yield from _profile(QUICK_SECONDS if quick else PROFILE_SECONDS)


def _race(quick: bool) -> Table:
    rounds, seconds = (QUICK_ROUNDS, QUICK_SECONDS) if quick else (ROUNDS, SECONDS)
    with TemporaryDirectory() as directory, ExitStack() as stack:
        svc = stack.enter_context(svc_serve(Path(directory) / "home"))
        cookie = _sign_in(svc.port)
        servers = {SVC: svc}
        for name, words in PEERS.items():
            known = [cookie.partition("=")[2] if word == "TOKEN" else word for word in words]
            servers[name] = stack.enter_context(on_inherited_listener(known))
        rates: dict[str, list[float]] = {name: [] for name in servers}
        for server in servers.values():
            _load(server, 1.0, cookie)  # warm
        for _ in range(rounds):
            for name, server in servers.items():
                rates[name].append(_load(server, seconds, cookie))
    table = Table(
        title=f"GET {QUERY}, {CONNECTIONS} keep-alive connections, browser headers, signed in",
        columns=("server", "requests/s", "x hypercorn", "svc x this"),
    )
    for name, found in rates.items():
        table.add(name, count(median(found)), paired_ratio(found, rates[HYPERCORN]), paired_ratio(rates[SVC], found))
    table.notes.append(f"medians of {rounds} interleaved rounds of {seconds:g} s; ratios are taken within each round")
    table.notes.append(f"load: {generator()}")
    return table


def _sign_in(port: int) -> str:
    """The cookie of the first person, who claims the home."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    body = json.dumps({"email": "mia@example.org"})
    fields = {"content-type": "application/json", "origin": f"http://127.0.0.1:{port}"}
    connection.request("POST", "/auth/dev-login", body=body, headers=fields)
    answer = connection.getresponse()
    cookie = answer.getheader("set-cookie")
    if cookie is None:
        raise RuntimeError(f"nobody is signed in: {answer.status} {answer.read()!r}")
    connection.close()
    return cookie.partition(";")[0]


def _load(server: Server, seconds: float, cookie: str) -> float:
    return answers_a_second(server.port, QUERY, seconds=seconds, cookie=cookie)


def _profile(seconds: float) -> Iterator[Table]:
    """The same server under cProfile, once with load and once without: the difference is what requests cost."""
    idle, busy = _own_times(0.0), _own_times(seconds)
    extra = {where: cost.less(idle.get(where, NO_COST)) for where, cost in busy.items()}
    requests = next(cost.calls for where, cost in extra.items() if where.function == "finish")
    costs = {where: cost for where, cost in extra.items() if cost.calls > requests / 2 and "poll" not in where.function}
    total = sum(cost.own_s for cost in costs.values())
    areas: dict[str, float] = defaultdict(float)
    for where, cost in costs.items():
        areas[where.area] += cost.own_s
    by_area = Table(title="Where svc's time goes, by area (own time under cProfile)", columns=("area", "share"))
    for area, own_s in sorted(areas.items(), key=lambda item: -item[1])[:TOP_AREAS]:
        by_area.add(area, f"{own_s / total:.1%}")
    yield by_area
    by_function = Table(title="... and by function", columns=("function", "calls/request", "share"))
    for where, cost in sorted(costs.items(), key=lambda item: -item[1].own_s)[:TOP_FUNCTIONS]:
        by_function.add(where.name, f"{cost.calls / requests:.1f}", f"{cost.own_s / total:.1%}")
    by_function.notes.append("cProfile makes calls dear: shares tell hot spots, not times; waiting is left out")
    yield by_function


@dataclass(frozen=True)
class _Place:
    """A function as the profiler names it; built-in ones have the file ``~``."""

    file: str
    function: str

    @property
    def area(self) -> str:
        path = Path(self.file)
        if self.file == "~":
            return "system calls" if "socket" in self.function else "built-in functions"
        if path.is_relative_to(REPOSITORY / "svc"):
            return "/".join(path.relative_to(REPOSITORY).parts[:2]).removesuffix(".py")
        if "site-packages" in path.parts:
            return path.parts[path.parts.index("site-packages") + 1].removesuffix(".py")
        return "standard library"

    @property
    def name(self) -> str:
        return self.function if self.file == "~" else f"{'/'.join(Path(self.file).parts[-2:])}:{self.function}"


@dataclass(frozen=True)
class _Cost:
    calls: int
    own_s: float

    def less(self, other: _Cost) -> _Cost:
        return _Cost(self.calls - other.calls, max(0.0, self.own_s - other.own_s))


NO_COST: Final = _Cost(0, 0.0)


def _own_times(seconds: float) -> dict[_Place, _Cost]:
    """What each function cost over the life of a server that was under load for ``seconds``."""
    with TemporaryDirectory() as directory:
        file = Path(directory) / "profile"
        profiled = [sys.executable, "-m", "cProfile", "-o", str(file), "-m", "svc"]
        with svc_serve(Path(directory) / "home", program=profiled) as server:
            if seconds:
                _load(server, seconds, _sign_in(server.port))
        stats = cast(Stats, pstats.Stats(str(file)).stats)  # type: ignore[attr-defined]
    found: dict[_Place, _Cost] = {}
    for (path, _, function), (_, calls, own_s, _, _) in stats.items():
        place = _Place(path, _ADDRESS.sub("", function))
        before = found.get(place, NO_COST)
        found[place] = _Cost(before.calls + calls, before.own_s + own_s)
    return found
