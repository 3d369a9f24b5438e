"""``GET /auth/me``: the one call that an anonymous caller may always make."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc.clock import VirtualClock
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service

CLIENT = {"IDP_CLIENT_ID": "id", "IDP_CLIENT_SECRET": "secret"}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"PROVIDERS": "fake"}, {"mode": "unclaimed", "devLogin": True, "googleLogin": False}),
        ({}, {"mode": "unclaimed", "devLogin": False, "googleLogin": False}),
        (CLIENT, {"mode": "unclaimed", "devLogin": False, "googleLogin": True}),
        ({**CLIENT, "PROVIDERS": "fake"}, {"mode": "unclaimed", "devLogin": True, "googleLogin": False}),
        ({"PROVIDERS": "fake", "SVC_AUTH": "off"}, {"mode": "off", "devLogin": True, "googleLogin": False}),
    ],
    ids=["fake", "nothing configured", "a client", "fake wins", "identity off"],
)
async def test_it_tells_how_one_can_sign_in_here(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, settings: dict[str, str], told: dict[str, object]
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, environ=settings) as service:
        reply = await service.get("/auth/me")
    assert (reply.status, reply.json) == (200, {"user": None, **told})
    assert reply.header("cache-control") == "no-store"


@pytest.mark.parametrize(
    "cookie",
    ["svc_session=stale", "svc_session=", "svc_session=a; svc_session=b", "svc_session=" + "x" * 5_000, "svc_session"],
    ids=["stale", "empty", "doubled", "long", "torn"],
)
async def test_a_cookie_that_opens_nothing_is_no_cookie_and_no_error(service: Service, cookie: str) -> None:
    reply = await service.get("/auth/me", cookie=cookie)
    assert (reply.status, reply.json["mode"]) == (200, "unclaimed")
    assert (await service.get("/trpc/mail.accounts", cookie=cookie)).status == 200
