"""The tRPC 11 protocol over HTTP: single calls, batches, batch streams, subscriptions. The public ``@trpc/client``
works unchanged.

Theory. ``/trpc/a.b?input=<json>`` is a query by GET, a mutation by POST with a JSON body. ``/trpc/a,b?batch=1`` carries
several calls of one kind, with their inputs in an object keyed by position. The answer is an array; its status is the
common one or 207. With ``trpc-accept: application/jsonl`` the batch is answered line by line as the calls finish. A
subscription is a GET that answers with server-sent events; ``Last-Event-ID`` says where it goes on. No transformer.

Owns the compiled decoders and each procedure's access check, which comes before any body is read. Every failure is an
answer in this shape: a refusal by its row, any other error as ``internal`` and in full in the log. It does not know
what a procedure does.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, TypeVar, cast
from urllib.parse import unquote

import msgspec
import trio

from svc.errors import Invalid, NotFound, Refusal
from svc.log import Log
from svc.principal import Principal
from svc.protocol.envelope import Outcome, array, internal, single, trpc_error_response
from svc.protocol.guard import check_access
from svc.protocol.messages import JSON, Request, Response
from svc.protocol.rows import Feed, Nothing, Procedure, ProcedureKind
from svc.protocol.streaming import events_response, lines_response

C = TypeVar("C")

PREFIX: Final = "/trpc/"
BODY_MAX_BYTES: Final = 4 * 1024 * 1024
"""The body of a call, or of a batch: a page of 1 MiB, also from a client that escapes all but ASCII. Beyond: 413
`PAYLOAD_TOO_LARGE`."""
BATCH_MAX_CALLS: Final = 50
"""Calls of one batch. Beyond: 400 `BAD_REQUEST`; none of them runs."""
CONCURRENT_QUERIES: Final = 8
"""Queries of one batch that run at a time; mutations run one after the other. Beyond: the others wait for their
turn."""
JSONL: Final = "application/jsonl"

_NO_CONTENT: Final = 204
_CLIENT_GONE: Final = 499
_METHODS: Final[Mapping[ProcedureKind, str]] = {"query": "GET", "mutation": "POST", "subscription": "GET"}
_NO_FIELDS: Final = b"{}"
_LAST_EVENT_ID: Final = "lastEventId"


class RpcLayer(Generic[C]):
    """All procedures of the service."""

    def __init__(self, procedures: Sequence[Procedure[C]], *, log: Log) -> None:
        self._rows = tuple(procedures)
        self._log = log
        self._compiled: dict[str, _Compiled[C]] = {}
        for row in self._rows:
            if row.name in self._compiled or not row.name or "," in row.name:
                raise ValueError(f"{row.name!r} is no name for a procedure, or is taken")
            self._compiled[row.name] = _Compiled(row)

    def rows(self) -> tuple[Procedure[C], ...]:
        return self._rows

    async def respond(self, context: C, request: Request, principal: Principal | None) -> Response:
        """Answer a request under ``/trpc/``. Raises nothing but cancellation."""
        try:
            return await self._respond(context, request, principal)
        except Refusal as refusal:
            return trpc_error_response(refusal)
        except Exception as error:
            self._log.error("rpc request failed", error, request_id=request.id)
            return trpc_error_response(internal())

    async def _respond(self, context: C, request: Request, principal: Principal | None) -> Response:
        if request.method == "HEAD":
            return Response(status=_NO_CONTENT)
        _check_media_type(request)
        path = unquote(request.raw_path).removeprefix(PREFIX)
        query = request.query() if request.raw_query else {}
        is_batch = query.get("batch") == "1"
        is_stream = _wants_stream(request)
        if is_stream and not is_batch:
            raise Invalid("Streaming requests must be batched (you can do a batch of 1)")
        _check_connection_params(query)
        names = path.split(",") if is_batch else [path]
        if len(names) > BATCH_MAX_CALLS:
            raise Invalid(f"A batch may have at most {BATCH_MAX_CALLS} calls.")
        calls = [self._find(name, request, principal) for name in names]
        kind = _common_kind(calls)
        if kind == "subscription":
            return await self._subscribe(calls, context, request, query, is_batch=is_batch)
        if any(call.refusal is None for call in calls):
            await _give_inputs(calls, request, query, is_batch=is_batch)
        if not is_batch and not (request.gone is not None and kind == "query" and calls[0].is_costly):
            return single(await self._perform(calls[0], context, request))

        async def perform(call: _Call[C]) -> Outcome:
            return await self._perform(call, context, request)

        width = CONCURRENT_QUERIES if kind == "query" else 1

        async def answer() -> Response:
            if not is_batch:
                return single(await perform(calls[0]))
            return array(await _perform_all(calls, perform, width=width))

        if is_stream:
            gone = request.gone if kind == "query" else None
            return lines_response(len(calls), partial(_tell_all, calls, perform, width=width), gone=gone)
        if request.gone is not None and kind == "query" and any(call.is_costly for call in calls):
            return await _while_wanted(answer, gone=request.gone)
        return await answer()

    async def _subscribe(
        self,
        calls: Sequence[_Call[C]],
        context: C,
        request: Request,
        query: Mapping[str, str],
        *,
        is_batch: bool,
    ) -> Response:
        """A stream of events, even for a refusal: a browser does not show its script any other answer."""
        if is_batch:
            refusal = Invalid("Cannot batch subscription calls")
            return array([Outcome(refusal=refusal, path=call.name) for call in calls])
        (call,) = calls
        if call.refusal is not None and call.refusal.code == "method_not_allowed":
            return trpc_error_response(call.refusal, call.name)
        await _give_inputs(calls, request, query, is_batch=False)

        def noted(error: Exception) -> Refusal:
            self._log.error("subscription failed", error, request_id=request.id, procedure=call.name)
            return internal()

        try:
            call.raw_input = _resumed(call.raw_input, request, query)
            feed: Feed | Refusal = cast(Feed, await self._call(call, context))
        except Refusal as refusal:
            feed = refusal
        except Exception as error:
            feed = noted(error)
        return events_response(feed, request, call.name, noted=noted)

    def _find(self, name: str, request: Request, principal: Principal | None) -> _Call[C]:
        """The procedure of that name, or the reason why it may not be called, found before any input is read."""
        compiled = self._compiled.get(name)
        if compiled is None:
            return _Call(name, None, NotFound(f'No procedure found on path "{name}"'))
        row = compiled.row
        try:
            if request.method != _METHODS[row.kind]:
                raise Refusal(
                    f'Unsupported {request.method}-request to {row.kind} procedure at path "{name}"',
                    code="method_not_allowed",
                    headers={"allow": _METHODS[row.kind]},
                )
            check_access(row.access, principal)
        except Refusal as refusal:
            return _Call(name, compiled, refusal)
        return _Call(name, compiled)

    async def _perform(self, call: _Call[C], context: C, request: Request) -> Outcome:
        """Run one call and return its outcome. Whatever it raises concerns this call alone."""
        try:
            return Outcome(data=msgspec.json.encode(await self._call(call, context)))
        except Refusal as refusal:
            return Outcome(refusal=refusal, path=call.name)
        except Exception as error:
            self._log.error("procedure failed", error, request_id=request.id, procedure=call.name)
            return Outcome(refusal=internal(), path=call.name)

    async def _call(self, call: _Call[C], context: C) -> object:
        if call.refusal is not None:
            raise call.refusal
        assert call.compiled is not None
        return await call.compiled.row.call(context, call.compiled.decode(call.raw_input))


class _Compiled(Generic[C]):
    def __init__(self, row: Procedure[C]) -> None:
        self.row = row
        self._wants_input = row.input is not Nothing
        self._decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(row.input)

    def decode(self, raw_input: bytes | Refusal | None) -> object:
        """The typed input. A missing input counts as ``{}``; an error in it is described in words that a client can
        use."""
        if not self._wants_input:
            return Nothing()
        if isinstance(raw_input, Refusal):
            raise raw_input
        return _decode(self._decoder.decode, _NO_FIELDS if raw_input is None else raw_input)


@dataclass(slots=True)
class _Call(Generic[C]):
    """One call of a request. ``raw_input`` is a refusal when the request's inputs can't be read."""

    name: str
    compiled: _Compiled[C] | None
    refusal: Refusal | None = None
    raw_input: bytes | Refusal | None = None

    @property
    def is_costly(self) -> bool:
        return self.compiled is not None and self.compiled.row.is_costly


# The request.


def _check_media_type(request: Request) -> None:
    """A form on another site can POST, but not as JSON: that is why no other type is accepted."""
    if request.method == "GET":
        return
    value = request.headers.get("content-type")
    if value is None:
        raise Refusal("Missing content-type header", code="unsupported_media_type")
    if value.partition(";")[0].strip().lower() != JSON:
        raise Refusal(f'Unsupported content-type "{value}', code="unsupported_media_type")  # the words of tRPC


def _wants_stream(request: Request) -> bool:
    return JSONL in (request.headers.get("trpc-accept"), request.headers.get("accept"))


def _check_connection_params(query: Mapping[str, str]) -> None:
    """Check the parameters that a client sends where it can't set headers. Nothing here uses them, but they have a
    fixed form."""
    said = query.get("connectionParams")
    if said is None:
        return
    try:
        _connection_params.decode(said)
    except (msgspec.ValidationError, UnicodeError) as error:
        raise Refusal("Invalid connection params shape", code="unparsable") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise Refusal("Not JSON-parsable query params", code="unparsable") from error


_connection_params: Final = msgspec.json.Decoder(dict[str, str] | None)


def _resumed(raw: bytes | Refusal | None, request: Request, query: Mapping[str, str]) -> bytes | Refusal | None:
    """The input of a subscription that resumes after the last event that its client received."""
    last = request.headers.get("last-event-id") or query.get(_LAST_EVENT_ID) or query.get("Last-Event-Id")
    if last is None or isinstance(raw, Refusal):
        return raw
    fields = {} if raw is None else _decode(_fields_decoder.decode, raw)
    return msgspec.json.encode({**fields, _LAST_EVENT_ID: last.encode("utf-8", "replace").decode()})


def _common_kind(calls: Sequence[_Call[C]]) -> ProcedureKind | None:
    kinds = list(dict.fromkeys(call.compiled.row.kind for call in calls if call.compiled is not None))
    if len(kinds) > 1:
        raise Invalid(f"Cannot mix procedure types in call: {', '.join(kinds)}")
    return kinds[0] if kinds else None


async def _give_inputs(
    calls: Sequence[_Call[C]], request: Request, query: Mapping[str, str], *, is_batch: bool
) -> None:
    """Read the request's input and give each call its part. An unreadable part is the failure of its call alone."""
    if request.method == "GET":
        data = query.get("input", "").encode("utf-8", "replace")
    elif is_batch:
        data = await request.read(BODY_MAX_BYTES)
    else:
        try:
            data = await request.read(BODY_MAX_BYTES)
        except Refusal as refusal:
            calls[0].raw_input = refusal
            return
    if not is_batch:
        calls[0].raw_input = data or None
        return
    try:
        inputs = _decode(_decode_inputs, data or _NO_FIELDS)
    except Invalid as refusal:
        for call in calls:
            call.raw_input = refusal
        return
    for call, raw in zip(calls, inputs, strict=False):
        call.raw_input = None if raw is None else bytes(raw)


