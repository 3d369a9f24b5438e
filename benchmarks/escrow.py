"""Calls of the escrow service beside bare psycopg: the same statements, the same PostgreSQL, pools of 2, 10 and 100.

``GET /v1/keys/:tenantId`` over kept connections, the real ``svc serve`` as a process. The peer has psycopg's pool, a
thread for each of its connections, and no HTTP; it begins, finds the credential, finds the key, writes the line of the
audit and commits, as the service does. Every call has a credential of its own, since each has a rate.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.request import urlopen

import trio
from psycopg_pool import ConnectionPool

from benchmarks.report import Table, count, median, milliseconds, paired_ratio, percentile
from tests.peers.postgres import Postgres, postgres, postgres_programs
from tests.support.process import free_port, until

POOLS: Final = (2, 10, 100)
CLIENTS: Final = 64
CALLS: Final = 3_000
QUICK_CALLS: Final = 600
ROUNDS: Final = 3
START_S: Final = 60.0
OK: Final = 200

Times = list[float]


def run(quick: bool) -> Iterable[Table]:
    table = Table(
        title=f"escrow: GET of a wrapped key, {CLIENTS} clients",
        columns=("pool", "calls/s", "x bare psycopg", "p99 ms", "bare p99 ms", "p99 x bare"),
    )
    if postgres_programs() is None:
        table.notes.append("PostgreSQL is missing: run .ci/peers as root")
        yield table
        return
    calls = QUICK_CALLS if quick else CALLS
    with postgres() as server:
        for pool in POOLS:
            with escrow_service(server, pool) as service:
                _plant(server, calls)
                trio.run(partial(_ask, service.port, calls))  # its pool grows while it is asked
                ours, bare = [], []
                for _ in range(ROUNDS):
                    ours.append(trio.run(partial(_ask, service.port, calls)))
                    bare.append(_bare(server, pool, calls))
            rates, bare_rates = ([calls / took for took, _ in one] for one in (ours, bare))
            tails, bare_tails = ([percentile(times, 99) for _, times in one] for one in (ours, bare))
            table.add(
                str(pool),
                count(median(rates)),
                paired_ratio(rates, bare_rates),
                milliseconds(median(tails)),
                milliseconds(median(bare_tails)),
                paired_ratio(tails, bare_tails),
            )
    table.notes.append("bare: as many threads as connections, in this process; ours: one process, HTTP and all")
    yield table


def _token(number: int) -> str:
    return f"c{number}.{'s' * 40}"


def _plant(server: Postgres, calls: int) -> None:
    server.run(
        """
        insert into control_plane.credentials (credential_id, tenant_id, cell_id, token_digest)
        select 'c' || n, 't' || n, 'cell', sha256(('c' || n || '.' || repeat('s', 40))::bytea)
        from generate_series(0, %s) as n on conflict do nothing
        """,
        calls,
    )
    server.run(
        """
        insert into control_plane.wrapped_keys (tenant_id, version, wrapped_key, kms_key_id, context, credential_id)
        select 't' || n, 1, repeat('A', 240), 'arn:aws:kms:eu-1:123456789012:key/1', '{}', 'c' || n
        from generate_series(0, %s) as n on conflict do nothing
        """,
        calls,
    )


@dataclass(frozen=True, kw_only=True)
class Running:
    port: int
    pid: int


@contextmanager
def escrow_service(server: Postgres, pool: int) -> Iterator[Running]:
    port = free_port()
    environ = {
        "PATH": os.environ["PATH"],
        "SVC_SERVICE": "key-escrow-control-plane",
        "SVC_KEY_ESCROW_DATABASE_URL": server.url,
        "SVC_KEY_ESCROW_DB_SSL": "disable",
        "SVC_KEY_ESCROW_DB_POOL_SIZE": str(pool),
        "SVC_KEY_ESCROW_HOST": "127.0.0.1",
        "SVC_KEY_ESCROW_PORT": str(port),
    }
    command = [sys.executable, "-m", "svc", "serve"]
    with subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL) as process:
        try:
            until(partial(_answers, port), what="the escrow service to answer", deadline_s=START_S)
            yield Running(port=port, pid=process.pid)
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=START_S) as answer:
            return bool(answer.status == OK)
    except OSError:
        return False


async def _ask(port: int, calls: int) -> tuple[float, Times]:
    """How long all of them took, and each."""
    numbers = iter(range(calls))
    times: Times = []

    async def client() -> None:
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        async with stream:
            for number in numbers:
                began = time.perf_counter()
                request = (
                    f"GET /v1/keys/t{number} HTTP/1.1\r\nhost: escrow\r\nauthorization: Bearer {_token(number)}\r\n\r\n"
                )
                await stream.send_all(request.encode())
                await _answer(stream)
                times.append(time.perf_counter() - began)

    began = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(min(CLIENTS, calls)):
            nursery.start_soon(client)
    return time.perf_counter() - began, times


async def _answer(stream: trio.SocketStream) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive_some()
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    left = int(fields[b"content-length"]) - len(body)
    while left > 0:
        left -= len(await stream.receive_some())


def _bare(server: Postgres, pool_size: int, calls: int) -> tuple[float, Times]:
    numbers = iter(range(calls))
    times: Times = []
    url = f"{server.url}?sslmode=disable"

    def work(pool: ConnectionPool) -> None:
        for number in numbers:
            began = time.perf_counter()
            _transaction(pool, number)
            times.append(time.perf_counter() - began)

    arguments = {"autocommit": True, "prepare_threshold": None}
    with ConnectionPool(url, kwargs=arguments, min_size=pool_size, max_size=pool_size, open=True) as pool:
        pool.wait()
        threads = [threading.Thread(target=work, args=(pool,)) for _ in range(min(pool_size, CLIENTS))]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - began, times


def _transaction(pool: ConnectionPool, number: int) -> None:
    with pool.connection() as connection, connection.transaction():
        found = connection.execute(
            "select token_digest from control_plane.credentials where credential_id = %s", (f"c{number}",)
        ).fetchone()
        assert found is not None
        assert bytes(found[0]) == hashlib.sha256(_token(number).encode()).digest()
        row = connection.execute(
            "select version, wrapped_key, kms_key_id, context, created_at from control_plane.wrapped_keys "
            "where tenant_id = %s order by version desc limit 1",
            (f"t{number}",),
        ).fetchone()
        assert row is not None
        json.dumps(row, default=str)
        connection.execute(
            "insert into control_plane.audit (tenant_id, cell_id, credential_id, action, outcome, version, request_id) "
            "values (%s, 'cell', %s, 'key.get', 'ok', 1, '-')",
            (f"t{number}", f"c{number}"),
        )
