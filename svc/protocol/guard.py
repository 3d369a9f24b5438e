"""Decides who may talk to this service at all, by Host, Origin and the access of a row, before any body is read.

Theory. A page on the web can make a browser send requests to 127.0.0.1. If it rebinds its own name to that address, it
can even read the answers. Three checks prevent that, for the unclaimed instance too. The ``Host`` must be one of our
names (a rebound request has the attacker's name, on any port). A request that can change something must come from our
own origin or from no browser at all. Only listed origins get a CORS answer, and only for calls with a token, which no
browser adds by itself.

Owns the allow-lists made at boot. It never resolves a principal itself and never reads a body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from svc.errors import Forbidden, Refusal, Unauthenticated
from svc.principal import Principal
from svc.protocol.forwarded import Forwarded
from svc.protocol.messages import SEQ_HEADER, HeaderList, Request
from svc.protocol.rows import Access

DEVICE_TOKEN_HEADER: Final = "x-svc-device-token"  # noqa: S105 - a header's name
FORWARDED_PROTO_HEADER: Final = "x-forwarded-proto"
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
CORS_MAX_AGE_S: Final = 600

_LOOPBACK_HOST: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::([1-9][0-9]{0,4}))?")
_MAX_PORT: Final = 65_535
_WILDCARDS: Final = frozenset({"", "0.0.0.0", "::", "*"})  # noqa: S104 - named here to be refused
_EXTENSION_SCHEMES: Final = ("chrome-extension://", "moz-extension://", "safari-web-extension://")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_FOREIGN_SITES: Final = frozenset({"cross-site", "same-site"})
_SOCKET_TICKET: Final = "/auth/socket-ticket"
_RPC_PREFIX: Final = "/trpc/"


class Guard:
    """The lists of one boot. ``port`` is the port really bound; ``public_origin`` has no trailing slash.

    ``only_public``: for a public cell. It has no other origin, and browsers reach it only by HTTPS.
    """

    def __init__(
        self,
        *,
        bind_host: str,
        port: int,
        public_origin: str | None = None,
        cors_origins: Iterable[str] = (),
        forwarded: Forwarded = Forwarded(),  # noqa: B008  frozen
        only_public: bool = False,
    ) -> None:
        self._only_public = only_public
        self._forwarded = forwarded
        self._public_origin = public_origin.lower() if public_origin else None
        self._cors_origins = frozenset(cors_origins)
        self._hosts = _allowed_hosts(bind_host, port, self._public_origin)

    def is_secure(self, request: Request) -> bool:
        """Whether the browser's own connection is HTTPS: this connection is, or the trusted proxy says so in exactly
        one header. A request for the name of an HTTPS public origin also counts as HTTPS: we serve no page there over
        http.

        A list of values counts as nothing said, because the client may have written a part of it.
        """
        if self._only_public or self._came_for_https(request):
            return True
        return request.secure or self._is_forwarded_https(request)

    def pins_https(self, request: Request) -> bool:
        """Whether the browser is told to use HTTPS only for the name in this request. Not for a name of this machine:
        other programs serve pages under it over http. Behind a proxy the browser's name may be another one."""
        if not request.secure or self._only_public or self._is_forwarded_https(request):
            return request.secure
        host = request.headers.get("host")
        return host is not None and not _is_loopback(host.lower())

    def check_host(self, request: Request) -> None:
        """Raises 421 unless ``Host`` is one of our names: this machine's names on any port, others with our port or
        none.

        The port may be another one because it is forwarded from another machine, as by ``ssh -L``. A page that rebinds
        its own name to this machine still sends that name, whatever the port.
        """
        hosts = request.headers.all("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0].lower()):
            raise Refusal("This server does not answer to that name.", code="misdirected_request")

    def _is_ours(self, host: str) -> bool:
        return host in self._hosts or _is_loopback(host)

    def check_origin(self, request: Request) -> bool:
        """Raises 403 when another site sends this request. True for a foreign but permitted origin, which must bring a
        token."""
        origins = request.headers.all("origin")
        if not origins:
            if self._is_from_foreign_page(request):
                raise _foreign()
            return False
        if len(origins) > 1:
            raise _foreign()
        if self._is_own(origins[0], request):
            return False
        if origins[0] in self._cors_origins or origins[0].startswith(_EXTENSION_SCHEMES):
            return True
        raise _foreign()

    def _is_from_foreign_page(self, request: Request) -> bool:
        """Checks a request without an origin. Current browsers name the kind of site that caused it. Older browsers,
        and all browsers at plain HTTP by a name of the network, at most name the page, and a page can hide that. So
        this check alone does not protect a GET with an effect: the effect must be harmless to a person who follows a
        link."""
        sites = request.headers.all("sec-fetch-site")
        if sites:
            return not _FOREIGN_SITES.isdisjoint(sites)
        pages = request.headers.all("referer")
        return any(not self._is_own(_origin_of(page), request) for page in pages)

    def preflight(self, request: Request) -> HeaderList | None:
        """The headers of the answer to a CORS preflight, or ``None`` if none is given."""
        if request.headers.get("access-control-request-method") is None or not self._is_listed(request):
            return None
        return [
            ("access-control-allow-origin", request.headers.get("origin") or ""),
            ("access-control-allow-methods", "GET, POST"),
            ("access-control-allow-headers", f"content-type, trpc-accept, {DEVICE_TOKEN_HEADER}"),
            ("access-control-max-age", str(CORS_MAX_AGE_S)),
        ]

    def cors_headers(self, request: Request, principal: Principal | None) -> HeaderList:
        """The headers that let a listed origin read the answer: only if the call came with a device token."""
        if not _has_cors(request):
            return []
        headers = [("vary", "Origin")]
        by_token = principal is None or principal.via == "device"
        if by_token and request.headers.get(DEVICE_TOKEN_HEADER) is not None and self._is_listed(request):
            headers += [
                ("access-control-allow-origin", request.headers.get("origin") or ""),
                ("access-control-expose-headers", f"x-request-id, retry-after, {SEQ_HEADER}"),
            ]
        return headers

    def _is_listed(self, request: Request) -> bool:
        origins = request.headers.all("origin")
        return _has_cors(request) and len(origins) == 1 and origins[0] in self._cors_origins

    def _is_forwarded_https(self, request: Request) -> bool:
        said = self._forwarded.said(request, FORWARDED_PROTO_HEADER) if self._forwarded.believed else None
        return (said or "").lower() == "https"

    def _came_for_https(self, request: Request) -> bool:
        if self._public_origin is None or not self._public_origin.startswith("https://"):
            return False
        host = (request.headers.get("host") or "").lower()
        return f"https://{host.removesuffix(':443')}" == self._public_origin

    def _is_own(self, origin: str, request: Request) -> bool:
        """The page comes from the address of this request, or from the canonical origin (a proxy may rewrite
        ``Host``)."""
        if origin == self._public_origin or self._only_public:
            return origin == self._public_origin
        scheme = "https" if request.secure else "http"
        host = (request.headers.get("host") or "").lower()
        return origin == f"{scheme}://{host.removesuffix(f':{_DEFAULT_PORTS[scheme]}')}"


class LoopbackGuard(Guard):
    """For a port that only programs of this machine use, no browser: it accepts only loopback names, no request of a
    web page, and no forwarded request."""

    def __init__(self, *, port: int) -> None:
        super().__init__(bind_host="127.0.0.1", port=port)

    def check_host(self, request: Request) -> None:
        """Raises 421 unless ``Host`` is loopback's, and 403 for a request with an origin, even our own, or one that was
        forwarded."""
        super().check_host(request)
        if any(name == "forwarded" or name.startswith("x-forwarded-") for name, _ in request.headers.items()):
            raise Forbidden("This port takes no request that was forwarded.")
        if request.headers.all("origin") or request.headers.all("sec-fetch-site"):
            raise _foreign()


class MachinesGuard(Guard):
    """For a port that programs of other machines use, under any name that a platform gives it, and no browser.

    Nothing here depends on a cookie or on the address of the client, so a page that rebinds its name gains nothing.
    """

    def __init__(self, *, port: int) -> None:
        super().__init__(bind_host="", port=port)

    def check_host(self, request: Request) -> None:
        """Any name is accepted. Raises 403 for a request that a page in a browser sends."""
        if request.headers.all("origin") or request.headers.all("sec-fetch-site"):
            raise _foreign()


def check_access(access: Access, principal: Principal | None) -> None:
    """Raises 401 or 403 when ``principal`` may not use a row of this access."""
    if access == "public":
        return
    if principal is None:
        raise Unauthenticated("Sign in first.")
    allowed = principal.may("terminal") if access == "terminal" else principal.is_admin or access != "admin"
    if not allowed:
        by_device = " A device of an admin may too, if that was allowed when it was paired."
        raise Forbidden("Only an admin may do this." + (by_device if principal.via == "device" else ""))


def check_token_origin(principal: Principal | None) -> None:
    """A permitted foreign origin must use a device token or a ticket, never what a browser sends by itself."""
    if principal is None or principal.via != "device":
        raise _foreign()


def is_rpc(request: Request) -> bool:
    """Whether the answer must have the shape of tRPC, whichever part writes it."""
    return request.target.startswith(_RPC_PREFIX)


def _is_loopback(host: str) -> bool:
    match = _LOOPBACK_HOST.fullmatch(host)
    return match is not None and int(match[1] or _MAX_PORT) <= _MAX_PORT


def _allowed_hosts(bind_host: str, port: int, public_origin: str | None) -> frozenset[str]:
    names = set()
    if bind_host not in _WILDCARDS:
        names.add(f"[{bind_host}]" if ":" in bind_host else bind_host.lower())
    ports = {port}
    if public_origin is not None:
        parts = urlsplit(public_origin)
        host = parts.hostname or ""
        names.add(f"[{host}]" if ":" in host else host)
        ports.add(parts.port or _DEFAULT_PORTS[parts.scheme])
    return frozenset({*names, *(f"{name}:{number}" for name in names for number in ports)})


def _origin_of(url: str) -> str:
    """As a browser writes it; empty if it is no address."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc.lower()}".removesuffix(f":{_DEFAULT_PORTS.get(parts.scheme, 0)}")
    except ValueError:
        return ""


def _has_cors(request: Request) -> bool:
    return is_rpc(request) or request.raw_path == _SOCKET_TICKET


def _foreign() -> Refusal:
    return Forbidden("This request comes from another site.")
