"""A service unlike Google is connected by its own terms, and nothing of Google's is sent to it or read from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from svc.clock import DAY_MS, VirtualClock
from svc.connections import (
    GrantEnded,
    GrantRefused,
    Terms,
    TokenSource,
    authorization_url,
    exchange_code,
)
from svc.connections.oauth import Endpoints, refresh
from svc.identity import ClientCredentials
from tests.connections.test_oauth import CLIENT, ENDPOINTS, kept, oauth_error, token_answer
from tests.mail.scripted_http import ScriptedHttp

CALENDARS = Terms(
    service="Example",
    what="calendar",
    scopes=("calendars",),
    sufficient_scopes=frozenset({"calendars"}),
    not_granted="Access to the calendars was not granted.",
)


def test_its_consent_screen_is_asked_for_what_its_terms_say() -> None:
    url = authorization_url(ENDPOINTS, CALENDARS, client_id="c", redirect_uri="r", state="s", code_challenge="x")
    assert "scope=calendars&" in url
    assert not [word for word in ("access_type", "prompt", "include_granted_scopes", "google") if word in url]


async def test_a_scope_left_out_is_told_in_its_own_words(wall: VirtualClock) -> None:
    http = ScriptedHttp(answers=[token_answer(scope="contacts")])
    with pytest.raises(GrantRefused, match=CALENDARS.not_granted):
        await exchange_code(
            http, ENDPOINTS, CALENDARS, credentials=CLIENT, code="c", code_verifier="v", redirect_uri="r", clock=wall
        )


async def test_no_lasting_access_is_told_in_its_own_name(wall: VirtualClock) -> None:
    http = ScriptedHttp(answers=[token_answer(refresh_token=None)])
    with pytest.raises(GrantRefused, match="Example granted no lasting access") as caught:
        await exchange_code(
            http, ENDPOINTS, CALENDARS, credentials=CLIENT, code="c", code_verifier="v", redirect_uri="r", clock=wall
        )
    assert "Google" not in caught.value.detail


@pytest.mark.parametrize("subtype", ["", "invalid_rapt"])
async def test_a_service_without_a_trial_period_never_blames_one(subtype: str, wall: VirtualClock) -> None:
    old = kept(wall, expires_in_s=0).tokens
    assert old is not None
    week_old = replace(old, granted_at=wall.now() - 7 * DAY_MS)
    http = ScriptedHttp(otherwise=oauth_error("invalid_grant", error_subtype=subtype))
    for tokens in (old, week_old):
        with pytest.raises(GrantEnded) as caught:
            await refresh(http, ENDPOINTS, CALENDARS, credentials=CLIENT, kept=tokens, clock=wall)
        assert caught.value.cause == "revoked"
        assert caught.value.detail.startswith("Example no longer accepts this account's access")
        assert "testing" not in caught.value.detail


async def test_its_tokens_are_renewed_like_any_others(wall: VirtualClock) -> None:
    async def client() -> ClientCredentials:
        return CLIENT

    async def endpoints() -> Endpoints:
        return ENDPOINTS

    http = ScriptedHttp(otherwise=token_answer(scope="calendars"))
    store = kept(wall, expires_in_s=0)
    source = TokenSource(store=store, terms=CALENDARS, client=client, endpoints=endpoints, http=http, clock=wall)
    assert await source.access_token() == "S3CRET-access-2"
