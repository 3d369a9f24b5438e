"""Live sockets: what an idle one holds of memory, and how soon one event is with all of them.

Beside ``svc serve`` two servers that know no person, no topic and no drain: ``websockets``, which broadcasts, and for
memory one of trio and wsproto and nothing else. Each socket comes with a browser's header fields and listens to three
topics. An event is the save of a page.
"""

from __future__ import annotations

import http.client
import json
import resource
import select
import socket
import struct
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.load import BROWSER_FIELDS
from benchmarks.processes import Server, on_inherited_listener, svc_serve
from benchmarks.report import Table, median, milliseconds, paired_ratio

SOCKETS: Final = 10_000
"""Of each server, or as many as this process may open of two."""
QUICK_SOCKETS: Final = 1_000
FIRST: Final = 100
"""Open before memory is looked at: what the first ones load is not theirs."""
ROUNDS: Final = 7
SETTLE_S: Final = 1.0
SPARE_DESCRIPTORS: Final = 100
READ_BYTES: Final = 64 * 1024
KIB: Final = 1024

SVC: Final = "svc serve, /ws"
WEBSOCKETS: Final = "websockets, not compressed"
BARE: Final = "limit: trio and wsproto, nothing else"

Tell = Callable[[], object]


def run(quick: bool) -> Iterable[Table]:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    number = QUICK_SOCKETS if quick else min(SOCKETS, (most - SPARE_DESCRIPTORS) // 2 - FIRST)
    with TemporaryDirectory() as directory, ExitStack() as stack:
        memory = Table(title=f"{number:,} idle sockets", columns=("server", "KiB each"))
        with on_inherited_listener(["benchmarks.servers.bare_sockets", "FD"]) as bare:
            for one in _opened(bare, BARE, number, memory):
                one.close()
        svc = stack.enter_context(svc_serve(Path(directory) / "home"))
        peer = stack.enter_context(on_inherited_listener(["benchmarks.servers.websockets_broadcast", "FD"]))
        clients = {name: _opened(server, name, number, memory) for name, server in ((SVC, svc), (WEBSOCKETS, peer))}
        memory.notes.append("aim: at most 14")
        yield memory
        pages = count()
        tellers: dict[str, Tell] = {
            SVC: lambda: _save(svc.port, next(pages)),
            WEBSOCKETS: lambda: clients[WEBSOCKETS][0].sendall(_frame(b"go")),
        }
        times: dict[str, list[list[float]]] = {name: [] for name in tellers}
        for _ in range(ROUNDS):
            for name, tell in tellers.items():
                times[name].append(_told(clients[name], tell))
        yield _fan_out(times, number)
        for opened in clients.values():
            for one in opened:
                one.close()


def _opened(server: Server, name: str, number: int, memory: Table) -> list[socket.socket]:
    first = [_open(server.port) for _ in range(FIRST)]
    time.sleep(SETTLE_S)
    before = _held(server)
    opened = first + [_open(server.port) for _ in range(number)]
    time.sleep(SETTLE_S)
    memory.add(name, f"{(_held(server) - before) / number / KIB:.1f}")
    return opened


def _fan_out(times: dict[str, list[list[float]]], number: int) -> Table:
    """From the first socket that has it: the write and the commit before it are no part of this."""
    table = Table(
        title=f"One event to {number:,} sockets, after the first has it",
        columns=("server", "p50, ms", "p99, ms", "sockets/s", "svc x this: p50", "p99"),
    )
    middle = {name: [found[len(found) // 2] for found in rounds] for name, rounds in times.items()}
    last = {name: [found[int(len(found) * 0.99)] for found in rounds] for name, rounds in times.items()}
    for name, rounds in times.items():
        rate = f"{number / median([found[-1] for found in rounds]):,.0f}"
        ratios = [paired_ratio(found[SVC], found[name]) for found in (middle, last)]
        table.add(name, milliseconds(median(middle[name])), milliseconds(median(last[name])), rate, *ratios)
    table.notes.append(f"medians of {ROUNDS} interleaved rounds; one process reads all sockets")
    return table


def _open(port: int) -> socket.socket:
    opened = socket.create_connection(("127.0.0.1", port))
    lines = [
        "GET /ws HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        *("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"),
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        *(f"{name}: {value}" for name, value in BROWSER_FIELDS),
    ]
    opened.sendall("\r\n".join([*lines, "", ""]).encode())
    heard = b""
    while b'"ready"' not in heard:
        data = opened.recv(READ_BYTES)
        if not data:
            raise RuntimeError(f"no socket was opened: {heard!r}")
        heard += data
    opened.sendall(_frame(b'{"type":"subscribe","topics":["mail","pages","accounts"]}'))
    return opened


def _frame(text: bytes) -> bytes:
    return bytes([0x81, 0x80 | len(text)]) + struct.pack("!I", 0) + text


def _save(port: int, number: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    body = json.dumps({"path": f"bench-{number}", "body": "x" * 100})
    connection.request("POST", "/trpc/pages.save", body=body, headers={"content-type": "application/json"})
    answer = connection.getresponse()
    if answer.status != http.client.OK:
        raise RuntimeError(f"the page was not saved: {answer.status} {answer.read()!r}")
    connection.close()


def _told(clients: list[socket.socket], tell: Tell) -> list[float]:
    """Seconds until each had its first bytes, from the first on, sorted.

    The reader asks the system once for many and reads nothing meanwhile: it must not be what the servers wait for.
    """
    with select.epoll() as poll:
        for one in clients:
            poll.register(one, select.EPOLLIN | select.EPOLLONESHOT)
        tell()
        came: list[float] = []
        while len(came) < len(clients):
            ready = poll.poll(timeout=30, maxevents=len(clients))
            if not ready:
                raise RuntimeError(f"only {len(came)} of {len(clients)} sockets were told")
            came += [time.perf_counter()] * len(ready)
    time.sleep(SETTLE_S)
    _drain(clients)
    return [at - came[0] for at in came]


def _drain(clients: list[socket.socket]) -> None:
    """What else has come of one event, and pings."""
    for one in clients:
        one.setblocking(False)
        try:
            while one.recv(READ_BYTES):
                pass
        except BlockingIOError:
            pass
        one.setblocking(True)


def _held(server: Server) -> int:
    """Bytes; 0 where the system does not tell (only Linux does)."""
    shared = Path(f"/proc/{server.process.pid}/smaps_rollup")
    if not shared.exists():
        return 0
    return next(int(line.split()[1]) * KIB for line in shared.read_text().splitlines() if line.startswith("Pss:"))
