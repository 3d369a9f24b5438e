"""The outcome of a call in the form of tRPC: one envelope for a result, one for a refusal, an array for a batch.

Owns the shapes, and the headers of answers that are sent whole. ``streaming.py`` has the answers that are sent piece by
piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from svc.errors import Refusal
from svc.protocol.messages import JSON, HeaderList, Response

RETRY_AFTER: Final = "retry-after"
FIELDS: Final[HeaderList] = [
    ("content-type", JSON),
    ("cache-control", "no-store"),
    ("vary", "trpc-accept, accept"),
]

_OK: Final = 200
_MULTI_STATUS: Final = 207


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A result as JSON, or a refusal. ``path``: the name of the procedure, if the call has one."""

    data: bytes = b""
    refusal: Refusal | None = None
    path: str | None = None

    @property
    def status(self) -> int:
        return _OK if self.refusal is None else self.refusal.row.status

    def envelope(self) -> bytes:
        if self.refusal is None:
            return b'{"result":{"data":' + self.data + b"}}"
        return b'{"error":' + error_shape(self.refusal, self.path) + b"}"


def error_shape(refusal: Refusal, path: str | None = None) -> bytes:
    """What a client sees of a refusal. ``path``: the procedure that refused."""
    row = refusal.row
    data: dict[str, object] = {**refusal.data, "code": row.rpc_name, "httpStatus": row.status}
    if (wait_s := _pause_s(refusal)) is not None:
        data["retryAfter"] = wait_s  # in seconds: a stream's head is already sent, and a batch has one header for all
    if path is not None:
        data["path"] = _encodable(path)
    return msgspec.json.encode({"message": _encodable(refusal.detail), "code": row.rpc_number, "data": data})


def trpc_error_response(refusal: Refusal, path: str | None = None) -> Response:
    """The answer to a whole request that was refused, by any part: one envelope, even for a batch."""
    return single(Outcome(refusal=refusal, path=path))


def single(outcome: Outcome) -> Response:
    headers = list(FIELDS)
    if outcome.refusal is not None:
        headers += outcome.refusal.headers.items()
    return Response(status=outcome.status, headers=headers, body=outcome.envelope())


def array(outcomes: Sequence[Outcome]) -> Response:
    statuses = {outcome.status for outcome in outcomes}
    status = statuses.pop() if len(statuses) == 1 else _MULTI_STATUS
    body = b"[" + b",".join(outcome.envelope() for outcome in outcomes) + b"]"
    return Response(status=status, headers=[*FIELDS, *_pause(outcomes)], body=body)


def internal() -> Refusal:
    """The refusal that stands for a bug."""
    return Refusal("Something went wrong here. The log knows it by the request id.", code="internal")


def _pause(outcomes: Sequence[Outcome]) -> HeaderList:
    """When a whole batch may be sent again: the longest pause that any of its calls asks for."""
    refusals = [outcome.refusal for outcome in outcomes if outcome.refusal is not None]
    waits = [wait_s for refusal in refusals if (wait_s := _pause_s(refusal)) is not None]
    return [(RETRY_AFTER, str(max(waits)))] if waits else []


def _pause_s(refusal: Refusal) -> int | None:
    wait_s = refusal.headers.get(RETRY_AFTER, "")
    return int(wait_s) if wait_s.isdecimal() else None


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
