"""What is set up wrongly at Microsoft is named by ``svc doctor``, with what to do about it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.mail.outlook.conftest import ADDRESS, OutlookService
from tests.mail.outlook.test_connecting import LANDING
from tests.mail.scripted_http import answer
from tests.support.service import ORIGIN


async def findings(outlook_service: OutlookService, check: str) -> list[dict[str, Any]]:
    rows = (await outlook_service.service.mutate("health.check"))["checks"]
    assert "canary" not in json.dumps(rows)
    return [row for row in rows if row["name"] == check]


async def test_where_all_is_well_nothing_is_complained_of(outlook_service: OutlookService) -> None:
    await outlook_service.connect()
    (consent,) = await findings(outlook_service, "mail-consent")
    assert (consent["state"], consent["detail"]) == ("ok", f"The consent screen knows the client and {LANDING}")
    (credential,) = await findings(outlook_service, "credentials")
    assert (credential["state"], credential["detail"]) == (
        "ok",
        "Microsoft mail (OAuth client): Microsoft has nothing against this client.",
    )


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize(
    ("code", "cause", "remedy"),
    [
        (
            "50011",
            "does not know this server's redirect URI",
            "add it exactly, under Authentication, for the platform Web",
        ),
        ("700016", "does not know the client id in this directory", "Copy the Application (client) ID again"),
        ("90002", "the directory that is set does not exist", "Set the Directory (tenant) ID"),
        ("650053", "may not ask for IMAP.AccessAsUser.All", "add both under API permissions"),
    ],
)
async def test_what_the_consent_screen_says_is_named(
    outlook_service: OutlookService, code: str, cause: str, remedy: str, status: int
) -> None:
    page = f'<script>$Config={{"strServiceExceptionMessage":"AADSTS{code}: The canary"}}</script>'
    outlook_service.microsoft.page = answer(page.encode(), status=status)
    (found,) = await findings(outlook_service, "mail-consent")
    assert found["state"] == "failed"
    assert cause in found["detail"]
    assert LANDING in found["detail"]
    assert remedy in found["remedy"]


@pytest.mark.parametrize(
    ("code", "error", "cause", "remedy"),
    [
        ("7000215", "invalid_client", "The client secret is wrong", "the secret's Value"),
        ("7000222", "invalid_client", "The client secret has expired", "make a new one under Certificates & secrets"),
        ("7000218", "invalid_client", "wants a client secret", "make one under Certificates & secrets"),
        ("700016", "unauthorized_client", "does not know the client id", "Copy the Application (client) ID again"),
        ("50194", "invalid_request", "for one organisation alone", "Set the Directory (tenant) ID"),
    ],
)
async def test_what_the_token_endpoint_says_is_named(
    outlook_service: OutlookService, code: str, error: str, cause: str, remedy: str
) -> None:
    outlook_service.microsoft.refusal = (code, error)
    (found,) = await findings(outlook_service, "credentials")
    assert found["state"] == "failed"
    assert cause in found["detail"]
    assert remedy in found["remedy"]


@pytest.mark.parametrize("code", ["65001", "90094"])
async def test_that_an_administrator_has_to_consent_is_known_from_who_tried(
    outlook_service: OutlookService, code: str
) -> None:
    query, cookie = await outlook_service.begin()
    told = f"error=access_denied&error_description=AADSTS{code}%3A+canary"
    await outlook_service.back(f"{ORIGIN}/oauth/mail/callback?state={query['state']}&{told}", cookie)
    _, found = await findings(outlook_service, "mail-consent")
    assert found["state"] == "failed"
    assert "An administrator of the organisation has to consent first" in found["detail"]
    assert "Grant admin consent" in found["remedy"]
    await outlook_service.connect(email=ADDRESS)
    assert [row["state"] for row in await findings(outlook_service, "mail-consent")] == ["ok"]


async def test_the_test_button_asks_the_same(outlook_service: OutlookService) -> None:
    tested = await outlook_service.service.mutate("capabilities.test", name="microsoft.oauth")
    assert tested["ok"] is True
    outlook_service.microsoft.cut = True
    tested = await outlook_service.service.mutate("capabilities.test", name="microsoft.oauth")
    assert tested["ok"] is False
    assert "can't be reached" in tested["message"]
