"""Turns a request into a response, for any front: guard, router, handler, one error table, one access log line.

Both faces (our own HTTP/1.1 connection and ASGI) call the same :class:`Application`. It raises only on cancellation: a
refusal becomes its answer; any other error is logged in full under the request id and shown as ``internal``. Owns no
state beyond what it was built with. It never reads a body and knows no socket.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Set
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Final, Generic, TypeVar

import trio

from svc.clock import Clock
from svc.errors import NotFound, Refusal, Unauthenticated
from svc.log import Log
from svc.principal import Principal
from svc.protocol.accepted import AcceptedSocket
from svc.protocol.envelope import trpc_error_response
from svc.protocol.guard import SAFE_METHODS, Guard, check_access, check_token_origin, is_rpc
from svc.protocol.handshake import check_handshake
from svc.protocol.logged import ELSE, logged_path
from svc.protocol.messages import SEQ_HEADER, HeaderList, Headers, Request, Response, problem
from svc.protocol.router import Match, Router
from svc.protocol.rows import Route, SocketRoute
from svc.protocol.security import secure_headers
from svc.protocol.socket import Socket
from svc.protocol.traffic import NO_ROW, Traffic

C = TypeVar("C")

Resolve = Callable[[Request], Awaitable[Principal | None]]
Unknown = Callable[[Request], Response]
_REQUEST_ID_BYTES: Final = 8
_IDS_AT_ONCE: Final = 256
_MET_PATHS: Final = 1_024
_MET_CHARACTERS: Final = 200
_COMMON: Final = frozenset({"content-type", "cache-control", "vary", SEQ_HEADER})
"""Headers with few different values. A response with no others, besides ours, has its head encoded once."""
_CLIENT_ERROR: Final = 400
_SWITCHING: Final = 101
_UNAUTHORIZED: Final = 401
_READS: Final = frozenset({"GET", "HEAD"})


@dataclass(slots=True)
class _Visit:
    """One request in progress: when it began, and its principal once known."""

    began: float = field(default_factory=trio.current_time)
    principal: Principal | None = None
    path: str = NO_ROW


def refusal_in(error: BaseException) -> Refusal | None:
    """The refusal that ``error`` is, or that a nursery wraps. ``None`` if any other error is in the group too: a bug
    counts more."""
    if isinstance(error, BaseExceptionGroup):
        found = [refusal_in(part) for part in error.exceptions]
        return found[0] if all(found) else None
    return error if isinstance(error, Refusal) else None


class Application(Generic[C]):
    """``resolve`` finds the principal (once per request); ``context`` makes the context that a row's function gets.

    ``known_names`` are the names of procedures: a log may show them in place of a path parameter. ``logged_as``: the
    event of the access log. ``unknown``: the page for a browser at an address that no row begins with; without it, and
    for all other clients, the answer is a problem in JSON. ``traffic`` counts the answers. ``challenge``: what a 401
    asks for (RFC 9110, 11.6.1), never a scheme for which a browser opens a dialog of its own.
    """

    def __init__(
        self,
        *,
        router: Router[C],
        guard: Guard,
        resolve: Resolve,
        context: Callable[[Request, Principal | None], C],
        log: Log,
        clock: Clock,
        known_names: Set[str] = frozenset(),
        logged_as: str = "http.request",
        unknown: Unknown | None = None,
        traffic: Traffic | None = None,
        challenge: str = "Bearer",
    ) -> None:
        self._router = router
        self._guard = guard
        self._resolve = resolve
        self._context = context
        self._log = log
        self._clock = clock
        self._known_names = known_names
        self._logged_as = logged_as
        self._unknown = unknown
        self._traffic = traffic or Traffic()
        self._challenge = challenge
        self._probes = frozenset(row.path for row in router.rows() if isinstance(row, Route) and row.host_exempt)
        self._date = (0, "")
        self._ids: list[str] = []  # drawn in advance
        self._met: dict[str, tuple[Match[C], str]] = {}

    async def __call__(self, request: Request) -> Response:
        """Answer one request."""
        visit = self._begin(request)
        try:
            response = await self._answer(request, visit)
        except Exception as error:
            response = self._failed(request, error)
        return self.finish(request, visit, response)

    async def upgrade(self, request: Request, *, front_shook_hands: bool = False) -> Response | AcceptedSocket:
        """Answer a WebSocket upgrade: accept it, or return an ordinary response without a handshake. An accepted one
        is counted and logged once its handler has opened or refused it.

        ``front_shook_hands``: an ASGI front has checked the handshake (over HTTP/2 it is not visible here).
        """
        visit = self._begin(request)
        try:
            match = self._match(request)
            if match.socket is None:
                response = await self._answer(request, visit)
            else:
                if not front_shook_hands:
                    check_handshake(request)
                return await self._accept(match.socket, match, request, visit)
        except Exception as error:
            response = self._failed(request, error)
        return self.finish(request, visit, response)

    def fault(self, refusal: Refusal, *, peer: str, secure: bool, for_rpc: bool = False) -> Response:
        """The answer to bytes that never became a request. ``for_rpc``: in the form that an RPC client can read."""
        request = Request(method="-", target="-", headers=Headers(), peer=peer, secure=secure)
        visit = self._begin(request)
        return self.finish(request, visit, trpc_error_response(refusal) if for_rpc else problem(refusal))

    def broke(self, request: Request, error: Exception) -> Response:
        """The answer that replaces one that could not be sent, for a fault found after :meth:`__call__` returned."""
        return self.finish(request, _Visit(), self._failed(request, error))

    def _begin(self, request: Request) -> _Visit:
        if not self._ids:
            drawn = secrets.token_hex(_REQUEST_ID_BYTES * _IDS_AT_ONCE)
            self._ids = [drawn[at : at + 2 * _REQUEST_ID_BYTES] for at in range(0, len(drawn), 2 * _REQUEST_ID_BYTES)]
        request.id = self._ids.pop()
        request.secure = self._guard.is_secure(request)
        return _Visit()

    def _match(self, request: Request) -> Match[C]:
        raw_path, mark, _ = request.target.partition("?")
        if raw_path not in self._probes:
            self._guard.check_host(request)
        match, request.logged = self._met.get(raw_path) or self._meet(raw_path)
        if mark:
            request.logged += mark + ELSE
        return match

    def _meet(self, raw_path: str) -> tuple[Match[C], str]:
        """The match for a path, and how a log shows the path. Cached: the same few paths are requested again and
        again."""
        match = self._router.match(raw_path)
        met = match, logged_path(match.path, match.params, known_names=self._known_names)
        if len(raw_path) <= _MET_CHARACTERS:
            if len(self._met) >= _MET_PATHS:
                self._met.clear()
            self._met[raw_path] = met
        return met

    async def _answer(self, request: Request, visit: _Visit) -> Response:
        if request.method == "OPTIONS":
            return await self._options(request)
        try:
            match = self._match(request)
        except NotFound:
            if self._unknown is None or not self._is_lost_browser(request):
                raise
            return self._unknown(request)
        visit.path = match.path
        if match.socket is not None and request.method == "GET":
            check_handshake(request)
            raise Refusal("A WebSocket needs HTTP/1.1.", code="upgrade_required", headers={"upgrade": "websocket"})
        route = self._route(match, request)
        request.params = match.params
        if not route.host_exempt:  # a probe must answer even when no principal can be looked up
            try:
                await self._admit(route, request, visit)
            except Unauthenticated:
                if route.stranger is None or not _wants_page(request):
                    raise
                return route.stranger(request)
        return await route.handle(self._context(request, visit.principal), request)

    def _route(self, match: Match[C], request: Request) -> Route[C]:
        """Raises 405, but to another site 403 as for any method that can change something."""
        try:
            return match.route(request.method)
        except Refusal:
            if request.method not in SAFE_METHODS and not any(row.csrf_exempt for row in match.routes.values()):
                self._guard.check_origin(request)
            raise

    def _is_lost_browser(self, request: Request) -> bool:
        """Whether a browser asks for a page at an unknown address. Below a known path it is a program with a wrong
        address."""
        ours = self._router.beginning(request.raw_path) not in {"", request.raw_path}
        return _wants_page(request) and not ours

    async def _admit(self, route: Route[C] | SocketRoute[C], request: Request, visit: _Visit) -> None:
        """First the origin, so that a foreign page can't even use up a ticket; then the principal; then the access."""
        needs_token = _can_change(route, request) and self._guard.check_origin(request)
        visit.principal = await self._resolve(request)
        if needs_token:
            check_token_origin(visit.principal)
        check_access(route.access, visit.principal)

    async def _accept(self, row: SocketRoute[C], match: Match[C], request: Request, visit: _Visit) -> AcceptedSocket:
        request.params, request.opens_socket = match.params, True
        visit.path = match.path
        await self._admit(row, request, visit)
        return _Upgrade(self, row, self._context(request, visit.principal), request, visit)

    async def _options(self, request: Request) -> Response:
        self._guard.check_host(request)
        if request.target == "*":
            return Response(status=204)
        match = self._router.match(request.raw_path)
        row = match.routes.get("OPTIONS")
        told = await row.handle(self._context(request, None), request) if row else Response(status=204)
        told.headers += [("allow", match.allow), *(self._guard.preflight(request) or [])]
        return told

    def _failed(self, request: Request, error: Exception) -> Response:
        refusal = refusal_in(error)
        if refusal is None:
            self._log.error("http.request_failed", error, request_id=request.id, path=self._logged(request))
            refusal = Refusal("Something went wrong here. The log knows it by the request id.", code="internal")
        return trpc_error_response(refusal) if is_rpc(request) else problem(refusal)

    def socket_opened(self, row: SocketRoute[C], request: Request, visit: _Visit) -> None:
        """Log and count the 101 of a socket; :meth:`socket_closed` follows."""
        self._traffic.opened(row.path)
        self._access_line(request, visit, status=_SWITCHING)

    def socket_closed(self, row: SocketRoute[C]) -> None:
        self._traffic.closed(row.path)

    def finish(self, request: Request, visit: _Visit, response: Response) -> Response:
        """Add the headers that every response has, and log and count it."""
        headers = response.headers
        headers += self._guard.cors_headers(request, visit.principal)
        if request.renewed is not None and _may_renew(response) and (cookie := request.renewed()) is not None:
            headers.append(cookie)
        names = tuple([name for name, _ in headers])
        headers += secure_headers(names, pins_https=self._guard.pins_https(request))
        if _COMMON.issuperset(names):
            response.common = len(headers)
        headers += [("x-request-id", request.id), ("date", self.http_date())]
        if response.status == _UNAUTHORIZED:
            headers.append(("www-authenticate", self._challenge))
        self._access_line(request, visit, status=response.status)
        return response

    def _access_line(self, request: Request, visit: _Visit, *, status: int) -> None:
        took_s = trio.current_time() - visit.began
        self._traffic.answered(visit.path, status, took_s)
        if status < _CLIENT_ERROR and not self._log.wants("debug"):
            return
        say = self._log.debug if status < _CLIENT_ERROR else self._log.info
        say(
            self._logged_as,
            request_id=request.id,
            method=request.method,
            path=self._logged(request),
            status=status,
            ms=round(took_s * 1_000, 1),
            via=visit.principal.via if visit.principal else None,
            peer=request.peer,
        )

    def http_date(self) -> str:
        """The value of ``Date`` now."""
        second = self._clock.now() // 1_000
        if second != self._date[0]:
            self._date = (second, formatdate(second, usegmt=True))
        return self._date[1]

    def _logged(self, request: Request) -> str:
        return request.logged or f"{self._router.beginning(request.raw_path)}/{ELSE}"


