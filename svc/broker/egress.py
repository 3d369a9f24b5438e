"""``/internal/broker/egress``: one call to a host that a credential is declared for, with the credential added.

The run never decides where a credential goes: the allowed hosts are in the row of the capability, and the connection
goes to an address that was checked to be public. A redirect is returned and not followed.
"""

from __future__ import annotations

import base64
import binascii
from string import Formatter
from typing import Final, Literal

from svc.broker import headers
from svc.broker.asking import Call, call_of, wanted
from svc.broker.forwarding import refuse
from svc.broker.in_flight import MAX_BODY_BYTES
from svc.broker.llm import PREFIX
from svc.broker.outside import Outside
from svc.broker.redaction import Redactor
from svc.capability import Reach
from svc.errors import Forbidden, Invalid
from svc.protocol import Headers, Request, Response, Route, Wire, json_response
from svc.protocol.pinned import PinnedAnswer, PinnedFault, pinned_url
from svc.workspace import RequestContext

DEADLINE_S: Final = 60.0
MAX_ANSWER_BYTES: Final = 8 << 20
_CALL_HEADERS: Final = frozenset(
    {"if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "range", "prefer"}
)
_ANSWER_HEADERS: Final = frozenset(
    {"content-language", "content-range", "date", "etag", "last-modified", "link", "location", "x-request-id"}
)
_ANSWER_PREFIXES: Final = ("x-ratelimit-", "ratelimit")


class EgressInput(Wire, frozen=True):
    """``body`` is text, ``bodyBase64`` bytes; at most one of them."""

    capability: str
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    url: str
    headers: dict[str, str] = {}
    body: str | None = None
    body_base64: str | None = None

    def content(self) -> bytes:
        if self.body is not None and self.body_base64 is not None:
            raise Invalid("A call has body or bodyBase64, not both.")
        if self.body_base64 is None:
            return (self.body or "").encode()
        try:
            return base64.b64decode(self.body_base64, validate=True)
        except binascii.Error:
            raise Invalid("bodyBase64 is not base64.") from None


class EgressOut(Wire, frozen=True, omit_defaults=True):
    """``body`` if the answer is UTF-8, else ``bodyBase64``."""

    status: int
    headers: dict[str, str]
    body: str | None = None
    body_base64: str | None = None


async def egress(context: RequestContext, request: Request) -> Response:
    call = await call_of(context, request)
    slot = call.enter(request)
    try:
        asked = await wanted(request, EgressInput, limit_bytes=MAX_BODY_BYTES)
        return json_response(await _answered(call, asked))
    finally:
        slot.leave()


async def _answered(call: Call, asked: EgressInput) -> EgressOut:
    await call.demand(asked.capability, purpose="egress")
    host, reach = _checked(call, asked)
    content = asked.content()
    given = Headers([(name.lower(), value) for name, value in asked.headers.items()])
    passed = headers.of_call(given, allowed=_CALL_HEADERS | set(reach.passes))
    value = await call.credential(asked.capability, purpose=f"egress {host}")
    fields = [name for _, name, _, _ in Formatter().parse(reach.form) if name]
    redactor = Redactor(value[name] for name in fields)
    try:
        answer = await call.workspace.service(Outside).pinned.request(
            asked.method,
            asked.url,
            headers={**passed, reach.header: reach.form.format_map(value)},
            body=content,
            deadline_s=DEADLINE_S,
            limit_bytes=MAX_ANSWER_BYTES,
        )
    except PinnedFault as fault:
        refuse(fault, redactor=redactor)
    return _out(answer, redactor)


def _checked(call: Call, asked: EgressInput) -> tuple[str, Reach]:
    """The host, if the capability is declared for it. Raises 400 and 403."""
    row = call.door.broker.capabilities.get(asked.capability)
    reach = row.reach if row is not None else None
    try:
        host = pinned_url(asked.url).host
    except PinnedFault as fault:
        raise Invalid(f"The URL can't be asked: {fault.detail}.") from None
    if reach is None or host not in reach.hosts:
        raise Forbidden(f"{asked.capability} is not declared for {host}.", data={"reason": "not_granted"})
    return host, reach


def _out(answer: PinnedAnswer, redactor: Redactor) -> EgressOut:
    fields: dict[str, str] = {}
    for name, value in headers.of_answer(answer.headers, allowed=_ANSWER_HEADERS, prefixes=_ANSWER_PREFIXES):
        shown = redactor.text(value)
        fields[name] = f"{fields[name]}, {shown}" if name in fields else shown
    body = redactor.whole(answer.body)
    try:
        return EgressOut(status=answer.status, headers=fields, body=body.decode())
    except UnicodeDecodeError:
        return EgressOut(status=answer.status, headers=fields, body_base64=base64.b64encode(body).decode())


ROUTES: Final[tuple[Route[RequestContext], ...]] = (
    Route(
        method="POST",
        path=f"{PREFIX}/egress",
        access="authenticated",
        handle=egress,
        summary="One call to a host that a credential is declared for, with the credential put in.",
        listener="internal",
    ),
)
