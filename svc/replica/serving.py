"""The server of a replica, over our own HTTP: ``svc replica serve`` runs it. It needs no home.

A client with the token may put and read blobs; a blob whose bytes do not match its name is refused. Nobody may list the
content. Any ``Host`` is accepted, because a machine at home may have any name. Browser pages are not: a request with an
``Origin`` is refused.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from typing import Final

import trio

from svc.clock import SECOND_MS, Clock, Millis
from svc.doors import Door, serve_port
from svc.errors import Forbidden, NotFound, Refusal
from svc.files import requested_range
from svc.log import Log
from svc.nursery import Child
from svc.principal import Principal, system
from svc.protocol import Application, Guard, Request, Response, Route, Router
from svc.replica.place import TOMBSTONE, Place, is_name
from svc.replica.target import repr_digest

MAX_CONNECTIONS: Final = 200
"""Connections to `svc replica serve`. Beyond: 503 `unavailable` with `Retry-After`."""
_SCHEME: Final = "bearer "


class AnyNameGuard(Guard):
    """Accepts any ``Host``, but no request from a browser page."""

    def __init__(self) -> None:
        super().__init__(bind_host="", port=0)

    def check_host(self, request: Request) -> None:
        if request.headers.all("origin") or request.headers.all("sec-fetch-site"):
            raise Forbidden("No page of a browser is served here.")


@dataclass(frozen=True, kw_only=True)
class ReplicaServer:
    """``token`` is the workspace's ``SVC_BLOB_REPLICA_TOKEN``; only its digest is kept."""

    place: Place
    digest: bytes
    log: Log
    clock: Clock

    async def run(self, child: Child, *, listeners: Sequence[trio.SocketListener]) -> None:
        child.started()
        door = Door(application=self.application(), slots=trio.Semaphore(MAX_CONNECTIONS))
        await serve_port(child, listeners, [door])

    def application(self) -> Application[Place]:
        return Application(
            router=Router(_ROUTES, ()),
            guard=AnyNameGuard(),
            resolve=self._resolve,
            context=lambda request, principal: self.place,
            log=self.log,
            clock=self.clock,
            logged_as="replica.request",
        )

    async def _resolve(self, request: Request) -> Principal | None:
        said = request.headers.all("authorization")
        if len(said) != 1 or not said[0].lower().startswith(_SCHEME):
            return None
        shown = digest_of(said[0][len(_SCHEME) :].strip())
        return system("replica") if hmac.compare_digest(shown, self.digest) else None


def digest_of(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


async def _get(place: Place, request: Request) -> Response:
    """A blob or a tombstone, also for ``HEAD``; one range. ``Want-Repr-Digest: sha-256`` has it hashed again."""
    name = _name(request)
    kept = await place.kept(name)
    if kept is None:
        raise NotFound
    etag = f'"{name}"'
    headers = [
        ("etag", etag),
        ("last-modified", _http_date(kept.at)),
        ("content-type", "application/octet-stream"),
        ("cache-control", "no-store"),
        ("accept-ranges", "bytes"),
    ]
    if "sha-256" in (request.headers.get("want-repr-digest") or ""):
        headers.append(("repr-digest", repr_digest(await place.digest(name))))
    wanted = requested_range(request, size=kept.size, etag=etag)
    start, stop = wanted or (0, kept.size)
    if wanted is not None:
        headers.append(("content-range", f"bytes {start}-{stop - 1}/{kept.size}"))
    return Response(
        status=200 if wanted is None else 206,
        headers=headers,
        body=place.stream(name, offset=start, length=stop - start),
        content_length=stop - start,
    )


async def _put(place: Place, request: Request) -> Response:
    name = _name(request)
    if name.endswith(TOMBSTONE):
        await place.bury(name.removesuffix(TOMBSTONE))
        return Response(status=204)
    once = (request.headers.get("if-none-match") or "").strip() == "*"
    if not await place.put(name, request.body.chunks(), once=once):
        raise Refusal("There is a blob of that name already.", code="precondition_failed")
    return Response(status=201, headers=[("repr-digest", repr_digest(bytes.fromhex(name)))])  # hashed while stored


async def _delete(place: Place, request: Request) -> Response:
    name = _name(request)
    is_tombstone = name.endswith(TOMBSTONE)
    if not await (place.unbury(name.removesuffix(TOMBSTONE)) if is_tombstone else place.delete(name)):
        raise NotFound
    return Response(status=204)


def _name(request: Request) -> str:
    """The name in the path, only in the right directory: one blob has one address."""
    first, second, name = (request.params[one] for one in ("first", "second", "name"))
    if not is_name(name.removesuffix(TOMBSTONE)) or (first, second) != (name[:2], name[2:4]):
        raise NotFound
    return name


def _http_date(at: Millis) -> str:
    return formatdate(at // SECOND_MS, usegmt=True)


_route: Final = partial(Route[Place], path="/:first/:second/:name", access="authenticated")
_ROUTES: Final = (
    _route(method="GET", handle=_get, summary="A blob, or its tombstone."),
    _route(method="PUT", handle=_put, summary="Keep a blob, or mark one as no longer needed."),
    _route(method="DELETE", handle=_delete, summary="Remove a blob whose time is over, or take a tombstone away."),
)
