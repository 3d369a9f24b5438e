"""Why an account asks to be connected again: each known cause by its name and its sentence, told from the others."""

from __future__ import annotations

from dataclasses import replace
from email.utils import formatdate

import pytest

from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Millis, VirtualClock
from svc.connections import GrantRefused, Tokens
from svc.mail.providers.gmail.faults import fault_of
from svc.mail.providers.seam import GrantLost, ProviderFault, Unreachable
from svc.mail.providers.tokens import MailboxTokens
from svc.protocol.egress import EgressFault
from tests.connections.test_oauth import (
    KeptTokens,
    claims,
    kept,
    oauth_error,
    redeem,
    source,
    token_answer,
)
from tests.mail.scripted_http import Answer, ScriptedHttp, answer, google_error


def http_date(instant: Millis) -> str:
    return formatdate(instant / SECOND_MS, usegmt=True)


async def refused(store: KeptTokens, said: Answer, wall: VirtualClock) -> ProviderFault:
    with pytest.raises(ProviderFault) as caught:
        await MailboxTokens(source=source(ScriptedHttp(answers=[said]), store, wall)).access_token()
    return caught.value


def week_old(wall: VirtualClock, *, granted: Millis, good_until: Millis) -> KeptTokens:
    """A grant of that age, whose last access token lived until ``good_until`` after it."""
    tokens = kept(wall, expires_in_s=0).tokens
    assert isinstance(tokens, Tokens)
    granted_at = wall.now() - granted
    return KeptTokens(replace(tokens, granted_at=granted_at, expires_at=granted_at + good_until))


@pytest.mark.parametrize(
    ("age", "good_until", "trouble"),
    [
        (7 * DAY_MS, 7 * DAY_MS - MINUTE_MS, "testing-expired"),
        (7 * DAY_MS + 40 * MINUTE_MS, 7 * DAY_MS + 39 * MINUTE_MS, "testing-expired"),
        (9 * DAY_MS, 5 * DAY_MS, "testing-expired"),  # the machine was off over the seventh day
        (6 * DAY_MS, 6 * DAY_MS - MINUTE_MS, "revoked"),
        (8 * DAY_MS, 8 * DAY_MS - HOUR_MS, "revoked"),  # it was renewed after the seventh day: no app in testing
        (300 * DAY_MS, 300 * DAY_MS - HOUR_MS, "revoked"),
    ],
)
async def test_a_grant_that_ends_with_its_seventh_day_was_one_for_testing(
    age: Millis, good_until: Millis, trouble: str, wall: VirtualClock
) -> None:
    store = week_old(wall, granted=age, good_until=good_until)
    fault = await refused(store, oauth_error("invalid_grant"), wall)
    assert (type(fault), fault.trouble) == (GrantLost, trouble)
    assert ("seven days" in fault.detail) == (trouble == "testing-expired")


async def test_the_age_of_a_grant_survives_its_renewals(wall: VirtualClock) -> None:
    http = ScriptedHttp(otherwise=token_answer())
    grant = await redeem(http, wall)
    store = KeptTokens(replace(grant.tokens, expires_at=wall.now()))
    await source(http, store, wall).access_token()
    assert [tokens.granted_at for tokens in store.saved] == [grant.tokens.granted_at]


@pytest.mark.parametrize(
    ("off_by", "words"), [(3 * HOUR_MS, "3 hours behind"), (-2 * DAY_MS, "2 days ahead"), (6 * MINUTE_MS, "6 minutes")]
)
async def test_a_renewal_refused_at_a_wrong_time_is_the_clocks_fault(
    off_by: Millis, words: str, wall: VirtualClock
) -> None:
    said = answer({"error": "invalid_grant"}, status=400, date=http_date(wall.now() + off_by))
    fault = await refused(kept(wall, expires_in_s=0), said, wall)
    assert (type(fault), fault.trouble) == (GrantLost, "clock")
    assert words in fault.detail


@pytest.mark.parametrize("date", ["", "yesterday", "Thu, 99 Foo 2026 25:00:00 GMT"])
async def test_a_date_that_says_nothing_accuses_nobody(date: str, wall: VirtualClock) -> None:
    said = answer({"error": "invalid_grant"}, status=400, date=date)
    assert (await refused(kept(wall, expires_in_s=0), said, wall)).trouble == "revoked"


async def test_a_right_clock_is_not_accused(wall: VirtualClock) -> None:
    said = answer({"error": "invalid_grant"}, status=400, date=http_date(wall.now() + 4 * MINUTE_MS))
    assert (await refused(kept(wall, expires_in_s=0), said, wall)).trouble == "revoked"


@pytest.mark.parametrize("reason", ["certificate is not yet valid", "certificate has expired"])
async def test_a_certificate_out_of_its_dates_points_to_the_clock(reason: str, wall: VirtualClock) -> None:
    broken = EgressFault("tls", f"POST https://token.example: {reason}", may_have_happened=False)
    fault = await refused(kept(wall, expires_in_s=0), broken, wall)
    assert (type(fault), fault.trouble) == (Unreachable, "clock")


async def test_a_sign_in_that_lies_in_the_future_says_that_the_clock_is_behind(wall: VirtualClock) -> None:
    later = (wall.now() + HOUR_MS) / SECOND_MS
    with pytest.raises(GrantRefused, match="clock") as caught:
        await redeem(ScriptedHttp(answers=[token_answer(id_token=claims(wall, iat=later))]), wall)
    assert caught.value.cause == "clock-wrong"


@pytest.mark.parametrize(
    ("said", "fault", "trouble"),
    [
        (google_error(401), GrantLost, "revoked"),
        (google_error(403, reason="insufficientPermissions"), GrantLost, "scope"),
        (google_error(403, reason="accessNotConfigured"), Unreachable, "api-off"),
        (google_error(500), Unreachable, None),
    ],
)
async def test_the_mailboxs_own_refusals_have_names_too(
    said: Answer, fault: type[ProviderFault], trouble: str | None, wall: VirtualClock
) -> None:
    assert not isinstance(said, EgressFault)
    found = fault_of(said, writes=False, not_found=None, now=wall.now())
    assert (type(found), found.trouble) == (fault, trouble)
