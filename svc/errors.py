"""Refusals: every code with which the service says no, and the one table with its wording for each protocol.

Owns the codes. A :class:`Refusal` is meant for the person who asked. Any other exception is a bug: it is logged in full
and shown as ``internal``. Nothing here knows HTTP framing or tRPC envelopes, only their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True)
class ErrorRow:
    """The form of one code: HTTP status and title, tRPC name and JSON-RPC number, WebSocket close code."""

    status: int
    title: str
    rpc_name: str
    rpc_number: int
    close_code: int


ERRORS: Final[Mapping[str, ErrorRow]] = MappingProxyType(
    {
        "invalid": ErrorRow(400, "Bad Request", "BAD_REQUEST", -32600, 1008),
        "unauthenticated": ErrorRow(401, "Unauthorized", "UNAUTHORIZED", -32001, 4401),
        "forbidden": ErrorRow(403, "Forbidden", "FORBIDDEN", -32003, 4403),
        "not_found": ErrorRow(404, "Not Found", "NOT_FOUND", -32004, 4404),
        "method_not_allowed": ErrorRow(405, "Method Not Allowed", "METHOD_NOT_SUPPORTED", -32005, 1008),
        "conflict": ErrorRow(409, "Conflict", "CONFLICT", -32009, 1008),
        "too_large": ErrorRow(413, "Content Too Large", "PAYLOAD_TOO_LARGE", -32013, 1009),
        "unsupported_media_type": ErrorRow(415, "Unsupported Media Type", "UNSUPPORTED_MEDIA_TYPE", -32015, 1003),
        "rate_limited": ErrorRow(429, "Too Many Requests", "TOO_MANY_REQUESTS", -32029, 1013),
        "checksum_mismatch": ErrorRow(460, "Checksum Mismatch", "BAD_REQUEST", -32600, 1008),
        "internal": ErrorRow(500, "Internal Server Error", "INTERNAL_SERVER_ERROR", -32603, 1011),
        "not_configured": ErrorRow(501, "Not Implemented", "NOT_IMPLEMENTED", -32603, 1011),
        "unavailable": ErrorRow(503, "Service Unavailable", "SERVICE_UNAVAILABLE", -32603, 1013),
        # tRPC's own code for what a client sends beside the input of a call.
        "unparsable": ErrorRow(400, "Bad Request", "PARSE_ERROR", -32700, 1008),
        # Answers of the protocol itself: HTTP statuses, with their reason phrase in snake_case.
        "request_timeout": ErrorRow(408, "Request Timeout", "TIMEOUT", -32008, 1008),
        "precondition_failed": ErrorRow(412, "Precondition Failed", "PRECONDITION_FAILED", -32012, 1008),
        "uri_too_long": ErrorRow(414, "URI Too Long", "BAD_REQUEST", -32600, 1008),
        "range_not_satisfiable": ErrorRow(416, "Range Not Satisfiable", "BAD_REQUEST", -32600, 1008),
        "misdirected_request": ErrorRow(421, "Misdirected Request", "BAD_REQUEST", -32600, 1008),
        "upgrade_required": ErrorRow(426, "Upgrade Required", "BAD_REQUEST", -32600, 1008),
        "request_header_fields_too_large": ErrorRow(
            431, "Request Header Fields Too Large", "BAD_REQUEST", -32600, 1008
        ),
        "not_implemented": ErrorRow(501, "Not Implemented", "NOT_IMPLEMENTED", -32603, 1011),
        "bad_gateway": ErrorRow(502, "Bad Gateway", "BAD_GATEWAY", -32603, 1011),
        "gateway_timeout": ErrorRow(504, "Gateway Timeout", "GATEWAY_TIMEOUT", -32603, 1011),
        "version_not_supported": ErrorRow(505, "HTTP Version Not Supported", "BAD_REQUEST", -32600, 1002),
        "insufficient_storage": ErrorRow(507, "Insufficient Storage", "SERVICE_UNAVAILABLE", -32603, 1013),
    }
)


class Refusal(Exception):
    """The service refuses a request, with a reason that the caller may read.

    ``code`` is a key of :data:`ERRORS`. ``detail`` is one sentence. ``headers`` are added for HTTP (``allow``,
    ``retry-after``), with lower-case names. ``data`` is what a client needs to continue (the current revision of a
    conflict).
    """

    code: str = "invalid"

    def __init__(
        self,
        detail: str = "",
        *,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
        data: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        if code is not None:
            self.code = code
        self.row: ErrorRow = ERRORS[self.code]
        self.detail = detail or self.row.title
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in (headers or {}).items()}
        self.data: Mapping[str, object] = data or {}


class Invalid(Refusal):
    code = "invalid"


class Unauthenticated(Refusal):
    code = "unauthenticated"


class Forbidden(Refusal):
    code = "forbidden"


class NotFound(Refusal):
    """The object is missing, or the caller may not see it. The caller can't tell which."""

    code = "not_found"


class Conflict(Refusal):
    code = "conflict"


class TooLarge(Refusal):
    code = "too_large"


class NotConfigured(Refusal):
    code = "not_configured"


class Unavailable(Refusal):
    """It may work later: the service is draining, the disk is full, or a peer does not answer."""

    code = "unavailable"
