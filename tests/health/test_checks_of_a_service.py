"""The checks of a running service: each fault outside is staged, and named with what to do, wherever somebody asks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Final

import pytest
import trio

from svc.clock import DAY_MS, HOUR_MS, SECOND_MS, VirtualClock, WallClock
from svc.health import CHECK_PATH
from svc.job import Job
from svc.protocol.egress import EgressFault
from svc.scheduler import Scheduler
from svc.store import damage
from svc.workspace import Workspace
from tests.health.outside import CLIENT_ID, DOCUMENT, MAIL_API, MODELS, Outside, refused_by_google
from tests.mail.scripted_google import ISSUER
from tests.mail.scripted_http import answer, google_error
from tests.mail.test_connection import begin, connected_to
from tests.recorded_log import RecordedLog
from tests.support.process import ServiceProcess
from tests.support.service import ORIGIN, Service, open_service

Rows = list[dict[str, str]]


@dataclass(kw_only=True)
class CheckedService:
    service: Service
    outside: Outside
    wall: VirtualClock

    async def connected(self) -> None:
        """A mailbox, in step."""
        await (await begin(self.service, self.outside)).consented()
        await trio.sleep(60)

    async def rows(self) -> Rows:
        found: Rows = (await self.service.mutate("health.check"))["checks"]
        return found


Arrange = Callable[[CheckedService], Awaitable[None]]


@pytest.fixture
def wall() -> VirtualClock:
    """Later than this machine's own clock, which dates the files of the home: else they would be from the future."""
    return VirtualClock(epoch_ms=WallClock().now() + HOUR_MS)


@asynccontextmanager
async def checked_service(
    directory: Path, wall: VirtualClock, log: RecordedLog, **settings: str
) -> AsyncIterator[CheckedService]:
    outside = Outside()
    settings = {"IDP_CLIENT_ID": CLIENT_ID, **settings}
    async with connected_to(outside, directory, wall, log, **settings) as service:
        yield CheckedService(service=service, outside=outside, wall=wall)


