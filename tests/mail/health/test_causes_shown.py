"""Each cause as the person meets it: an account connected through the whole round trip, the provider turns, and what
``mail.health`` then says; and that the account recovers in the way its cause asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from email.utils import formatdate
from pathlib import Path

import pytest
import trio

from svc.clock import DAY_MS, HOUR_MS, SECOND_MS, VirtualClock
from tests.mail.scripted_google import ScriptedGoogle
from tests.mail.scripted_http import answer, google_error
from tests.mail.test_connection import begin, connected_to
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, Service


@pytest.fixture
def google() -> ScriptedGoogle:
    return ScriptedGoogle()


@pytest.fixture
async def connected(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, google: ScriptedGoogle
) -> AsyncIterator[Service]:
    async with connected_to(google, tmp_path, wall, log) as opened:
        await (await begin(opened, google)).consented()
        await trio.sleep(60)
        yield opened


async def stands(service: Service) -> tuple[str, str | None, str]:
    (found,) = await service.query("mail.health")
    return found["state"], found["cause"], found["problem"] or ""


async def reconnected(service: Service, google: ScriptedGoogle) -> None:
    google.refusal = google.trouble = None
    await (await begin(service, google, email=MIA)).consented()
    await trio.sleep(60)
    assert await stands(service) == ("caught-up", None, "")


async def test_the_quota_is_counted_while_all_is_well(connected: Service) -> None:
    (found,) = await connected.query("mail.health")
    assert 0 < found["quota"]["usedLastMinute"] < found["quota"]["limitPerMinute"] == 6_000
    assert (found["state"], found["cause"], found["provider"], found["here"]) == ("caught-up", None, 0, 0)


async def test_a_revoked_grant(connected: Service, google: ScriptedGoogle, wall: VirtualClock) -> None:
    google.refusal = answer({"error": "invalid_grant"}, status=400)
    wall.offset_ms = 2 * HOUR_MS
    await trio.sleep(40)
    state, cause, problem = await stands(connected)
    assert (state, cause) == ("reconnect", "revoked")
    assert "revoked" in problem
    await reconnected(connected, google)


async def test_a_testing_grant_after_seven_days(connected: Service, google: ScriptedGoogle, wall: VirtualClock) -> None:
    wall.offset_ms = 7 * DAY_MS - HOUR_MS
    await trio.sleep(60)  # it is renewed one last time
    google.refusal = answer({"error": "invalid_grant"}, status=400)
    wall.offset_ms += 2 * HOUR_MS
    await trio.sleep(60)
    state, cause, problem = await stands(connected)
    assert (state, cause) == ("reconnect", "testing-expired")
    assert "seven days" in problem
    await reconnected(connected, google)


async def test_a_box_left_unticked(connected: Service, google: ScriptedGoogle) -> None:
    google.trouble = google_error(403, reason="insufficientPermissions")
    await trio.sleep(40)
    state, cause, problem = await stands(connected)
    assert (state, cause) == ("reconnect", "scope")
    assert "ticked" in problem
    await reconnected(connected, google)


async def test_the_api_switched_off_mends_itself_once_it_is_on(connected: Service, google: ScriptedGoogle) -> None:
    google.trouble = google_error(403, reason="accessNotConfigured")
    await trio.sleep(40)
    state, cause, problem = await stands(connected)
    assert (state, cause) == ("waiting", "api-off")
    assert "Enable it" in problem
    google.trouble = None
    await trio.sleep(16 * 60)
    assert await stands(connected) == ("caught-up", None, "")


async def test_a_wrong_clock(connected: Service, google: ScriptedGoogle, wall: VirtualClock) -> None:
    true_time = formatdate(wall.now() / SECOND_MS, usegmt=True)
    google.refusal = answer({"error": "invalid_grant"}, status=400, date=true_time)
    wall.offset_ms = 3 * HOUR_MS
    await trio.sleep(40)
    state, cause, problem = await stands(connected)
    assert (state, cause) == ("reconnect", "clock")
    assert "3 hours ahead" in problem
    wall.offset_ms = 0
    await reconnected(connected, google)


async def test_a_network_that_is_away_is_no_cause_of_the_accounts(connected: Service, google: ScriptedGoogle) -> None:
    google.cut = True
    await trio.sleep(40)
    state, cause, problem = await stands(connected)
    assert (state, cause) == ("waiting", "other")
    assert "reached" in problem
    google.cut = False
    await connected.mutate("mail.retryFailures", accountId=(await connected.query("mail.accounts"))[0]["id"])
    assert await stands(connected) == ("caught-up", None, "")
