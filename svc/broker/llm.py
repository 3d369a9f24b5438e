"""``/internal/broker/llm-a/v1/*`` and ``llm-b``: a vendor's own API, with the key added by the broker."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import msgspec

from svc.broker import headers
from svc.broker.asking import Call, call_of
from svc.broker.forwarding import NoAnswer, Passing, Streamed, forwarded
from svc.broker.in_flight import MAX_BODY_BYTES, InFlight, Slot
from svc.broker.redaction import Redactor
from svc.broker.usage import Usage, reader_for
from svc.broker.vendors import VENDORS, Outgoing, Vendor, Vendors
from svc.errors import NotConfigured, Refusal
from svc.models import Models, Reserved, release, reserve, settle
from svc.protocol import Request, Response, Route
from svc.protocol.rows import Method
from svc.runs import count_tokens
from svc.store import Tx
from svc.workspace import RequestContext

PREFIX: Final = "/internal/broker"
_SEGMENTS_BEFORE: Final = len(f"{PREFIX}/llm-a".split("/"))
_METHODS: Final[tuple[Method, ...]] = ("GET", "POST", "DELETE")
UNSAID_TOKENS: Final = 4_096
"""Output tokens assumed for a call without a limit, for the ceiling."""
MOST_TOKENS: Final = 1_000_000
BYTES_A_TOKEN: Final = 3
"""Bytes of a body per token, for the ceiling: rather too many tokens are counted than too few."""
MAX_MODEL_CHARS: Final = 200
_SUCCESSES: Final = range(200, 300)
_NONE_SET: Final = "none"
"""The key given to a stand-in if there is none. It is too short to be masked in an answer."""


async def ask(vendor: Vendor, context: RequestContext, request: Request) -> Response:
    call = await call_of(context, request)
    with (slot := call.enter(request)):
        passed = headers.of_call(request.headers, allowed=vendor.passes)
        path = "/" + "/".join(request.raw_path.split("/")[_SEGMENTS_BEFORE:])
        body = await request.read(MAX_BODY_BYTES)
        key = await _key(call, vendor)
        reserved = await _reserved(call, vendor, body) if path in vendor.costs else None
        outgoing = Outgoing(
            vendor=vendor.name,
            method=request.method,
            target=f"{path}?{request.raw_query}" if request.raw_query else path,
            headers={**passed, vendor.header: vendor.form.format_map(key)},
            body=body,
        )
        redactor = Redactor(key.values())
        try:
            return await forwarded(
                partial(call.workspace.service(Vendors).send, outgoing),
                redactor=redactor,
                shown=vendor.answers,
                passing=partial(_passing, call, slot, redactor, reserved=reserved),
            )
        except Refusal as refusal:
            may_charge = isinstance(refusal, NoAnswer) and refusal.was_asked  # its answer may have got lost
            if reserved is not None and not may_charge:
                await call.workspace.store.write(release, reserved)
            raise


async def _key(call: Call, vendor: Vendor) -> Mapping[str, str]:
    try:
        return await call.credential(vendor.capability, purpose=f"llm-{vendor.name}")
    except NotConfigured:
        own_server = vendor.name == "b" and call.workspace.service(Models).b_is_elsewhere
        if call.workspace.service(Vendors).want_keys and not own_server:
            raise
        return {"value": _NONE_SET}


class _Costs(msgspec.Struct):
    """The fields of a call that determine its cost."""

    model: str = ""
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    max_output_tokens: int | None = None


async def _reserved(call: Call, vendor: Vendor, body: bytes) -> Reserved:
    """Reserve the most that the call may cost, before it is sent. Raises 403 if that passes a ceiling."""
    try:
        said = msgspec.json.decode(body, type=_Costs)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        said = _Costs()  # let the vendor refuse it in its own words
    most = said.max_tokens or said.max_completion_tokens or said.max_output_tokens or UNSAID_TOKENS
    return await call.workspace.store.write(
        reserve,
        call.grant.run_id,
        user_id=call.grant.principal.user_id,
        model=said.model[:MAX_MODEL_CHARS],
        price=call.workspace.service(Models).price(f"{vendor.name}/{said.model}"),
        input_tokens=-(-len(body) // BYTES_A_TOKEN),
        output_tokens=min(max(most, 0), MOST_TOKENS),
    )


def _passing(call: Call, slot: Slot, redactor: Redactor, answer: Streamed, *, reserved: Reserved | None) -> Passing:
    """The body of our answer. The cost is counted as far as the answer reports it; a refused call costs nothing."""
    is_counted = reserved is not None

    async def settle(usage: Usage) -> None:
        await call.workspace.store.write(_settle, call.grant.run_id, reserved, answer.status, usage)

    return Passing(
        answer=answer,
        redactor=redactor,
        slot=slot,
        in_flight=call.workspace.service(InFlight),
        reader=reader_for(answer.headers.get("content-type") or "") if is_counted else None,
        settle=settle if is_counted else None,
    )


def _settle(tx: Tx, run_id: str, reserved: Reserved | None, status: int, usage: Usage) -> None:
    assert reserved is not None, "it costs"
    if status not in _SUCCESSES:
        release(tx, reserved)
        return
    settle(tx, reserved, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
    if usage.is_known:
        count_tokens(tx, run_id, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)


ROUTES: Final[tuple[Route[RequestContext], ...]] = tuple(
    Route(
        method=method,
        path=f"{PREFIX}/llm-{vendor.name}/v1/*path",
        access="authenticated",
        handle=partial(ask, vendor),
        summary=f"Model vendor {vendor.name.upper()}'s own API, with the key put in.",
        listener="internal",
    )
    for vendor in VENDORS
    for method in _METHODS
)
