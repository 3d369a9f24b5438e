"""Disconnecting an account at the real provider: the grant is revoked there, and nothing of it stays here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from svc.clock import HOUR_MS, VirtualClock
from svc.connections import REVOKE_DEADLINE_S
from svc.mail.accounts.actions import secret_name
from tests.mail.scripted_google import REVOKE, ScriptedGoogle
from tests.mail.scripted_http import answer
from tests.mail.test_connection import begin, connected_to
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, Service
from tests.virtual_time import hours_pass


@pytest.fixture
def google() -> ScriptedGoogle:
    return ScriptedGoogle()


@pytest.fixture
async def connected(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, google: ScriptedGoogle
) -> AsyncIterator[Service]:
    """With one account, connected through the whole round trip and polled once."""
    async with connected_to(google, tmp_path, wall, log) as opened:
        reply = await (await begin(opened, google)).consented()
        assert reply.header("location") == "/"
        await trio.sleep(60)
        yield opened


async def account_id_of(service: Service) -> str:
    (account,) = await service.query("mail.accounts")
    return str(account["id"])


def revoked(google: ScriptedGoogle) -> list[str]:
    return [one.form["token"] for one in google.asked if one.url == REVOKE]


async def kept_secret(service: Service) -> list[tuple[object, ...]]:
    return await service.rows("select 1 from secrets where name = :name", name=secret_name(MIA))


@pytest.mark.parametrize("erase", [False, True])
async def test_the_grant_is_taken_back_and_its_tokens_are_gone(
    connected: Service, google: ScriptedGoogle, clock: MockClock, erase: bool
) -> None:
    account_id = await account_id_of(connected)
    assert await kept_secret(connected)
    assert await connected.mutate("mail.disconnect", accountId=account_id, erase=erase) == {
        "revoked": True,
        "notice": None,
    }
    assert revoked(google) == ["canary-refresh-token"]
    assert await kept_secret(connected) == []
    asked = len(google.asked)
    await hours_pass(clock, 1)
    assert len(google.asked) == asked, "somebody still asks"


async def test_a_grant_the_provider_does_not_know_has_ended(connected: Service, google: ScriptedGoogle) -> None:
    google.revocation = answer({"error": "invalid_token"}, status=400)
    outcome = await connected.mutate("mail.disconnect", accountId=await account_id_of(connected))
    assert outcome == {"revoked": True, "notice": None}


@pytest.mark.parametrize("trouble", ["refused", "cut", "silent"])
async def test_a_provider_that_can_not_be_told_does_not_keep_the_account_here(
    connected: Service, google: ScriptedGoogle, trouble: str
) -> None:
    account_id = await account_id_of(connected)
    google.revocation = answer({"error": "server_error"}, status=500)
    google.cut = trouble == "cut"
    google.silent = trouble == "silent"
    began_s = trio.current_time()
    outcome = await connected.mutate("mail.disconnect", accountId=account_id)
    assert trio.current_time() - began_s <= REVOKE_DEADLINE_S + 1
    assert outcome["revoked"] is False
    assert "third-party connections" in outcome["notice"]
    (account,) = await connected.query("mail.accounts")
    assert (account["state"], account["problem"]) == ("disconnected", outcome["notice"])
    assert await kept_secret(connected) == []


async def test_a_renewal_under_way_does_not_bring_the_tokens_back(
    connected: Service, google: ScriptedGoogle, wall: VirtualClock
) -> None:
    account_id = await account_id_of(connected)
    google.token_takes_s = 5
    wall.offset_ms = HOUR_MS  # the next poll has to renew
    await trio.sleep(32)
    await connected.mutate("mail.disconnect", accountId=account_id)
    await trio.sleep(60)
    assert await kept_secret(connected) == []


async def test_connected_again_the_account_goes_on(connected: Service, google: ScriptedGoogle) -> None:
    account_id = await account_id_of(connected)
    await connected.mutate("mail.disconnect", accountId=account_id)
    await (await begin(connected, google, email=MIA)).consented()
    await trio.sleep(60)
    (account,) = await connected.query("mail.accounts")
    assert (account["id"], account["state"], account["problem"]) == (account_id, "caught-up", None)
