"""The rows a feature declares: one a route, one a WebSocket route, one a procedure. Access has no default.

``C`` is whatever the features want handed to their functions with each call (who asks, which services there are); the
protocol only passes it through. A row is data: router and RPC layer compile them, tests and docs enumerate them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

import msgspec

from svc.protocol.messages import Request, Response
from svc.protocol.socket import Socket

C = TypeVar("C")

Access = Literal["public", "authenticated", "admin", "terminal"]
"""``terminal``: an admin, but of an admin's devices those alone that were given this capability."""
Listener = Literal["public", "internal"]
"""Which port a row answers on: everybody's, or the one that only this machine reaches, with the internal token."""

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
ProcedureKind = Literal["query", "mutation", "subscription"]


class Tell(Protocol):
    """Tells a subscriber one thing. Who connects again brings the ``id`` of the last one that had any."""

    async def __call__(self, data: object, *, id: str | None = None) -> None: ...


Feed = Callable[[Tell], Awaitable[None]]
"""What a subscription tells until it returns. Cancelled when its subscriber goes, or the service does."""


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of every input and output record on the wire: camelCase keys; unknown keys are ignored."""


class Nothing(Wire, frozen=True):
    """The empty object: no input wanted, or nothing to say."""


NOTHING = Nothing()


@dataclass(frozen=True, kw_only=True)
class Says:
    """What a route takes and answers, for its description (``/openapi.json``); a type is a record of the wire.

    ``answers``: what it says where it does what it is for, by status: a type, as JSON; the words of a media type, for
    bytes; ``None``, for no body. ``body`` is one of the two as well; ``query`` and ``headers`` are records whose fields
    are parameters.
    """

    answers: Mapping[int, object]
    body: object = None
    query: type | None = None
    headers: type | None = None


PAGE: Final = Says(answers={200: "text/html"})
"""A page of the app."""


@dataclass(frozen=True, kw_only=True)
class Route(Generic[C]):
    """``path`` holds literal segments and ``:name`` parameters; a final ``*name`` takes the rest. GET answers HEAD.

    OPTIONS is answered for every path; a row says what it says besides, to everybody, and no CORS rule is in it.
    ``says``: all that strangers need to know of it; each route of the public listener has it. ``stranger``: what a
    browser shows a person who has not signed in, in place of the refusal that programs get.
    """

    method: Method
    path: str
    access: Access
    handle: Callable[[C, Request], Awaitable[Response]]
    summary: str
    csrf_exempt: bool = False  # /gitops/webhook and /pair/claim only
    host_exempt: bool = False  # the three probes only
    listener: Listener = "public"
    says: Says | None = None
    stranger: Callable[[Request], Response] | None = None


@dataclass(frozen=True, kw_only=True)
class SocketRoute(Generic[C]):
    """A WebSocket upgrade. Access, Host and Origin are checked before the handshake is answered."""

    path: str
    access: Access
    handle: Callable[[C, Request, Socket], Awaitable[None]]
    summary: str


@dataclass(frozen=True, kw_only=True)
class Procedure(Generic[C]):
    """One tRPC procedure. ``call`` gets the decoded ``input`` and returns an ``output`` (:class:`Wire` or lists).

    ``is_costly``: a query that is given up once its client has closed the connection. A subscription's ``call`` returns
    its :data:`Feed`; ``output`` is what each ``tell`` of that is given, always with an ``id``. It is resumed by its
    input's ``last_event_id``.
    """

    name: str
    kind: ProcedureKind
    access: Access
    input: type
    output: object  # a type msgspec can encode, named in the generated documentation
    call: Callable[[C, Any], Awaitable[object]]  # the edge: takes what `input` decodes to
    summary: str
    is_costly: bool = False
