"""The one-shot state of an OAuth round trip: for one purpose, one browser, one person, once, for ten minutes."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace

import pytest

from svc.clock import VirtualClock
from svc.identity.oauth_states import MAX_OPEN_STATES, OAuthState, begin_round_trip, end_round_trip
from svc.principal import UNCLAIMED, Principal
from svc.store import Tx
from tests.support.service import Service

MIA = Principal(user_id="usr_mia", device_id="dev_mia", is_admin=False, via="session")
TEN_MINUTES_MS = 600_000


async def begin(
    service: Service, who: Principal = MIA, *, purpose: str = "mail", browser_key: str | None = None
) -> OAuthState:
    return await service.workspace.store.write(
        begin_round_trip, who, purpose=purpose, hint="mia@example.org", browser_key=browser_key
    )


async def end(service: Service, started: OAuthState, who: Principal = MIA, purpose: str = "mail") -> OAuthState | None:
    return await service.workspace.store.write(
        end_round_trip, who, purpose=purpose, state=started.state, browser_key=started.browser_key
    )


async def test_a_trip_ends_where_it_began_with_what_it_carried(service: Service) -> None:
    started = await begin(service)
    ended = await end(service, started)
    assert ended is not None
    assert (ended.hint, ended.verifier) == ("mia@example.org", started.verifier)
    assert await end(service, started) is None


async def test_the_challenge_is_the_digest_of_a_verifier_that_the_redirect_does_not_tell(service: Service) -> None:
    """RFC 7636, sections 4.1 and 4.2."""
    started = await begin(service)
    digest = hashlib.sha256(started.verifier.encode()).digest()
    assert started.challenge == base64.urlsafe_b64encode(digest).decode().rstrip("=")
    assert 43 <= len(started.verifier) <= 128
    assert replace(started, browser_key="another").verifier != started.verifier
    for secret in (started.state, started.browser_key, started.verifier):
        assert secret not in repr(started)


@pytest.mark.parametrize(
    ("who", "purpose"),
    [(MIA, "sign-in"), (UNCLAIMED, "mail"), (replace(MIA, user_id="usr_noa"), "mail")],
    ids=["another purpose", "nobody yet", "another person"],
)
async def test_a_state_is_no_use_to_anybody_else_and_is_used_up_by_the_attempt(
    service: Service, who: Principal, purpose: str
) -> None:
    started = await begin(service)
    assert await end(service, started, who, purpose) is None
    assert await end(service, started) is None


async def test_a_state_ends_on_the_wall_clock_also_while_the_machine_slept(
    service: Service, wall: VirtualClock
) -> None:
    early, late = await begin(service), await begin(service)
    wall.offset_ms += TEN_MINUTES_MS - 1
    assert await end(service, early) is not None
    wall.offset_ms += 1
    assert await end(service, late) is None


async def test_a_new_trip_sweeps_the_stale_ones(service: Service, wall: VirtualClock) -> None:
    await begin(service)
    wall.offset_ms += TEN_MINUTES_MS
    await begin(service)
    assert await service.rows("select count(*) from oauth_states") == [(1,)]


async def test_a_page_that_begins_trips_in_a_loop_pushes_out_the_oldest(service: Service, wall: VirtualClock) -> None:
    first = await begin(service)
    wall.offset_ms += 1

    def fill(tx: Tx) -> OAuthState:
        for _ in range(MAX_OPEN_STATES):
            newest = begin_round_trip(tx, MIA, purpose="mail", hint="", browser_key=None)
        return newest

    newest = await service.workspace.store.write(fill)
    assert await service.rows("select count(*) from oauth_states") == [(MAX_OPEN_STATES,)]
    assert await end(service, first) is None
    assert await end(service, newest) is not None
