"""Whether time tells what belongs to somebody else from what never was: the same refusal, timed for both.

In process, without sockets, which is the best that a stranger could ever see. Foreign and missing are asked in pairs,
in random order, so that whatever else the machine does in that moment it does to both. Each kind has as many foreign
things as missing ones. ``missing beside missing`` is the same measurement where there is nothing to tell.
"""

from __future__ import annotations

import gc
import hashlib
import json
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import erfc, sqrt
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import quote

import trio

from benchmarks.big_home import open_workspace
from benchmarks.report import Table, count, median, milliseconds, paired_ratio
from svc.ids import new_id
from svc.mail.accounts import actions as account_actions
from svc.nursery import open_task_group
from svc.principal import Principal
from svc.protocol import Application, Headers, Request, Response
from svc.protocol.messages import BytesBody
from svc.store import Tx
from svc.surface import Surface
from svc.workspace import RequestContext, Workspace

PAIRS: Final = 4_000
QUICK_PAIRS: Final = 2_000
THINGS: Final = 20
WARM_UP: Final = 100
REFUSED: Final = (403, 404)
HOST: Final = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What one request asks for. ``cookie`` is empty for a stranger."""

    target: str
    cookie: str = ""
    body: bytes | None = None

    def request(self, number: int) -> Request:
        """Each from another address: the limiter is not what is measured."""
        fields = [("host", HOST), ("accept", "*/*")]
        fields += [("cookie", self.cookie)] if self.cookie else []
        fields += [("content-type", "application/json")] if self.body is not None else []
        return Request(
            method="GET" if self.body is None else "POST",
            target=self.target,
            headers=Headers(fields),
            body=BytesBody(self.body or b""),
            peer=f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}",
        )


@dataclass(frozen=True, kw_only=True)
class Kind:
    name: str
    foreign: Sequence[Ask]
    missing: Sequence[Ask]


def run(quick: bool) -> Iterable[Table]:
    pairs = QUICK_PAIRS if quick else PAIRS
    table = Table(
        title=f"Refused: somebody else's beside what never was, {count(pairs)} pairs each",
        columns=("what", "missing p50 ms", "x missing", "foreign slower", "by chance"),
    )
    with tempfile.TemporaryDirectory() as directory:
        for name, foreign, missing in trio.run(_measure, Path(directory), pairs):
            slower = sum(one > other for one, other in zip(foreign, missing, strict=True)) / pairs
            table.add(
                name,
                milliseconds(median(missing)),
                paired_ratio(foreign, missing),
                f"{slower:.1%}",
                f"{_by_chance(slower, pairs):.2f}",
            )
    table.notes.append(
        "x missing: the median of the pairs' own ratios; aim: 0.97 to 1.03, and foreign slower in 50% of pairs"
    )
    table.notes.append("by chance: how often random signs of the pairs' differences would be as uneven (sign test)")
    yield table


def _by_chance(share: float, pairs: int) -> float:
    return erfc(abs(share - 0.5) * 2 * sqrt(pairs) / sqrt(2))


async def _measure(directory: Path, pairs: int) -> list[tuple[str, list[float], list[float]]]:
    async with _furnished(directory) as (application, kinds):
        return [(kind.name, *await _timed(application, kind, pairs)) for kind in kinds]


async def _timed(application: Application[RequestContext], kind: Kind, pairs: int) -> tuple[list[float], list[float]]:
    """Seconds of each refusal, pair by pair."""
    rng = Random(7)
    foreign, missing = list[float](), list[float]()
    gc.collect()
    gc.disable()
    try:
        for number in range(pairs + WARM_UP):
            turns = [(foreign, rng.choice(kind.foreign)), (missing, rng.choice(kind.missing))]
            rng.shuffle(turns)
            for turn, (times, ask) in enumerate(turns):
                request = ask.request(number * 2 + turn)
                began = time.perf_counter()
                response = await application(request)
                times.append(time.perf_counter() - began)
                assert response.status in REFUSED, (kind.name, ask.target, response.status)
    finally:
        gc.enable()
    return foreign[WARM_UP:], missing[WARM_UP:]


@asynccontextmanager
async def _furnished(directory: Path) -> AsyncIterator[tuple[Application[RequestContext], list[Kind]]]:
    """Mia has things of every kind; Noa, a member, and a stranger ask for them."""
    async with open_workspace(directory / "home") as workspace, open_task_group() as nursery:
        started = trio.Event()
        nursery.start_soon(lambda: workspace.store.run_writer(started=started.set))
        await started.wait()
        visitor = Visitor(workspace.service(Surface).build_application())
        mia = await visitor.signed_in("mia@example.org")
        invite = await visitor.called(mia, "auth.createInvite")
        noa = await visitor.signed_in("noa@example.org", invite=invite["code"])
        kinds = [
            *await _files(visitor, mia, noa),
            await _pages(visitor, mia, noa),
            await _threads(workspace, visitor, mia, noa),
            await _invites(visitor, mia),
            await _pairing_codes(visitor, mia),
        ]
        nothing = kinds[0].missing
        yield visitor.application, [*kinds, Kind(name="missing beside missing", foreign=nothing, missing=nothing)]
        nursery.cancel_scope.cancel()


@dataclass(frozen=True)
class Visitor:
    """Does what a browser would."""

    application: Application[RequestContext]

    async def asked(self, ask: Ask, *, number: int = 0) -> Response:
        response = await self.application(ask.request(number))
        assert response.status in (200, 201), (ask.target, response.body)
        return response

    async def signed_in(self, email: str, **more: str) -> str:
        body = json.dumps({"email": email, **more}).encode()
        response = await self.asked(Ask(target="/auth/dev-login", body=body))
        return (response.header("set-cookie") or "").partition(";")[0]

    async def called(self, cookie: str, procedure: str, **wanted: object) -> Any:
        ask = Ask(target=f"/trpc/{procedure}", cookie=cookie, body=json.dumps(wanted).encode())
        return _json(await self.asked(ask))["result"].get("data")


async def _files(visitor: Visitor, mia: str, noa: str) -> list[Kind]:
    """Half of them are shown on a page of hers."""
    contents = [f"what only Mia has, {number}".encode() for number in range(THINGS)]
    ids = []
    for number, content in enumerate(contents):
        upload = Ask(target="/files", cookie=mia, body=content)
        ids.append(_json(await visitor.asked(upload))["id"])
        if number % 2:
            body = f"![it](/files/{ids[-1]}/content)"
            await visitor.called(mia, "pages.save", path=f"shown-{number}", body=body)
    never = [new_id("fil") for _ in ids]
    known = [hashlib.sha256(content).hexdigest() for content in contents]
    unknown = [hashlib.sha256(b"never " + content).hexdigest() for content in contents]
    return [
        _kind("GET /files/:id/content", noa, "/files/{}/content", ids, never),
        _kind("GET /blobs/:sha256", noa, "/blobs/{}", known, unknown),
    ]


async def _pages(visitor: Visitor, mia: str, noa: str) -> Kind:
    for number in range(THINGS):
        await visitor.called(mia, "pages.save", path=f"mias/page-{number}", body="What only Mia may read.")
    paths = [[json.dumps({"path": f"{top}/page-{number}"}) for number in range(THINGS)] for top in ("mias", "none")]
    return _kind("pages.get", noa, "/trpc/pages.get?input={}", *paths)


async def _threads(workspace: Workspace, visitor: Visitor, mia: str, noa: str) -> Kind:
    response = await visitor.asked(Ask(target="/auth/me", cookie=mia))
    owner = Principal(user_id=_json(response)["user"]["id"], device_id="dev_bench", is_admin=True, via="session")
    ids = [new_id("thr") for _ in range(THINGS)]
    await workspace.store.write(_add_threads, owner, ids)
    wanted = [[json.dumps({"id": one}) for one in these] for these in (ids, [new_id("thr") for _ in ids])]
    return _kind("mail.thread", noa, "/trpc/mail.thread?input={}", *wanted)


def _add_threads(tx: Tx, owner: Principal, ids: Sequence[str]) -> None:
    account_id = account_actions.connect(tx, owner, address="mia@example.org", provider="fake")
    for thread_id in ids:
        tx.run(
            """
            insert into mail_threads (id, account_id, provider_thread_id, subject, snippet, sender_name, sender_address,
                last_message_at, messages, in_inbox, unread, visible, labels)
            values (:id, :account_id, :id, 'The budget', 'What only Mia may read.', 'Ben', 'ben@example.org',
                :now, 1, 1, 0, 1, '["INBOX"]')
            """,
            id=thread_id,
            account_id=account_id,
            now=tx.now,
        )


async def _invites(visitor: Visitor, mia: str) -> Kind:
    """Foreign: good ones, for another address."""
    made = [await visitor.called(mia, "auth.createInvite", email="ida@example.org") for _ in range(THINGS)]
    codes = [one["code"] for one in made]
    wrong = [_alike(code) for code in codes]
    bodies = [[json.dumps({"email": "eve@example.org", "invite": code}) for code in these] for these in (codes, wrong)]
    return _posts("an invite, at sign-in", "/auth/dev-login", *bodies)


async def _pairing_codes(visitor: Visitor, mia: str) -> Kind:
    """Foreign: used ones. A good one would open."""
    codes = [(await visitor.called(mia, "devices.createPairingCode"))["code"] for _ in range(THINGS)]
    bodies = [[json.dumps({"code": code, "name": "Phone"}) for code in these] for these in (codes, map(_alike, codes))]
    for number, body in enumerate(bodies[0]):
        await visitor.asked(Ask(target="/pair/claim", body=body.encode()), number=number)
    return _posts("a pairing code, at /pair/claim", "/pair/claim", *bodies)


def _kind(name: str, cookie: str, target: str, foreign: Iterable[str], missing: Iterable[str]) -> Kind:
    asks = [[Ask(target=target.format(quote(one)), cookie=cookie) for one in these] for these in (foreign, missing)]
    return Kind(name=name, foreign=asks[0], missing=asks[1])


def _posts(name: str, target: str, foreign: Iterable[str], missing: Iterable[str]) -> Kind:
    asks = [[Ask(target=target, body=body.encode()) for body in these] for these in (foreign, missing)]
    return Kind(name=name, foreign=asks[0], missing=asks[1])


def _alike(code: str) -> str:
    """The same letters in another order, dashes where they were: as long, and a code of nobody's."""
    letters = [letter for letter in code if letter != "-"]
    turned = iter([*letters[1:], letters[0]])
    return "".join(letter if letter == "-" else next(turned) for letter in code)


def _json(response: Response) -> Any:
    assert isinstance(response.body, bytes)
    return json.loads(response.body)