@pytest.fixture
async def checked(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[CheckedService]:
    async with checked_service(tmp_path, wall, log, LLM_A_API_KEY="canary-key") as opened:
        opened.outside.says[MODELS] = answer({"data": []})
        yield opened


async def test_where_all_is_well_nothing_is_complained_of(checked: CheckedService) -> None:
    await checked.connected()
    rows = await checked.rows()
    assert {row["name"]: row["state"] for row in rows if row["state"] not in {"ok", "skipped"}} == {}
    assert {"provider", "sign-in", "mail-provider", "mail-consent", "accounts", "credentials", "jobs", "engine"} <= {
        row["name"] for row in rows if row["state"] == "ok"
    }
    assert all(row["summary"] and row["detail"] for row in rows)


# What is staged


def consent_says(said: object) -> Arrange:
    async def arrange(checked: CheckedService) -> None:
        checked.outside.consent = said  # type: ignore[assignment]

    return arrange


def says(url: str, said: object) -> Arrange:
    async def arrange(checked: CheckedService) -> None:
        checked.outside.says[url] = said  # type: ignore[assignment]

    return arrange


def no_tokens(error: str, status: int = 400) -> Arrange:
    async def arrange(checked: CheckedService) -> None:
        checked.outside.refusal = answer({"error": error}, status=status)

    return arrange


def unreached(kind: str, why: str) -> EgressFault:
    return EgressFault(kind, f"GET {ISSUER}: {why}", may_have_happened=False)  # type: ignore[arg-type]


async def seven_days_of_testing(checked: CheckedService) -> None:
    await checked.connected()
    checked.wall.offset_ms = 7 * DAY_MS - HOUR_MS
    await trio.sleep(60)
    checked.outside.refusal = answer({"error": "invalid_grant"}, status=400)
    checked.wall.offset_ms += 2 * HOUR_MS
    await trio.sleep(60)


def mailbox_says(reason: str) -> Arrange:
    async def arrange(checked: CheckedService) -> None:
        await checked.connected()
        checked.outside.trouble = google_error(403, reason=reason)
        await trio.sleep(40)

    return arrange


async def revoked(checked: CheckedService) -> None:
    await checked.connected()
    checked.outside.refusal = answer({"error": "invalid_grant"}, status=400)
    checked.wall.offset_ms = 2 * HOUR_MS
    await trio.sleep(40)


async def mail_provider_is_broken(checked: CheckedService) -> None:
    await checked.connected()
    checked.outside.says[MAIL_API] = answer(b"", status=503)


async def clock_is_ahead(checked: CheckedService) -> None:
    date = formatdate((checked.wall.now() - 3 * HOUR_MS) / SECOND_MS, usegmt=True)
    checked.outside.says[DOCUMENT] = answer({"issuer": ISSUER}, date=date)


async def a_blob_is_damaged(checked: CheckedService) -> None:
    await checked.service.workspace.store.write(damage.record, {"ab" * 32: "missing"})


@dataclass(frozen=True, kw_only=True)
class Fault:
    arrange: Arrange
    check: str
    cause: str
    remedy: str
    state: str = "failed"


_CALLBACK: Final = f"{ORIGIN}/auth/idp/callback"
_MAIL_CALLBACK: Final = f"{ORIGIN}/oauth/mail/callback"
_POLICY: Final = "You can't sign in to this app because it doesn't comply with Google's OAuth 2.0 policy."

FAULTS: Final = {
    "Google does not know the redirect URI": Fault(
        arrange=consent_says(refused_by_google("redirect_uri_mismatch", _POLICY)),
        check="sign-in",
        cause=f"does not know the redirect URI {_CALLBACK} (redirect_uri_mismatch)",
        remedy=f"Add exactly {_CALLBACK} to the authorized redirect URIs",
    ),
    "Google does not know the redirect URI of mail": Fault(
        arrange=consent_says(refused_by_google("redirect_uri_mismatch", _POLICY)),
        check="mail-consent",
        cause=f"does not know the redirect URI {_MAIL_CALLBACK} (redirect_uri_mismatch)",
        remedy=f"Add exactly {_MAIL_CALLBACK} to the authorized redirect URIs",
    ),
    "another provider does not know the redirect URI": Fault(
        arrange=consent_says(answer(b"<p>Invalid parameter: <b>redirect_uri</b></p>", status=400)),
        check="sign-in",
        cause="redirect_uri_mismatch",
        remedy=_CALLBACK,
    ),
    "the client is unknown": Fault(
        arrange=consent_says(refused_by_google("invalid_client", "The OAuth client was not found.")),
        check="sign-in",
        cause="does not know the OAuth client (invalid_client)",
        remedy="Copy the client id from the provider's console again",
    ),
    "the client was deleted": Fault(
        arrange=consent_says(refused_by_google("deleted_client", "The OAuth client was deleted.")),
        check="sign-in",
        cause="was deleted or disabled",
        remedy="Create a new OAuth client of the type Web application",
    ),
    "the client is of the wrong type": Fault(
        arrange=consent_says(answer(b"", status=302, location=f"{_CALLBACK}?error=unauthorized_client&state=x")),
        check="sign-in",
        cause="of the wrong type: it may not send people to a consent screen (unauthorized_client)",
        remedy="Create an OAuth client of the type Web application",
    ),
    "the app is its organisation's own": Fault(
        arrange=consent_says(
            refused_by_google("org_internal", "This client is restricted to users within its organization.")
        ),
        check="sign-in",
        cause="The OAuth app is internal",
        remedy="make it external",
        state="warning",
    ),
    "the consent screen has a reason of its own": Fault(
        arrange=consent_says(refused_by_google("invalid_request", "device_id and device_name are required")),
        check="sign-in",
        cause="refuses the request for",
        remedy="Compare the OAuth client at the provider with this server",
    ),
    "the secret of the client is wrong": Fault(
        arrange=no_tokens("invalid_client", 401),
        check="credentials",
        cause="does not accept this server's client id or secret (invalid_client)",
        remedy="Copy both again from the provider's console, and set its id and secret under Settings > Credentials",
    ),
    "the token endpoint takes no client of that type": Fault(
        arrange=no_tokens("unauthorized_client"),
        check="credentials",
        cause="OAuth client is of the wrong type",
        remedy="of the type Web application",
    ),
    "the token endpoint does not know the redirect URI": Fault(
        arrange=no_tokens("redirect_uri_mismatch"),
        check="credentials",
        cause="does not know the redirect URI of this server",
        remedy="/oauth/mail/callback and with /auth/idp/callback, to the authorized redirect URIs",
    ),
    "a model vendor does not take the key": Fault(
        arrange=says(MODELS, answer({"error": {"message": "invalid x-api-key canary-key"}}, status=401)),
        check="credentials",
        cause="Model vendor A (Anthropic): The service answered 401: invalid x-api-key ********",
        remedy="Where to get it: console.anthropic.com",
    ),
    "the certificate of the provider is not trusted": Fault(
        arrange=says(DOCUMENT, unreached("tls", "self-signed certificate")),
        check="provider",
        cause="can't be reached: GET https://accounts.google.com: self-signed certificate",
        remedy="Check the clock of this machine, and whether something in between",
    ),
    "the provider does not answer in time": Fault(
        arrange=says(DOCUMENT, unreached("timeout", "no whole answer within 15 s")),
        check="provider",
        cause="no whole answer within 15 s",
        remedy="Check the network of this machine",
    ),
    "the provider has trouble of its own": Fault(
        arrange=says(DOCUMENT, answer(b"", status=503)),
        check="provider",
        cause="has trouble of its own (status 503)",
        remedy="goes on by itself once it works again",
    ),
    "somebody answers in the provider's place": Fault(
        arrange=says(DOCUMENT, answer(b"<html>Hotel WiFi</html>")),
        check="provider",
        cause="does not answer as an OpenID provider",
        remedy="look who answers in its place",
    ),
    "the clock is hours ahead": Fault(
        arrange=clock_is_ahead,
        check="clock",
        cause="The clock of this machine is 3 hours ahead",
        remedy="timedatectl set-ntp true",
    ),
    "the mail provider is broken": Fault(
        arrange=mail_provider_is_broken,
        check="mail-provider",
        cause="The mail provider has trouble of its own (status 503)",
        remedy="goes on by itself",
    ),
    "the API is disabled": Fault(
        arrange=mailbox_says("accessNotConfigured"),
        check="accounts",
        cause="API is switched off in the Google Cloud project",
        remedy="Enable the API in the project of the OAuth client",
    ),
    "the service is disabled, in Google's new manner": Fault(
        arrange=mailbox_says("SERVICE_DISABLED"),
        check="accounts",
        cause="API is switched off in the Google Cloud project",
        remedy="Enable the API in the project of the OAuth client",
    ),
    "a testing grant is over": Fault(
        arrange=seven_days_of_testing,
        check="accounts",
        cause="mia@example.org: Access ended seven days after it was granted",
        remedy="Publish the OAuth app at the provider's console, so that access does not end after 7 days",
    ),
    "a box was left unticked": Fault(
        arrange=mailbox_says("insufficientPermissions"),
        check="accounts",
        cause="Access to the mailbox was not granted",
        remedy="leave every box ticked",
    ),
    "access was revoked": Fault(
        arrange=revoked,
        check="accounts",
        cause="it was revoked, or the password was changed",
        remedy="Connect the account again, under Settings > Accounts",
    ),
    "stored content is known to be damaged": Fault(
        arrange=a_blob_is_damaged, check="blobs", cause="1 damaged", remedy="svc fsck --deep", state="warning"
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
async def test_a_fault_is_named_with_what_to_do(checked: CheckedService, fault: Fault) -> None:
    await fault.arrange(checked)
    rows = await checked.rows()
    found = [row for row in rows if (row["name"], row["state"]) == (fault.check, fault.state)]
    assert [row for row in found if fault.cause in row["detail"] and fault.remedy in row["remedy"]], rows
    assert "canary" not in json.dumps(rows)


async def test_an_id_that_is_no_oauth_clients_is_the_wrong_type(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with checked_service(tmp_path, wall, log, IDP_CLIENT_ID="104857600000000000000") as checked:
        (found,) = [row for row in await checked.rows() if row["name"] == "sign-in"]
    assert found["state"] == "failed"
    assert "A service account is of the wrong type" in found["detail"].replace("An API key or a", "A")
    assert "of the type Web application" in found["remedy"]


async def test_a_job_that_fails_is_named(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async def fail(workspace: Workspace) -> None:
        raise RuntimeError("it broke")

    def add(workspace: Workspace) -> None:
        workspace.service(Scheduler).add(Job(name="breaking", summary="Breaks.", run=fail))

    async with open_service(tmp_path, clock=wall, log=log, before=add, PROVIDERS="fake") as service:
        await trio.sleep(1)
        rows = (await service.mutate("health.check"))["checks"]
    (found,) = [row for row in rows if row["name"] == "jobs"]
    assert (found["state"], "breaking" in found["detail"], "it broke" in found["detail"]) == ("warning", True, True)


# Under the fakes nobody outside is asked


async def test_the_fakes_stand_in_for_every_service_outside(service: Service) -> None:
    rows = {row["name"]: row for row in (await service.mutate("health.check"))["checks"]}
    for name in ("provider", "sign-in", "credentials", "mail-provider", "mail-consent"):
        assert rows[name]["state"] == "skipped"
        assert "Fakes stand in" in rows[name]["detail"]


# The same, whoever asks


async def test_readyz_settings_and_doctor_tell_of_the_same_rows(service: Service) -> None:
    await service.workspace.store.write(damage.record, {"ab" * 32: "missing"})
    told = await service.mutate("health.check")
    token = (service.workspace.home.path / "run" / "internal.token").read_text()
    fields = {"authorization": f"Bearer {token}"}
    asked = await service.ask("POST", CHECK_PATH, host="127.0.0.1:4780", fields=fields, listener=service.internal)
    assert [(row["name"], row["state"]) for row in asked.json["checks"]] == [
        (row["name"], row["state"]) for row in told["checks"]
    ]
    ready = (await service.get("/readyz")).json["checks"]
    rows = {row["name"]: row for row in told["checks"]}
    assert set(ready) <= set(rows)
    assert ready["blobs"].startswith("1 damaged, ")
    assert "1 damaged, " in rows["blobs"]["detail"]
    assert rows["blobs"]["state"] == "warning"


async def test_nobody_but_an_admin_and_this_machine_gets_the_reasons(service: Service) -> None:
    assert (await service.ask("POST", CHECK_PATH)).status == 404
    nobody = await service.ask("POST", CHECK_PATH, host="127.0.0.1:4780", listener=service.internal)
    assert nobody.status == 401


@pytest.mark.thorough
def test_a_running_service_is_asked(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path) as process:
        process.start(PROVIDERS="fake")
        done = process.command("doctor", "--json")
        verdict = json.loads(done.stdout)
        assert (done.returncode, verdict["ok"], verdict["running"]) == (0, True, True), done.stdout
        rows = {row["name"]: row for row in verdict["checks"]}
        assert rows["service"]["detail"] == f"The service runs, as process {process.pid}"
        assert rows["ports"]["detail"] == f"It is served at http://127.0.0.1:{process.port}"
        (tmp_path / "config" / "svc" / "keys").chmod(0o700)
        (key,) = (tmp_path / "config" / "svc" / "keys").iterdir()
        key.chmod(0o644)
        done = process.command("doctor")
        assert done.returncode == 1
        assert f"-> Run: chmod 600 {key}" in done.stdout
        assert done.stdout.splitlines()[-1].endswith("The running service was asked.")
        (tmp_path / "home" / "run" / "internal.token").write_text("another")
        done = process.command("doctor", "--json")
        verdict = json.loads(done.stdout)
        (found,) = [row for row in verdict["checks"] if row["name"] == "service"]
        assert (verdict["running"], found["state"]) == (False, "failed")
        assert f"Process {process.pid} holds the home, and has another internal token" in found["detail"]
        assert "Set SVC_INTERNAL_TOKEN here as it has it" in found["remedy"]
