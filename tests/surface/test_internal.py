"""The internal listener beside the public one: who is let in, which rows answer where, and that both drain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio.testing

from svc.app import FEATURES
from svc.clock import VirtualClock
from svc.feature import routes_of
from svc.protocol import Route
from tests.identity.people import sign_in
from tests.recorded_log import RecordedLog
from tests.support.http import Reply, read_to_end
from tests.support.service import HOST, MIA, Service, open_service

OWN = "127.0.0.1:4782"


def token_of(service: Service) -> str:
    return (service.workspace.home.path / "run" / "internal.token").read_text()


async def ask(service: Service, path: str, *, host: str | None = OWN, token: str | None = None, **fields: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    said = {"authorization": f"Bearer {token_of(service) if token is None else token}", **named}
    return await service.ask("GET", path, host=host, fields=said, listener=service.internal)


async def test_who_brings_the_token_is_let_in(service: Service) -> None:
    assert (await ask(service, "/livez")).json == {"status": "ok"}
    assert (await ask(service, "/readyz")).json["status"] == "ready"
    assert (await ask(service, "/livez", host="localhost")).status == 200


@pytest.mark.parametrize("token", ["", "wrong", "x" * 43])
async def test_another_token_is_401(service: Service, token: str) -> None:
    assert (await ask(service, "/livez", token=token)).status == 401


@pytest.mark.parametrize("said", ["{token}", "Basic {token}", "Bearer", "Bearer {token} {token}"])
async def test_a_token_said_otherwise_is_401(service: Service, said: str) -> None:
    fields = {"authorization": said.format(token=token_of(service))}
    reply = await service.ask("GET", "/livez", host=OWN, fields=fields, listener=service.internal)
    assert reply.status == 401


async def test_whoever_is_let_in_everywhere_is_not_here_without_the_token(service: Service) -> None:
    """An unclaimed instance has nobody to keep out; the internal listener has."""
    assert (await service.get("/auth/me")).status == 200
    reply = await service.ask("GET", "/livez", host=OWN, listener=service.internal)
    assert reply.status == 401


async def test_a_401_of_each_port_asks_for_what_that_port_takes(service: Service) -> None:
    assert (await ask(service, "/livez", token="wrong")).header("www-authenticate") == "Bearer"
    await sign_in(service, MIA)
    for target in ("/openapi.json", "/trpc/auth.sessions"):
        reply = await service.get(target)
        assert reply.status == 401
        assert reply.header("www-authenticate") == 'DeviceToken header="X-SVC-Device-Token"'


@pytest.mark.parametrize("host", ["example.org", "10.0.0.1:4782", "127.0.0.1.example.org", "0.0.0.0:4782"])
async def test_any_name_but_loopbacks_is_421(service: Service, host: str) -> None:
    assert (await ask(service, "/livez", host=host)).status == 421


@pytest.mark.parametrize("origin", [f"http://{OWN}", "https://example.org", "null"])
async def test_any_page_is_403(service: Service, origin: str) -> None:
    assert (await ask(service, "/livez", origin=origin)).status == 403
    assert (await ask(service, "/livez", sec_fetch_site="same-origin")).status == 403


async def test_no_public_row_answers_on_the_internal_listener(service: Service) -> None:
    here = {row.path for row in routes_of(FEATURES, "internal")}
    for row in routes_of(FEATURES, "public"):
        if row.path not in here and row.method == "GET":
            path = row.path.replace(":", "").replace("*", "")
            assert (await ask(service, path)).status == 404, row.path
    assert (await ask(service, "/ws")).status == 404


@pytest.mark.parametrize(
    "target",
    [
        "/internal/broker/handshake",
        "/internal",
        "/%69nternal/broker/handshake",
        "/INTERNAL/broker/handshake",
        "/.well-known/workflow/v1/flow",
        "/internal//broker/handshake",
        "//internal/broker/handshake",
        "/./internal/broker/handshake",
        "/p/%2e%2e/%49nternal/broker/handshake",
        "/.well-known//workflow/v1/flow",
        "/internal\\broker/handshake",
        "/internal%5cbroker/handshake",
        "//internal\\broker/handshake",
        "/.%5c/internal%5cbroker//handshake",
        f"http://{OWN}/internal/broker/handshake",
    ],
)
async def test_nothing_internal_is_on_the_public_port_however_it_is_spelled(service: Service, target: str) -> None:
    for fields in ({}, {"authorization": f"Bearer {token_of(service)}"}, {"x-forwarded-host": OWN}):
        reply = await service.ask("GET", target, host=HOST, fields=fields)
        assert reply.status == 404 or (reply.status == 400 and not target.startswith("/")), target


async def test_the_token_lies_where_only_its_owner_reads_it_and_is_new_at_each_boot(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    tokens = set()
    for _ in range(2):
        async with open_service(tmp_path, clock=wall, log=log) as service:
            path = service.workspace.home.path / "run" / "internal.token"
            assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
            tokens.add(path.read_text())
    assert len(tokens) == 2
    assert not any(token in log.text for token in tokens)


async def test_a_token_of_the_environment_is_the_one_and_no_file_is_written(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    token = "t" * 43
    async with open_service(tmp_path, clock=wall, log=log, SVC_INTERNAL_TOKEN=token) as service:
        assert not (service.workspace.home.path / "run" / "internal.token").exists()
        assert (await ask(service, "/livez", token=token)).status == 200
        assert (await ask(service, "/livez", token="u" * 43)).status == 401


async def test_a_drain_closes_both_listeners_and_their_idle_connections(service: Service) -> None:
    idle = [await one.connect() for one in (service.listener, service.internal)]
    await trio.testing.wait_all_tasks_blocked()
    service.workspace.root.drain("test")
    for stream in idle:
        with trio.fail_after(600):
            assert await read_to_end(stream) == b""
    for listener in (service.listener, service.internal):
        with pytest.raises(trio.BrokenResourceError):
            await listener.connect()


def test_every_internal_row_asks_for_the_token() -> None:
    rows: list[Route[Any]] = list(routes_of(FEATURES, "internal"))
    rows += [row for feature in FEATURES for row in feature.worker.routes]
    assert rows
    assert {(row.access, row.listener, row.host_exempt, row.csrf_exempt) for row in rows} == {
        ("authenticated", "internal", False, False)
    }
