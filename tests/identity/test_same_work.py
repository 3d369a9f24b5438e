"""Foreign and missing things are refused by the same statements, so that timing can't tell them apart.

The words of the refusals are compared in ``tests/surface/test_every_resource.py``, their times by
``python -m benchmarks refusals``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

import pytest
import trio

from svc.clock import DAY_MS, VirtualClock
from svc.store import ReadTx, Tx
from tests.files.uploads import uploaded
from tests.identity.people import Person, sign_in
from tests.support.http import Reply
from tests.support.service import MIA, Service

SECRET = b"what only Mia has"
Ask = tuple[str, str, object]
AT_REST_S = 100.3
"""Whatever the service does by itself is done by then, and nothing of it falls due at that moment."""


@dataclass
class Ran:
    """The statements that were executed, as they are written."""

    statements: list[str]

    async def by(self, person: Person, ask: Ask) -> tuple[list[str], Reply]:
        await trio.sleep(AT_REST_S)
        del self.statements[:]
        reply = await person.ask(*ask)
        return list(self.statements), reply


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Ran:
    heard = Ran([])

    def noting(execute: Callable[..., object]) -> Callable[..., object]:
        def execute_and_note(tx: ReadTx, sql: str, params: object) -> object:
            heard.statements.append(" ".join(sql.split()))
            return execute(tx, sql, params)

        return execute_and_note

    for kind in (ReadTx, Tx):
        monkeypatch.setattr(kind, "_execute", noting(kind._execute))
    return heard


@pytest.fixture
async def mia(service: Service) -> Person:
    return await sign_in(service, MIA)


@pytest.fixture
async def noa(service: Service, mia: Person) -> Person:
    """A member to whom nothing of Mia's is shown."""
    return await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])


def query(procedure: str, **wanted: object) -> Ask:
    return "GET", f"/trpc/{procedure}?input={quote(json.dumps(wanted))}", None


def content(file_id: str) -> Ask:
    return "GET", f"/files/{file_id}/content", None


def blob(sha256: str) -> Ask:
    return "GET", f"/blobs/{sha256}", None


def sign_in_with(invite: str) -> Ask:
    return "POST", "/auth/dev-login", {"email": "eve@example.org", "invite": invite}


def pair_with(code: str) -> Ask:
    return "POST", "/pair/claim", {"code": code, "name": "Phone"}


async def check_same(ran: Ran, person: Person, foreign: Ask, missing: Ask) -> None:
    """Refused alike, in words and in work."""
    await person.ask(*missing)  # from now on it is known who asks
    work, refusal = await ran.by(person, foreign)
    work_for_nothing, never_was = await ran.by(person, missing)
    assert refusal.status in {403, 404}
    assert (refusal.status, refusal.body) == (never_was.status, never_was.body)
    assert work == work_for_nothing != []


@pytest.mark.parametrize("place", ["nowhere else", "on a page", "on many pages"])
async def test_for_a_file_and_its_blob(service: Service, mia: Person, noa: Person, ran: Ran, place: str) -> None:
    files = [await uploaded(mia, SECRET) for _ in range(5 if place == "on many pages" else 1)]
    for number, file in enumerate(files if place != "nowhere else" else []):
        await mia.mutate("pages.save", path=f"notes-{number}", body=f"![it](/files/{file['id']}/content)")
    await check_same(ran, noa, content(str(files[0]["id"])), content("fil_none"))
    await check_same(ran, noa, blob(hashlib.sha256(SECRET).hexdigest()), blob("0" * 64))


async def test_for_a_page(mia: Person, noa: Person, ran: Ran) -> None:
    await mia.mutate("pages.save", path="notes/plan", body="[[elsewhere]]")
    for procedure in ("pages.get", "pages.history", "pages.tree"):
        await check_same(ran, noa, query(procedure, path="notes/plan"), query(procedure, path="notes/none"))


async def test_for_a_thread(service: Service, ran: Ran) -> None:
    (thread,) = await service.synced("Hello")
    mia = await sign_in(service, MIA)
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    await check_same(ran, noa, query("mail.thread", id=thread), query("mail.thread", id="thr_none"))


@pytest.mark.parametrize("was", ["used", "revoked", "late", "for another address"])
async def test_for_an_invite(service: Service, mia: Person, ran: Ran, wall: VirtualClock, was: str) -> None:
    email = {"email": "ida@example.org"} if was == "for another address" else {}
    code = (await mia.mutate("auth.createInvite", expiresInDays=1, **email))["code"]
    if was == "used":
        await sign_in(service, "noa@example.org", invite=code)
    elif was == "revoked":
        ((invite,),) = await service.rows("select id from invites")
        await mia.mutate("auth.revokeInvite", id=invite)
    elif was == "late":
        wall.offset_ms += DAY_MS
    await check_same(ran, Person(service), sign_in_with(code), sign_in_with("A" * len(code)))


@pytest.mark.parametrize("was", ["used", "late"])
async def test_for_a_pairing_code(service: Service, mia: Person, ran: Ran, wall: VirtualClock, was: str) -> None:
    code = (await mia.mutate("devices.createPairingCode"))["code"]
    if was == "used":
        assert (await Person(service).ask(*pair_with(code))).status == 200
    else:
        wall.offset_ms += DAY_MS
    await check_same(ran, Person(service), pair_with(code), pair_with("AAAA-AAAA"))