_fields_decoder: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_inputs_decoder: Final = msgspec.json.Decoder(
    # A field for each call that a batch may have: all else is passed over, without an object for each of its keys.
    msgspec.defstruct(
        "_Inputs", [(f"_{at}", msgspec.Raw, msgspec.field(name=str(at), default=None)) for at in range(BATCH_MAX_CALLS)]
    )
)


def _decode_inputs(data: bytes) -> tuple[msgspec.Raw | None, ...]:
    """The input of each call, by its position."""
    try:
        return msgspec.structs.astuple(_inputs_decoder.decode(data))
    except msgspec.ValidationError as error:
        raise Invalid('"input" needs to be an object when doing a batch call') from error


T = TypeVar("T")


def _decode(decode: Callable[[bytes], T], data: bytes) -> T:
    try:
        return decode(data)
    except msgspec.DecodeError as error:
        raise Invalid(_HALF_A_PAIR if _ends_after_half_a_pair(data) else str(error)) from error
    except UnicodeDecodeError as error:
        raise Invalid("The input is not UTF-8.") from error
    except RecursionError as error:
        raise Invalid("The input is nested too deeply.") from error


def _ends_after_half_a_pair(data: bytes) -> bool:
    """Whether the last characters of a text that could not be decoded are half of a surrogate pair and what closes the
    text. msgspec calls such a text truncated, because it has no room for the other half."""
    found = _HALF_AT_THE_END.search(data[-_TAIL_BYTES:])
    return found is not None and _BEGUN_ESCAPE.fullmatch(found[1]) is None


