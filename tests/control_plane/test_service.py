"""The escrow service on a real PostgreSQL: two replicas of it on one database, and PgBouncer in front."""

from __future__ import annotations

import math
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from threading import Barrier
from time import monotonic
from typing import Any, Final

import psycopg
import pytest
import trio

from svc.config import ConfigError
from svc.control_plane import database
from svc.control_plane.database import Database, Rows
from svc.control_plane.migrations import STEPS
from svc.control_plane.plane import GUESSES_MAX
from svc.control_plane.settings import DATABASE_URL
from svc.errors import Unavailable
from svc.protocol.egress import EgressFault, EgressResponse
from tests.control_plane.at_database import (
    busy,
    end_connections,
    first_version_held,
    lines_of,
    make_and_drop,
    set_timeout,
    until_given_up,
    until_gone,
    until_ready,
    until_waiting,
)
from tests.control_plane.replicas import KMS_KEY, Replica, config_of, entry, new_key, replicas, token, told
from tests.peers.needs import PGBOUNCER, POSTGRES, need, needs
from tests.peers.postgres import ROLE, Postgres, pgbouncer, postgres
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S

SOON_S: Final = 0.5
"""How long is tried what can't be while the database is away."""
GRANTS: Final = """
grant usage on schema control_plane to clerk;
grant select on all tables in schema control_plane to clerk;
grant insert on control_plane.credentials, control_plane.wrapped_keys, control_plane.audit to clerk;
grant update on control_plane.credentials to clerk;
"""
"""As docs/escrow.md has them."""

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, needs(POSTGRES)]


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    need(POSTGRES)
    with postgres() as started:
        yield started


async def test_replicas_that_boot_at_once_make_the_tables_once_and_share_them(
    server: Postgres, log: RecordedLog
) -> None:
    server.run("drop schema if exists control_plane cascade")
    config = config_of(server.url, [entry("boot")])
    async with replicas(config, config, config, log=log) as (one, two, three):
        assert sum(len(line["migrations"]) for line in lines_of(log, "escrow.booted")) == len(STEPS)
        assert (await one.put("boot", new_key("boot"))).status == 201
        for replica in (two, three):
            answer = await replica.get("boot")
            assert (answer.status, answer.headers.get("etag")) == (200, '"1"')
            assert told(answer) | {"createdAt": ""} == new_key("boot") | {"tenantId": "tenant-boot", "createdAt": ""}
        assert [(await replica.call("GET", "/readyz")).status for replica in (one, two, three)] == [200] * 3


async def test_of_all_who_store_a_version_at_once_one_wins_whichever_replica_they_ask(
    server: Postgres, log: RecordedLog
) -> None:
    config = config_of(server.url, [entry("race")])
    async with replicas(config, config, log=log) as both:
        for after in range(3):
            answers: list[tuple[str, EgressResponse]] = []

            async def knock(number: int, after: int = after, answers: Any = answers) -> None:
                wrapped = f"version{after + 1}by{number}"
                key = new_key("race", version=after + 1, wrapped=wrapped)
                answers.append((wrapped, await both[number % 2].put("race", key, after=after)))

            async with trio.open_nursery() as nursery:
                for number in range(12):
                    nursery.start_soon(knock, number)
            won = [wrapped for wrapped, answer in answers if answer.status in {200, 201}]
            late = [told(answer) for _, answer in answers if answer.status == 409]
            assert len(won) == 1
            assert [(one["code"], one["version"]) for one in late] == [("conflict", after + 1)] * 11
            assert [told(await replica.get("race"))["wrappedKey"] for replica in both] == won * 2
        assert (await both[0].put("race", new_key("race", version=2), after=1)).status == 409
    rows = server.run(
        "select outcome, count(*) from control_plane.audit where action = 'key.put' and "
        "tenant_id = 'tenant-race' group by 1 order by 1"
    )
    assert rows == [("late", 34), ("ok", 3)]