class _Upgrade(AcceptedSocket, Generic[C]):
    """Ten thousand of them may be open."""

    __slots__ = ("_application", "_context", "_is_open", "_request", "_row", "_visit")

    def __init__(
        self, application: Application[C], row: SocketRoute[C], context: C, request: Request, visit: _Visit
    ) -> None:
        self._application = application
        self._row = row
        self._context = context
        self._request = request
        self._visit = visit
        self._is_open = False

    def headers(self) -> HeaderList:
        return [("x-request-id", self._request.id)]

    async def handle(self, socket: Socket) -> None:
        try:
            await self._row.handle(self._context, self._request, socket)
        finally:
            if self._is_open:
                self._application.socket_closed(self._row)

    def opened(self) -> None:
        self._is_open = True
        self._application.socket_opened(self._row, self._request, self._visit)

    def refused(self, refusal: Refusal) -> Response:
        return self._application.finish(self._request, self._visit, problem(refusal))


def _may_renew(response: Response) -> bool:
    """A cache in front must not give one person's cookie to another; a cookie that the answer sets itself stands."""
    return response.header("set-cookie") is None and response.header("cache-control") in {None, "no-store"}


def _wants_page(request: Request) -> bool:
    return request.method in _READS and "text/html" in ",".join(request.headers.all("accept")).lower()


def _can_change(route: Route[C] | SocketRoute[C], request: Request) -> bool:
    if isinstance(route, SocketRoute) or route.has_effect:
        return True
    return request.method not in SAFE_METHODS and not route.csrf_exempt
