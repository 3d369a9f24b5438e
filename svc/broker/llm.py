"""``/internal/broker/llm-a/v1/*`` and ``llm-b``: a vendor's own API, with the key put in on the way."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from svc.broker import headers
from svc.broker.asking import Call, call_of
from svc.broker.forwarding import Passing, Streamed, forwarded
from svc.broker.in_flight import MAX_BODY_BYTES, InFlight, Slot
from svc.broker.redaction import Redactor
from svc.broker.usage import Usage, reader_for
from svc.broker.vendors import VENDORS, Outgoing, Vendor, Vendors
from svc.errors import NotConfigured
from svc.protocol import Request, Response, Route
from svc.protocol.rows import Method
from svc.runs import count_tokens
from svc.workspace import RequestContext

PREFIX: Final = "/internal/broker"
_SEGMENTS_BEFORE: Final = len(f"{PREFIX}/llm-a".split("/"))
_METHODS: Final[tuple[Method, ...]] = ("GET", "POST", "DELETE")
_SUCCESSES: Final = range(200, 300)
_NONE_SET: Final = "none"
"""What a stand-in is given for a key where there is none. Too short to be masked in an answer."""


async def ask(vendor: Vendor, context: RequestContext, request: Request) -> Response:
    call = await call_of(context, request)
    with (slot := call.enter(request)):
        passed = headers.of_call(request.headers, allowed=vendor.passes)
        path = "/" + "/".join(request.raw_path.split("/")[_SEGMENTS_BEFORE:])
        body = await request.read(MAX_BODY_BYTES)
        key = await _key(call, vendor)
        outgoing = Outgoing(
            vendor=vendor.name,
            method=request.method,
            target=f"{path}?{request.raw_query}" if request.raw_query else path,
            headers={**passed, vendor.header: vendor.form.format_map(key)},
            body=body,
        )
        redactor = Redactor(key.values())
        return await forwarded(
            partial(call.workspace.service(Vendors).send, outgoing),
            redactor=redactor,
            shown=vendor.answers,
            passing=partial(_passing, call, slot, redactor, costs=path in vendor.costs),
        )


async def _key(call: Call, vendor: Vendor) -> Mapping[str, str]:
    try:
        return await call.credential(vendor.capability, purpose=f"llm-{vendor.name}")
    except NotConfigured:
        if call.workspace.service(Vendors).want_keys:
            raise
        return {"value": _NONE_SET}


def _passing(call: Call, slot: Slot, redactor: Redactor, answer: Streamed, *, costs: bool) -> Passing:
    """A call that costs is counted, as far as its answer says how much."""
    is_counted = costs and answer.status in _SUCCESSES

    async def settle(usage: Usage) -> None:
        if usage.is_known:
            await call.workspace.store.write(
                count_tokens, call.grant.run_id, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens
            )

    return Passing(
        answer=answer,
        redactor=redactor,
        slot=slot,
        in_flight=call.workspace.service(InFlight),
        reader=reader_for(answer.headers.get("content-type") or "") if is_counted else None,
        settle=settle if is_counted else None,
    )


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