_HALF_A_PAIR: Final = "The input has half of a surrogate pair."
_TAIL_BYTES: Final = 32
_HALF_AT_THE_END: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}(.{0,5})\Z", re.DOTALL)
_BEGUN_ESCAPE: Final = re.compile(rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?")


# The calls and the answer.


async def _while_wanted(answer: Callable[[], Awaitable[Response]], *, gone: Callable[[], Awaitable[None]]) -> Response:
    """The answer. Its making is cancelled if the client closes the connection; the returned response is then never
    read."""
    response = Response(status=_CLIENT_GONE)

    async with trio.open_nursery() as nursery:

        async def watch() -> None:
            await gone()
            nursery.cancel_scope.cancel()

        nursery.start_soon(watch)
        response = await answer()
        nursery.cancel_scope.cancel()
    return response


async def _perform_all(
    calls: Sequence[_Call[C]], perform: Callable[[_Call[C]], Awaitable[Outcome]], *, width: int
) -> list[Outcome]:
    """The outcomes of all calls, in order."""
    outcomes: dict[int, Outcome] = {}

    async def keep(position: int, outcome: Outcome) -> None:
        outcomes[position] = outcome

    await _tell_all(calls, perform, keep, width=width)
    return [outcomes[position] for position in range(len(calls))]


async def _tell_all(
    calls: Sequence[_Call[C]],
    perform: Callable[[_Call[C]], Awaitable[Outcome]],
    tell: Callable[[int, Outcome], Awaitable[None]],
    *,
    width: int,
) -> None:
    """Pass on each call's outcome as soon as it is known. At most ``width`` calls run at once: one for mutations, which
    take effect in order."""
    remaining = iter(enumerate(calls))

    async def work() -> None:
        for position, call in remaining:
            await tell(position, await perform(call))

    if min(width, len(calls)) == 1:
        await work()
    else:
        async with trio.open_nursery() as nursery:
            for _ in range(min(width, len(calls))):
                nursery.start_soon(work)