async def test_a_credential_opens_its_tenant_and_nothing_else_until_it_is_disabled(
    server: Postgres, log: RecordedLog
) -> None:
    config = config_of(server.url, [entry("mine"), entry("other"), entry("gone")])
    async with replicas(config, log=log) as (replica,):
        assert (await replica.put("other", new_key("other"))).status == 201
        foreign = await replica.call("GET", "/v1/keys/tenant-other", as_=token("mine"))
        missing = await replica.call("GET", "/v1/keys/tenant-nobody", as_=token("mine"))
        none_yet = await replica.get("mine")
        assert [one.status for one in (foreign, missing, none_yet)] == [404] * 3
        assert foreign.body == missing.body == none_yet.body
        path, condition = "/v1/keys/tenant-other", {"if-match": "1"}
        stolen = new_key("mine", version=2)
        assert (await replica.call("PUT", path, as_=token("mine"), body=stolen, headers=condition)).status == 404
        assert (await replica.call("GET", "/v1/audit/tenant-other", as_=token("mine"))).status == 404

        refused = [
            await replica.call("GET", "/v1/keys/tenant-mine", as_=sent)
            for sent in (token("mine", generation=2), token("mine") + "x", "mine.", "mine", token("nobody"), "")
        ]
        server.run("update control_plane.credentials set disabled_at = now() where credential_id = 'mine'")
        server.run("delete from control_plane.credentials where credential_id = 'gone'")
        refused += [await replica.get("mine"), await replica.get("gone")]
        assert {(one.status, one.body) for one in refused} == {(401, refused[0].body)}
        assert (await replica.get("other")).status == 200
    async with replicas(config, log=log) as (replica,):  # the variable still has it
        assert ((await replica.get("mine")).status, (await replica.get("gone")).status) == (401, 404)


