"""A fleet boots: ten thousand tenants against two replicas of the escrow service on one PostgreSQL, and what it costs.

A light cell is the part of a boot that asks for the master key, as the cell has it, many at once in this process. A few
whole ones, the real ``svc serve``, say what a cell takes of memory and disk. The key-management service is a stand-in
that checks contexts: what is measured is the escrow service.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import trio

from benchmarks.escrow import Running, escrow_service
from benchmarks.report import Table, count, median, milliseconds, percentile
from svc.capabilities import EscrowKeys, EscrowRefused
from svc.clock import WallClock
from svc.config import Config
from svc.log import Log
from svc.protocol.egress import Egress, EgressFault
from tests.capabilities.escrow.cells import config_of
from tests.capabilities.escrow.stubs import Stub, stub, wraps_for_each
from tests.control_plane.replicas import token
from tests.peers.postgres import Postgres, postgres, postgres_programs
from tests.support.process import free_port

TENANTS: Final = 10_000
QUICK_TENANTS: Final = 300
WHOLE_CELLS: Final = 4
AT_A_TIME: Final = 64
POOL: Final = 10
READY_S: Final = 120.0
SETTLE_S: Final = 2.0
KIB: Final = 1024
_BLOCK: Final = 512
OK: Final = 200


@dataclass
class Wave:
    """All tenants boot once. ``times`` in seconds, pauses and tries again included."""

    name: str
    took_s: float = 0.0
    times: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    calls: int = 0
    asked_of_kms: int = 0


@dataclass(frozen=True, kw_only=True)
class Whole:
    """One ``svc serve``: until ready in seconds, memory and disk in bytes, and what it asked for."""

    ready_s: float
    memory: float
    disk: float
    calls: float
    asked_of_kms: float


def run(quick: bool) -> Iterable[Table]:
    if postgres_programs() is None:
        yield Table(title="fleet", columns=("missing",), notes=["PostgreSQL is missing: run .ci/peers as root"])
        return
    tenants = QUICK_TENANTS if quick else TENANTS
    with postgres() as server, ExitStack() as stack:
        replicas = [stack.enter_context(escrow_service(server, POOL)) for _ in range(2)]
        _plant(server, tenants)
        yield from trio.run(partial(_fleet, server, replicas, tenants, 1 if quick else WHOLE_CELLS))


async def _fleet(server: Postgres, replicas: list[Running], tenants: int, whole_cells: int) -> list[Table]:
    log = Log(StringIO(), readable=False, clock=WallClock(), level="error")
    with TemporaryDirectory() as directory:
        async with stub(wraps_for_each, log=log) as kms:
            waves = [Wave(name="the first boot"), Wave(name="again, with an empty disk")]
            for number, wave in enumerate(waves):
                await _boot_all(wave, server, replicas, kms, tenants, turn=number, directory=Path(directory))
            memory = [_memory(replica.pid) for replica in replicas]
            row_bytes = _bytes_of(server, tenants)
            whole = [
                await _boot_whole(Path(directory) / f"whole-{number}", server, replicas, kms, number)
                for number in range(whole_cells)
            ]
    return [_told_waves(waves, tenants), _told_costs(whole, memory, row_bytes)]


async def _boot_all(
    wave: Wave, server: Postgres, replicas: list[Running], kms: Stub, tenants: int, *, turn: int, directory: Path
) -> None:
    before, kms_before = _audited(server), len(kms.asked)
    numbers = iter(range(tenants))
    rng = random.Random(turn)

    async def cells() -> None:
        for number in numbers:
            home = directory / f"{turn}-{number}"
            config = _config(home, replicas[(number + turn) % 2], kms, number)
            began = time.perf_counter()
            try:
                await EscrowKeys(config, home=home, rng=rng).fetch(may_create=True)
            except EscrowRefused as refusal:
                wave.refused.append(str(refusal))
            wave.times.append(time.perf_counter() - began)

    began = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(AT_A_TIME):
            nursery.start_soon(cells)
    wave.took_s = time.perf_counter() - began
    wave.calls, wave.asked_of_kms = _audited(server) - before, len(kms.asked) - kms_before


async def _boot_whole(home: Path, server: Postgres, replicas: list[Running], kms: Stub, number: int) -> Whole:
    """A tenant of the fleet with a new disk: the real program, until it is ready and has come to rest."""
    before, kms_before = _audited(server), len(kms.asked)
    port = free_port()
    config = _config(home, replicas[number % 2], kms, number, SVC_PORT=str(port), SVC_INTERNAL_PORT="0")
    environ = {"PATH": os.environ["PATH"], "SVC_CLAIM_TOKEN": "c" * 40, **config.environ}
    began = time.perf_counter()
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "svc", "serve"], env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        with trio.fail_after(READY_S):
            await _until_ready(port)
        ready_s = time.perf_counter() - began
        await trio.sleep(SETTLE_S)
        return Whole(
            ready_s=ready_s,
            memory=_memory(process.pid),
            disk=_disk(home),
            calls=_audited(server) - before,
            asked_of_kms=len(kms.asked) - kms_before,
        )
    finally:
        process.terminate()
        await process.wait()


async def _until_ready(port: int) -> None:
    async with Egress() as egress:
        while True:
            try:
                answer = await egress.request(
                    "GET", f"http://127.0.0.1:{port}/readyz", deadline_s=READY_S, limit_bytes=KIB * KIB
                )
                if answer.status == OK:
                    return
            except EgressFault:
                pass
            await trio.sleep(0.05)


def _config(home: Path, replica: Running, kms: Stub, number: int, **more: str) -> Config:
    return config_of(
        home,
        escrow=f"http://127.0.0.1:{replica.port}",
        kms=kms.url,
        SVC_TENANT_ID=f"tenant-{number}",
        SVC_KEY_ESCROW_TOKEN=token(f"c{number}"),
        **more,
    )


def _plant(server: Postgres, tenants: int) -> None:
    server.run(
        """
        insert into control_plane.credentials (credential_id, tenant_id, cell_id, token_digest)
        select 'c' || n, 'tenant-' || n, 'cell-' || n, sha256(convert_to(token, 'UTF8'))
        from unnest(%s::text[]) with ordinality as given (token, place), lateral (select place - 1 as n) as numbered
        """,
        [token(f"c{number}") for number in range(tenants)],
    )


def _audited(server: Postgres) -> int:
    ((lines,),) = server.run("select count(*) from control_plane.audit")
    return int(lines)


def _bytes_of(server: Postgres, tenants: int) -> dict[str, float]:
    """Of each table with its indexes: a tenant's share, and a line of the audit."""
    found = {"audit": max(_audited(server), 1), "wrapped_keys": tenants, "credentials": tenants}
    sizes = {}
    for table, rows in found.items():
        ((size,),) = server.run(f"select pg_total_relation_size('control_plane.{table}')")
        sizes[table] = size / rows
    return sizes


