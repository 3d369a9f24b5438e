"""An address may contain a secret: none is logged, wherever it stands in the address."""

from __future__ import annotations

import pytest

from tests.identity.people import sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, Service
from tests.surface.every_row import ROUTES

SECRETS = ["q9V-2kHc3Jx8sLw0TzYbN5mRd7fGpU1aEoKi4WjXvQ6", "7KQ2M-XW4RT", "7kq2mxw4rt", "sdt_q9V-2kHc3Jx8"]
PLACES = [
    "/login?invite={}",
    "/login?claim={}",
    "/login/{}",
    "/login%3Finvite={}",
    "/invite/{}",
    "/{}",
    "/pair/claim?code={}",
    "/pair/claim/{}",
    "/pair/{}",
    "/auth/idp/callback?state={0}&code={0}",
    "/auth/idp/callback/{}",
    "/auth/idp/start?invite={}",
    "/oauth/mail/callback?state={0}&code={0}",
    "/oauth/mail/landing?state={0}&code={0}",
    "/oauth/mcp/callback?state={0}&code={0}",
    "/ws?ticket={}",
    "/ws/{}",
    "/trpc/{}",
    "/trpc/auth.{}",
    "/trpc/auth.sessions,{}?batch=1",
    "/trpc/auth.sessions/{}",
    "/p/{}",
    "/p/mail?invite={}",
    "/settings/{}",
    "/static/{}",
    "/files/{}/content",
    "/blobs/{}",
    "/?{}",
    "/?x={}#y",
    "*{}",
]


@pytest.mark.thorough
async def test_no_secret_in_an_address_is_logged(service: Service, log: RecordedLog) -> None:
    await sign_in(service, MIA)
    for place in PLACES:
        begun = len(log.text)
        for secret in SECRETS:
            for method in ("GET", "POST", "OPTIONS"):
                host = "evil.example" if method == "OPTIONS" else "localhost"
                reply = await service.ask(method, place.format(secret), host=host)
                assert reply.status != 429, f"{place} was not looked at"
            await service.socket(place.format(secret))
        written = log.text[begun:]
        assert "http.request" in written, place
        assert not [secret for secret in SECRETS if secret in written], place
    assert not [secret for secret in SECRETS if secret in log.text]


async def test_the_log_shows_which_row_answered_and_which_procedures(service: Service, log: RecordedLog) -> None:
    for target in ("/trpc/auth.sessions,mail.accounts?batch=1", "/files/fil_x/content", "/auth/none"):
        await service.get(target)
    found = [line["path"] for line in log.records if line["event"] == "http.request"]
    assert found[-3:] == ["/trpc/auth.sessions,mail.accounts?…", "/files/:id/content", "/auth/…"]


async def test_every_route_is_logged_by_the_words_of_its_own_row(service: Service, log: RecordedLog) -> None:
    for name in ROUTES:
        method, _, path = name.partition(" ")
        await service.ask(method, path.replace(":", "canary").replace("*", "canary"))
    assert "canary" not in log.text
