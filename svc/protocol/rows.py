"""The rows that a feature declares: one per route, one per WebSocket route, one per procedure. Access has no default.

``C`` is the context that the features want with each call (the principal, the services); the protocol only passes it
on. A row is data: router and RPC layer compile it, tests and docs list it.
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
"""``terminal``: an admin; but of an admin's devices, only those that were given this capability."""
Listener = Literal["public", "internal"]
"""The port on which a row answers: the public one, or the one that only this machine reaches, with the internal
token."""

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
ProcedureKind = Literal["query", "mutation", "subscription"]


class Tell(Protocol):
    """Sends one event to a subscriber. A client that reconnects sends the last ``id`` it received."""

    async def __call__(self, data: object, *, id: str | None = None) -> None: ...


Feed = Callable[[Tell], Awaitable[None]]
"""Sends the events of a subscription until it returns. It is cancelled when its subscriber or the service goes."""


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of every input and output record on the wire: camelCase keys; unknown keys are ignored."""


class Nothing(Wire, frozen=True):
    """The empty object: no input, or no result."""


NOTHING = Nothing()


@dataclass(frozen=True, kw_only=True)
class Says:
    """What a route takes and answers, for its description (``/openapi.json``); a type is a record of the wire.

    ``answers``: the successful answers by status: a type, as JSON; a string with a media type, for bytes; ``None``, for
    no body. ``body`` is a type or a string as well; ``query`` and ``headers`` are records whose fields are parameters.
    """

    answers: Mapping[int, object]
    body: object = None
    query: type | None = None
    headers: type | None = None


PAGE: Final = Says(answers={200: "text/html"})
"""A page of the app."""


@dataclass(frozen=True, kw_only=True)
class Route(Generic[C]):
    """``path`` holds literal segments and ``:name`` parameters; a final ``*name`` takes the rest. GET also answers
    HEAD.

    OPTIONS is answered for every path. A row for OPTIONS only adds to that answer; it is open to everybody, and the
    CORS headers are not its concern. ``says``: the public description of the route; each route of the public listener
    has it. ``stranger``: the page for a browser that has not signed in; programs get the refusal. ``has_effect``: of a
    GET that does something outside; pages of other sites may ask it no more than they may change something.
    """

    method: Method
    path: str
    access: Access
    handle: Callable[[C, Request], Awaitable[Response]]
    summary: str
    has_effect: bool = False
    csrf_exempt: bool = False  # only /gitops/webhook and /pair/claim
    host_exempt: bool = False  # only the three probes
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

    ``is_costly``: a query that is cancelled once its client has closed the connection. A subscription's ``call``
    returns its :data:`Feed`; ``output`` is what each ``tell`` gets, always with an ``id``. It is resumed by its input's
    ``last_event_id``.
    """

    name: str
    kind: ProcedureKind
    access: Access
    input: type
    output: object  # a type that msgspec can encode, named in the generated documentation
    call: Callable[[C, Any], Awaitable[object]]  # the edge: takes what `input` decodes to
    summary: str
    is_costly: bool = False
