"""The state of the escrow service's connections at the database, and the waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from svc.control_plane.database import Rows
from tests.control_plane.replicas import Replica
from tests.peers.postgres import ROLE, Postgres
from tests.recorded_log import RecordedLog
from tests.support.waiting import until


def lines_of(log: RecordedLog, event: str) -> list[dict[str, Any]]:
    return [line for line in log.records if line["event"] == event]


def set_timeout(connection: Rows) -> str:
    row = connection.execute("show statement_timeout").fetchone()
    assert row is not None
    return str(row[0])


def busy(server: Postgres) -> list[tuple[Any, ...]]:
    return server.run(f"select query from pg_stat_activity where usename = '{ROLE}' and state <> 'idle'")


def end_connections(server: Postgres) -> None:
    """Returns once they have ended."""
    server.run(f"select pg_terminate_backend(pid, 60000) from pg_stat_activity where usename = '{ROLE}'")


@contextmanager
def first_version_held(server: Postgres, credential: str) -> Iterator[None]:
    """Another transaction is storing the first version and stays open, so a second one has to wait."""
    with psycopg.connect(server.url) as other:
        other.execute(
            """
            insert into control_plane.wrapped_keys
                (tenant_id, version, wrapped_key, kms_key_id, context, credential_id)
            values (%s, 1, 'x', 'x', '{}', 'x')
            """,
            (f"tenant-{credential}",),
        )
        yield
        other.rollback()


async def until_waiting(server: Postgres) -> None:
    waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock'"
    await until(lambda: server.run(waiting), what="a connection that waits for a lock")


async def until_gone(server: Postgres) -> None:
    """The server notices a closed connection a moment later."""
    open_ones = "select state, query from pg_stat_activity where application_name = 'svc-key-escrow'"
    await until(
        lambda: not server.run(open_ones),
        what="the server to drop the connections of the service",
        tell=lambda: server.run(open_ones),
    )


async def until_given_up(replica: Replica) -> None:
    async def has_none() -> bool:
        metrics = (await replica.call("GET", "/metrics")).body.decode()
        return 'svc_escrow_connections{which="open"} 0' in metrics

    await until(has_none, what="the service to give up its connections")


async def until_ready(replica: Replica) -> None:
    async def is_ready() -> bool:
        return (await replica.call("GET", "/readyz")).status == 200

    await until(is_ready, what="the service to be ready")


def make_and_drop(connection: Rows) -> None:
    connection.execute("create table made (a int)")
    connection.execute("drop table made")