async def test_the_audit_says_who_did_what_is_append_only_and_holds_no_token(
    server: Postgres, log: RecordedLog
) -> None:
    async with replicas(config_of(server.url, [entry("audited")]), log=log) as (replica,):
        await replica.get("audited")
        await replica.put("audited", new_key("audited"))
        await replica.call("GET", "/v1/keys/tenant-else", as_=token("audited"))
        first = told(await replica.call("GET", "/v1/audit/tenant-audited?limit=2", as_=token("audited")))
        rest = told(await replica.call("GET", f"/v1/audit/tenant-audited?before={first['next']}", as_=token("audited")))
        found = [(one["action"], one["outcome"], one["version"]) for one in first["entries"] + rest["entries"]]
        assert found == [("key.get", "other-tenant", None), ("key.put", "ok", 1), ("key.get", "missing", None)]
        assert {one["cellId"] for one in first["entries"]} == {"cell-audited"}
        numbers = (await replica.call("GET", "/metrics")).body.decode()
        assert 'svc_escrow_calls_total{action="key.put",outcome="ok"} 1' in numbers
        assert "tenant-audited" not in numbers
        hop = {"x-forwarded-for": "192.0.2.1"}
        assert (await replica.call("GET", "/metrics", headers=hop)).status == 401
    for attempt in ("update {} set outcome = ''", "delete from {}", "truncate {}"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            server.run(attempt.format("control_plane.audit"))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        server.run("update control_plane.wrapped_keys set wrapped_key = 'x'")
    for (table,) in server.run("select tablename from pg_tables where schemaname = 'control_plane'"):
        assert server.run(f"select 1 from control_plane.{table} as one where one::text like '%secret-1-of-%'") == []
    assert "secret-1-of-" not in log.text


async def test_a_role_that_may_only_write_rows_serves_what_another_has_made_and_one_without_rights_is_told(
    server: Postgres, log: RecordedLog
) -> None:
    """Then the audit is append-only for the service itself: it can't take the triggers away."""
    server.run("create role clerk login password 'pw'")
    config = config_of(server.url.replace(f"{ROLE}:", "clerk:"), [entry("clerk")])
    async with replicas(config_of(server.url), log=log):
        pass
    with pytest.RaisesGroup(
        pytest.RaisesExc(ConfigError, match="its role may not make or use"), flatten_subgroups=True
    ):
        async with replicas(config, log=log):
            pass
    server.run(GRANTS)
    async with replicas(config, log=log) as (replica,):
        assert (await replica.put("clerk", new_key("clerk"))).status == 201
    with psycopg.connect(config[DATABASE_URL] or "", autocommit=True) as clerk:
        for attempt in (
            "update {} set outcome = ''",
            "delete from {}",
            "truncate {}",
            "alter table {} disable trigger user",
            "drop trigger audit_is_append_only on {}",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                clerk.execute(attempt.format("control_plane.audit").encode())


async def test_a_token_that_is_rotated_while_it_is_in_use_is_refused_from_then_on(
    server: Postgres, log: RecordedLog
) -> None:
    old = config_of(server.url, [entry("turning")])
    new = config_of(server.url, [entry("turning", generation=2)])
    path = "/v1/keys/tenant-turning"

    async def statuses(replica: Replica) -> list[int]:
        return [(await replica.call("GET", path, as_=token("turning", generation=one))).status for one in (1, 2)]

    async with replicas(old, log=log) as (first,):
        assert await statuses(first) == [404, 401]
        async with replicas(new, log=log) as (second,):
            assert await statuses(first) == await statuses(second) == [401, 404]
            async with replicas(old, log=log) as (third,):  # restarted, with the variable as it was
                assert await statuses(third) == [401, 404]
    assert [line["id"] for line in lines_of(log, "escrow.old_token_ignored")] == ["turning"]


async def test_a_credential_has_so_many_calls_a_minute_and_takes_nobody_elses(
    server: Postgres, log: RecordedLog
) -> None:
    async with replicas(config_of(server.url, [entry("eager"), entry("calm")]), log=log) as (replica,):
        found: Counter[int] = Counter()

        async def knock() -> None:
            answer = await replica.get("eager")
            found[answer.status] += 1
            assert (answer.headers.get("retry-after") is not None) == (answer.status == 429)

        async with trio.open_nursery() as nursery:
            for _ in range(130):
                nursery.start_soon(knock)
        assert found == {404: 120, 429: 10}
        guessed = await replica.call("GET", "/v1/keys/tenant-eager", as_=token("eager", generation=9))
        assert (guessed.status, (await replica.get("calm")).status) == (401, 404)

        async def guess(number: int) -> None:
            answer = await replica.call("GET", "/v1/keys/tenant-calm", as_=token("calm", generation=number))
            found[answer.status] += 1

        found.clear()
        for number in range(GUESSES_MAX + 9):
            await guess(number + 10)
        assert found == {401: GUESSES_MAX - 1, 429: 10}
        assert (await replica.get("calm")).status == 404  # from the same address, as behind a balancer


REFUSED: Final[tuple[tuple[dict[str, Any], dict[str, str], int], ...]] = (
    ({}, {}, 400),
    ({}, {"if-none-match": '"1"'}, 400),
    ({}, {"if-match": "*"}, 400),
    ({}, {"if-match": "0"}, 400),
    ({}, {"if-match": "1", "if-none-match": "*"}, 400),
    ({"version": 2}, {"if-none-match": "*"}, 400),
    ({"version": 0}, {"if-none-match": "*"}, 400),
    ({"version": "1"}, {"if-none-match": "*"}, 400),
    ({"version": 1}, {"if-match": "1"}, 409),
    ({"version": 8}, {"if-match": "7"}, 409),
    ({"wrappedKey": ""}, {"if-none-match": "*"}, 400),
    ({"wrappedKey": "no base64!"}, {"if-none-match": "*"}, 400),
    ({"wrappedKey": "A" * 20_000}, {"if-none-match": "*"}, 400),
    ({"wrappedKey": "A" * 40_000}, {"if-none-match": "*"}, 413),
    ({"kmsKeyId": "alias/tenants"}, {"if-none-match": "*"}, 400),
    ({"kmsKeyId": KMS_KEY.replace(":key/", ":alias/")}, {"if-none-match": "*"}, 400),
    ({"context": {}}, {"if-none-match": "*"}, 400),
    ({"context": new_key("bad")["context"] | {"svc:cell": "cell-else"}}, {"if-none-match": "*"}, 400),
    ({"context": new_key("bad")["context"] | {"more": "x"}}, {"if-none-match": "*"}, 400),
    ({"context": {"svc:tenant": 1}}, {"if-none-match": "*"}, 400),
)
"""What a `PUT` says, and how it is answered."""


async def test_what_can_not_be_a_key_is_refused(server: Postgres, log: RecordedLog) -> None:
    async with replicas(config_of(server.url, [entry("bad")]), log=log) as (replica,):
        path, found = "/v1/keys/tenant-bad", []
        for change, headers, _ in REFUSED:
            body = new_key("bad") | change
            answer = await replica.call("PUT", path, as_=token("bad"), body=body, headers=headers)
            assert told(answer)["status"] == answer.status
            found.append((change, headers, answer.status))
        assert tuple(found) == REFUSED
        first = {"if-none-match": "*"}
        assert (await replica.call("PUT", path, as_=token("bad"), body=b"{", headers=first)).status == 400
        assert (await replica.call("DELETE", path, as_=token("bad"))).status == 405
        for query in ("limit=0", "limit=1001", "limit=x", "before=" + "9" * 5_000):
            asked = f"/v1/audit/tenant-bad?{query}"
            assert (await replica.call("GET", asked, as_=token("bad"))).status == 400
        page = {"origin": "https://evil.example"}
        assert (await replica.call("GET", path, as_=token("bad"), headers=page)).status == 403
        assert (await replica.get("bad")).status == 404


async def test_a_database_that_restarts_or_has_no_connection_left_is_503_until_it_is_back(
    server: Postgres, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "RECONNECT_S", SOON_S)
    async with replicas(config_of(server.url, [entry("away")]), log=log) as (replica,):
        assert (await replica.put("away", new_key("away"))).status == 201
        server.stop()
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(database, "CONNECTION_S", SOON_S)
            away = await replica.get("away")
            assert (away.status, away.headers.get("retry-after")) == (503, "2")
            assert (await replica.call("GET", "/readyz")).status == 503
        assert (await replica.call("GET", "/livez")).status == 200
        await until_given_up(replica)  # an outage of hours: no attempt sleeps on when the server is back
        server.start()
        back = await replica.get("away")
        assert (back.status, told(back).get("version")) == (200, 1), log.records[-9:]
        assert (await replica.call("GET", "/readyz")).status == 200
        end_connections(server)  # nobody notices: each is dead when it is wanted next
        assert (await replica.get("away")).status == 200

        server.run("alter database escrow set default_transaction_read_only = on")
        end_connections(server)
        assert (await replica.get("away")).status == 503
        assert (await replica.call("GET", "/readyz")).status == 503
        server.run("begin read write; alter database escrow reset default_transaction_read_only; commit")
        await until_ready(replica)
        assert (await replica.get("away")).status == 200, log.records[-9:]

        server.run(f"alter role {ROLE} connection limit 0")
        end_connections(server)
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(database, "CONNECTION_S", SOON_S)
            assert (await replica.get("away")).status == 503
        server.run(f"alter role {ROLE} connection limit -1")
        await until_ready(replica)
        assert (await replica.get("away")).status == 200


async def test_a_connection_from_before_the_server_took_writes_again_serves_no_call(
    server: Postgres, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where all were renewed a moment ago: one call had a later one, and the next may get an old one."""
    server.run("alter database escrow set default_transaction_read_only = on")
    monkeypatch.setattr(database, "RENEW_EVERY_S", HANGS_S)
    pool = Database(server.url, ssl="require", pool_size=3, log=log)
    pool._renewed_at = monotonic()
    async with pool:
        await trio.to_thread.run_sync(pool._pool.wait)
        with pytest.raises(Unavailable):
            await pool.look()
        old = [await trio.to_thread.run_sync(pool._pool.getconn) for _ in range(2)]
        server.run("begin read write; alter database escrow reset default_transaction_read_only; commit")
        await pool.look()
        for connection in old:
            pool._pool.putconn(connection)
        for _ in range(3):
            await pool.run(make_and_drop)


async def test_when_the_server_takes_no_writes_any_more_the_first_call_replaces_all_connections(
    server: Postgres, log: RecordedLog
) -> None:
    """Each time: what they wrote a moment ago was before. Else each would cost a call one more try. Calls that have one
    of them just then go on with a new one, too."""
    all_are_used = Barrier(3)
    tries: list[None] = []

    def becomes_a_standby(connection: Rows) -> None:
        all_are_used.wait(HANGS_S)
        connection.execute("set default_transaction_read_only = on")

    def write(connection: Rows) -> None:
        tries.append(None)
        if 4 < len(tries) <= 7:
            all_are_used.wait(HANGS_S)
        connection.execute("drop table if exists made")

    async with Database(server.url, ssl="require", pool_size=3, log=log) as pool:
        for calls, tried in ((1, 2), (1, 4), (3, 10)):
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(pool.run, becomes_a_standby)
            pool._renewed_at = -math.inf
            async with trio.open_nursery() as nursery:
                for _ in range(calls):
                    nursery.start_soon(pool.run, write)
            assert len(tries) == tried


async def test_a_drain_lets_calls_in_flight_finish_and_turns_new_ones_away(server: Postgres, log: RecordedLog) -> None:
    async with replicas(config_of(server.url, [entry("slow")]), log=log) as (replica,), trio.open_nursery() as nursery:
        answers: list[EgressResponse] = []

        async def put() -> None:
            answers.append(await replica.put("slow", new_key("slow")))

        with first_version_held(server, "slow"):
            nursery.start_soon(put)
            await until_waiting(server)
            replica.root.drain("SIGTERM")
            ready = await replica.call("GET", "/readyz")
            late = await replica.get("slow")
            assert (ready.status, told(ready)["status"], late.status) == (503, "draining", 503)
            assert not replica.ended.is_set()
        await replica.ended.wait()
        assert [one.status for one in answers] == [201]


async def test_a_drain_is_over_at_its_deadline_and_leaves_nothing_running_at_the_server(
    server: Postgres, log: RecordedLog
) -> None:
    config = config_of(server.url, [entry("stuck")], SVC_KEY_ESCROW_SHUTDOWN_MS="1000")
    async with replicas(config, log=log) as (replica,), trio.open_nursery() as nursery:

        async def put() -> None:
            with pytest.raises(EgressFault):
                await replica.put("stuck", new_key("stuck"))

        with first_version_held(server, "stuck"):
            nursery.start_soon(put)
            await until_waiting(server)
            replica.root.drain("SIGTERM")
            await replica.ended.wait()
            await until_gone(server)


@needs(PGBOUNCER)
async def test_behind_a_pooler_in_transaction_mode_all_is_the_same_and_nothing_leaks(
    server: Postgres, log: RecordedLog
) -> None:
    server.run("drop schema if exists control_plane cascade")
    with pgbouncer(server, connections=3) as url:
        config = config_of(url, [entry("pooled")], SVC_KEY_ESCROW_DB_SSL="disable")
        async with replicas(config, config, log=log) as both:
            assert (await both[0].put("pooled", new_key("pooled"))).status == 201
            found: Counter[int] = Counter()

            async def knock(number: int) -> None:
                found[(await both[number % 2].get("pooled")).status] += 1

            async with trio.open_nursery() as nursery:
                for number in range(80):
                    nursery.start_soon(knock, number)
            assert found == {200: 80}
        async with Database(url, ssl="disable", pool_size=2, log=log) as pool:
            with pytest.raises(Unavailable):
                await pool.run(lambda connection: connection.execute("select pg_sleep(60)"), deadline_s=0.5)
            timeouts = [await pool.run(set_timeout) for _ in range(6)]
            assert set(timeouts) == {"5s"}
        with psycopg.connect(url, prepare_threshold=None, autocommit=True) as stranger:
            seen = {stranger.execute("show statement_timeout").fetchone() for _ in range(6)}
            assert seen == {("0",)}
    assert busy(server) == []


async def test_a_transaction_that_is_cut_short_gives_its_connection_back_even_where_the_server_hangs(
    server: Postgres, log: RecordedLog
) -> None:
    """Cancelled where the server hears of it; where that process stands still, the line is hung up."""
    stopped: list[int] = []

    def stand_still(connection: Rows) -> None:
        pid = connection.info.backend_pid
        os.kill(pid, signal.SIGSTOP)
        stopped.append(pid)
        connection.execute("select 1")

    async with Database(server.url, ssl="require", pool_size=2, log=log) as pool:
        with pytest.raises(Unavailable):
            await pool.run(lambda connection: connection.execute("select pg_sleep(60)"), deadline_s=0.3)
        assert busy(server) == []
        try:
            with pytest.raises(Unavailable):
                await pool.run(stand_still, deadline_s=0.3)
            stopped.append(await pool.run(lambda connection: connection.info.backend_pid))
            for (pid,) in server.run("select pid from pg_stat_activity where application_name = 'svc-key-escrow'"):
                with suppress(ProcessLookupError):  # one that was let go of may end just now
                    os.kill(pid, signal.SIGSTOP)  # while it lies in the pool: the next call has it
                    stopped.append(pid)
            with trio.fail_after(HANGS_S), pytest.raises(Unavailable):
                await pool.run(set_timeout, deadline_s=0.3)
            assert await pool.run(set_timeout) == "5s"  # the others like it were replaced
        finally:
            for pid in stopped:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        assert [await pool.run(set_timeout) for _ in range(3)] == ["5s"] * 3
        with pytest.raises(psycopg.errors.DivisionByZero):  # a fault of ours is no trouble of the database's
            await pool.run(lambda connection: connection.execute("select 1 / 0"))
    assert busy(server) == []


async def test_tls_is_what_was_asked_for(server: Postgres, log: RecordedLog) -> None:
    trusted = f"{server.url}?sslrootcert={server.certificate}".replace("127.0.0.1", "localhost")
    verified = config_of(trusted, [entry("tls")], SVC_KEY_ESCROW_DB_SSL="verify-full")
    async with replicas(verified, config_of(f"{server.url}?sslmode=disable"), log=log) as (one, two):
        assert ((await one.get("tls")).status, (await two.get("tls")).status) == (404, 404)
        assert server.run(
            "select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename = %s", ROLE
        ) == [(True,)]
    async with Database(server.url, ssl="verify-full", pool_size=2, log=log) as pool:
        with pytest.raises(Unavailable):
            await pool.run(set_timeout, deadline_s=2.0)