def _disk(home: Path) -> float:
    return sum(path.stat().st_blocks * _BLOCK for path in home.rglob("*") if path.is_file())


def _memory(pid: int) -> float:
    """Proportional bytes."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * KIB for line in lines if line.startswith("Pss:"))


def _told_waves(waves: list[Wave], tenants: int) -> Table:
    table = Table(
        title=f"fleet: {tenants:,} tenants boot, {AT_A_TIME} at a time, two replicas with pools of {POOL}",
        columns=("wave", "boots/s", "p50 ms", "p99 ms", "worst ms", "refused", "calls/boot", "of the KMS"),
    )
    for wave in waves:
        table.add(
            wave.name,
            count(tenants / wave.took_s),
            milliseconds(median(wave.times)),
            milliseconds(percentile(wave.times, 99)),
            milliseconds(max(wave.times)),
            str(len(wave.refused)),
            f"{wave.calls / tenants:.2f}",
            f"{wave.asked_of_kms / tenants:.2f}",
        )
        table.notes += sorted(set(wave.refused))[:3]
    table.notes.append("cells, key-management service, replicas and PostgreSQL share the cores of this machine")
    return table


def _told_costs(whole: list[Whole], replicas: list[float], row_bytes: dict[str, float]) -> Table:
    table = Table(title="fleet: what it costs", columns=("what", "cost"))
    for name, cost in (
        ("a cell: ready after, s", f"{median([one.ready_s for one in whole]):.1f}"),
        ("a cell: memory at rest, MiB", f"{median([one.memory for one in whole]) / KIB**2:.0f}"),
        ("a cell: disk, MiB", f"{median([one.disk for one in whole]) / KIB**2:.1f}"),
        ("a cell: calls of a boot", f"{median([one.calls for one in whole]):.0f}"),
        ("a cell: calls of the KMS at a boot", f"{median([one.asked_of_kms for one in whole]):.0f}"),
        ("a replica: memory after it, MiB", f"{median(replicas) / KIB**2:.0f}"),
        *((f"PostgreSQL: a row of {table}, bytes", count(size)) for table, size in row_bytes.items()),
    ):
        table.add(name, cost)
    table.notes.append(f"a cell: the median of {len(whole)} real ones, one after the other, with new disks")
    return table
