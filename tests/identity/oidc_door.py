"""The door of the whole service in front of a scripted identity provider, and a browser there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from svc.clock import VirtualClock
from tests.identity.people import Person
from tests.identity.scripted_provider import CLIENT_ID, CLIENT_SECRET, ISSUER, ScriptedProvider
from tests.recorded_log import RecordedLog
from tests.support.http import Reply
from tests.support.service import HOST, Service, open_service

NOT_ADMITTED = "not-admitted"
MIA = {"sub": "sub-1", "email": "mia@example.org", "name": "Mia"}
NOA = {"sub": "sub-2", "email": "noa@example.org", "name": "Noa"}


@asynccontextmanager
async def open_door(
    directory: Path, wall: VirtualClock, log: RecordedLog, idp: ScriptedProvider, **settings: str
) -> AsyncIterator[Service]:
    wanted = {
        "IDP_CLIENT_ID": CLIENT_ID,
        "IDP_CLIENT_SECRET": CLIENT_SECRET,
        "SVC_IDP_ISSUER": ISSUER,
        "SVC_AUTH_RATE_LIMIT": "1000",
        **settings,
    }
    async with open_service(directory, clock=wall, log=log, egress=idp, environ=wanted) as opened:
        yield opened


@dataclass
class Browser:
    """A browser with its cookies: each goes back to the paths it was set for, and ends when it is told to."""

    service: Service
    idp: ScriptedProvider
    host: str = HOST
    jar: dict[str, tuple[str, str]] = field(default_factory=dict)

    async def get(self, target: str) -> Reply:
        path = target.partition("?")[0]
        sent = "; ".join(f"{name}={value}" for name, (value, under) in self.jar.items() if path.startswith(under))
        fields = {"user-agent": "Mosaic/1.0", **({"cookie": sent} if sent else {})}
        reply = await self.service.ask("GET", target, host=self.host, fields=fields)
        for header in (value for name, value in reply.headers if name == "set-cookie"):
            pair, *attributes = header.split("; ")
            name, _, value = pair.partition("=")
            under = next(one.removeprefix("Path=") for one in attributes if one.startswith("Path="))
            if "Max-Age=0" in attributes:
                self.jar.pop(name, None)
            else:
                self.jar[name] = (value, under)
        return reply

    async def start(self, query: str = "") -> str:
        """Knock; the screen at the provider."""
        reply = await self.get(f"/auth/idp/start{query}")
        assert reply.status == 302, reply.body
        location = reply.header("location")
        assert location
        assert location.startswith(f"{ISSUER}/auth?"), location
        return location

    async def sign_in(self, query: str = "", /, **claims: object) -> Reply:
        """The whole sign-in of a person with these ``claims``."""
        self.idp.claims = claims
        return await self.get(self.idp.consent(await self.start(query)))

    @property
    def person(self) -> Person:
        return Person(self.service, {"cookie": f"svc_session={self.jar['svc_session'][0]}"})


def place(reply: Reply) -> str:
    assert reply.status == 302, reply.body
    return reply.header("location") or ""


def reason(reply: Reply) -> str:
    """Why the person is back at the login page, without a session."""
    assert place(reply).startswith("/login?"), place(reply)
    assert not [value for name, value in reply.headers if name == "set-cookie" and value.startswith("svc_session")]
    (code,) = parse_qs(urlsplit(place(reply)).query)["error"]
    return code


async def people(service: Service) -> list[tuple[str, str]]:
    return [
        (email, role) for email, role in await service.rows("select email, role from users order by created_at, id")
    ]


async def invite(owner: Browser, **wanted: object) -> str:
    created = await owner.person.mutate("auth.createInvite", **wanted)
    return str(created["code"])
