"""The routes of the escrow service. Those under ``/v1/`` check the credential in the transaction that serves the call,
so a credential that was just disabled is refused. Another tenant's key looks as if it did not exist."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from svc.control_plane.credentials import Cell, cell_of
from svc.control_plane.database import Rows
from svc.control_plane.keys import (
    AUDIT_MAX_ROWS,
    AUDIT_ROWS,
    Action,
    Outcome,
    audit_of,
    current_key,
    note,
    store_key,
)
from svc.control_plane.metrics import metrics
from svc.control_plane.plane import Plane, refused_token
from svc.control_plane.wire import Audit, NewKey, WrappedKey
from svc.errors import Conflict, Invalid, NotFound, Refusal, Unavailable
from svc.protocol import Request, Response, Route, Wire, json_response

T = TypeVar("T")

BODY_MAX_BYTES: Final = 32 * 1024
"""The body of a request: a wrapped key and its fields. Beyond: 413 `too_large`."""
WRAPPED_MAX_CHARS: Final = 16 * 1024
"""A wrapped key as text. Beyond: 400 `invalid`."""
_LAST_VERSION: Final = 2**53 - 1
PURPOSE: Final = "master-key"

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_KMS_KEY: Final = re.compile(r"[!-~]{1,2048}")
_ETAG: Final = re.compile(r'"?([1-9][0-9]{0,15})"?')


class State(Wire, frozen=True):
    status: str
    checks: dict[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class _Done:
    """The result of a transaction. The audit records it, whether or not it is what the cell wanted."""

    outcome: Outcome
    version: int | None = None
    value: object = None


async def get_key(plane: Plane, request: Request) -> Response:
    def find(connection: Rows, cell: Cell) -> _Done:
        key = current_key(connection, cell.tenant_id)
        return _Done(outcome="missing") if key is None else _Done(outcome="ok", version=key.version, value=key)

    key = await _served(plane, request, "key.get", find, WrappedKey)
    return _keyed(key, status=200)


async def put_key(plane: Plane, request: Request) -> Response:
    with plane.call(request) as token:
        expected = _expected(request)
        key = _new_key(await request.read_json(BODY_MAX_BYTES))
        if key.version <= expected:
            raise Conflict("A version never goes backwards.", data={"version": expected})
        if key.version != expected + 1:
            raise Invalid(f"The next version is {expected + 1}.")

        def store(connection: Rows, cell: Cell) -> _Done:
            _fits(key, cell)
            if not store_key(connection, cell, key):
                return _Done(outcome="late", value=current_key(connection, cell.tenant_id))
            return _Done(outcome="ok", version=key.version, value=current_key(connection, cell.tenant_id))

        stored = await _in_transaction(plane, request, token, "key.put", store, WrappedKey)
    return _keyed(stored, status=201 if expected == 0 else 200)


async def get_audit(plane: Plane, request: Request) -> Response:
    query = request.query()
    limit = _number(query.get("limit"), otherwise=AUDIT_ROWS, most=AUDIT_MAX_ROWS) or AUDIT_ROWS
    before = _number(query.get("before"), otherwise=None, most=2**63 - 1)

    def read(connection: Rows, cell: Cell) -> _Done:
        return _Done(outcome="ok", value=audit_of(connection, cell.tenant_id, before=before, limit=limit))

    return json_response(await _served(plane, request, "audit.get", read, Audit))


async def livez(plane: Plane, request: Request) -> Response:
    return json_response(State(status="ok"))


async def readyz(plane: Plane, request: Request) -> Response:
    """Answers 503 from the stop signal on, and while the database is away or read-only."""
    if plane.draining:
        return json_response(State(status="draining"), status=503)
    try:
        await plane.database.look()
    except Unavailable:
        return json_response(State(status="failed", checks={"database": "failed"}), status=503)
    return json_response(State(status="ready", checks={"database": "ok"}))


async def _served(
    plane: Plane, request: Request, action: Action, work: Callable[[Rows, Cell], _Done], answer: type[T]
) -> T:
    with plane.call(request) as token:
        return await _in_transaction(plane, request, token, action, work, answer)


async def _in_transaction(
    plane: Plane, request: Request, token: str, action: Action, work: Callable[[Rows, Cell], _Done], answer: type[T]
) -> T:
    """Runs ``work`` for the cell of the token, and writes the line of the audit, in one transaction."""
    tenant_id = request.params["tenantId"]

    def serve(connection: Rows) -> tuple[Cell | None, _Done]:
        cell = cell_of(connection, token)
        if cell is None:
            return None, _Done(outcome="disabled")
        if cell.disabled:
            done = _Done(outcome="disabled")
        elif cell.tenant_id != tenant_id:
            done = _Done(outcome="other-tenant")
        else:
            done = work(connection, cell)
        note(connection, cell, action, done.outcome, version=done.version, request_id=request.id)
        return cell, done

    cell, done = await plane.database.run(serve)
    plane.heard(request, token, let_in=cell is not None and not cell.disabled)
    plane.outcomes[action, "unknown-token" if cell is None else done.outcome] += 1
    if done.outcome == "ok" and isinstance(done.value, answer):
        return done.value
    raise _refusal(cell, done)


def _refusal(cell: Cell | None, done: _Done) -> Refusal:
    if cell is None or done.outcome == "disabled":
        return refused_token()
    if done.outcome == "late":
        there = done.value.version if isinstance(done.value, WrappedKey) else 0
        return Conflict("Another version of the key is there already.", data={"version": there})
    return NotFound("There is no such key.", data={"cellId": cell.cell_id})


def _keyed(key: WrappedKey, *, status: int) -> Response:
    return json_response(key, status=status, headers=[("etag", f'"{key.version}"')])


def _expected(request: Request) -> int:
    """The current version that the precondition demands; 0 if no version may exist."""
    match, none_match = request.headers.all("if-match"), request.headers.all("if-none-match")
    if not match and none_match == ["*"]:
        return 0
    found = _ETAG.fullmatch(match[0].strip()) if len(match) == 1 and not none_match else None
    if found is None:
        raise Invalid("Say which version this replaces: If-Match: <version>, or If-None-Match: * for the first.")
    return int(found[1])


def _new_key(body: object) -> NewKey:
    try:
        key = msgspec.convert(body, NewKey)
    except msgspec.ValidationError as error:
        raise Invalid(f"The key does not fit: {error}") from None
    if len(key.wrapped_key) > WRAPPED_MAX_CHARS or not _BASE64.fullmatch(key.wrapped_key):
        raise Invalid(f"wrappedKey is base64 of at most {WRAPPED_MAX_CHARS} letters.")
    if not _KMS_KEY.fullmatch(key.kms_key_id) or key.kms_key_id.startswith("alias/") or ":alias/" in key.kms_key_id:
        raise Invalid("kmsKeyId is the ARN of a key, and no alias: an alias may come to mean another key.")
    if not 1 <= key.version <= _LAST_VERSION:
        raise Invalid("version is a whole number from 1 on.")
    return key


def _fits(key: NewKey, cell: Cell) -> None:
    """Checks the encryption context, which binds the key to its tenant and cell: it must hold exactly these."""
    wanted = {"svc:tenant": cell.tenant_id, "svc:cell": cell.cell_id, "svc:purpose": PURPOSE}
    if key.context != wanted:
        raise Invalid(
            "The context is not that of this credential: svc:tenant, svc:cell and svc:purpose, and no more.",
            data={"cellId": cell.cell_id},
        )


def _number(value: str | None, *, otherwise: int | None, most: int) -> int | None:
    if value is None:
        return otherwise
    short = len(value) <= len(str(most))  # a number with thousands of digits is not parsed at all
    if not (short and value.isascii() and value.isdigit() and 1 <= int(value) <= most):
        raise Invalid(f"A whole number from 1 to {most} is wanted.")
    return int(value)


ROUTES: Final[tuple[Route[Plane], ...]] = (
    Route(
        method="GET",
        path="/v1/keys/:tenantId",
        access="public",
        handle=get_key,
        summary="The wrapped key of the credential's tenant; 404 where there is none, or it is another's.",
    ),
    Route(
        method="PUT",
        path="/v1/keys/:tenantId",
        access="public",
        handle=put_key,
        summary="The next version of it, by If-Match or If-None-Match; 409 where another was there first.",
    ),
    Route(
        method="GET",
        path="/v1/audit/:tenantId",
        access="public",
        handle=get_audit,
        summary="What the tenant's credentials did, the newest first.",
    ),
    Route(
        method="GET",
        path="/livez",
        access="public",
        handle=livez,
        summary="Process liveness.",
        host_exempt=True,
    ),
    Route(
        method="GET",
        path="/readyz",
        access="public",
        handle=readyz,
        summary="Readiness: 503 while the service shuts down, or while the database does not answer.",
        host_exempt=True,
    ),
    Route(
        method="GET",
        path="/metrics",
        access="public",
        handle=metrics,
        summary="Metrics for Prometheus: from this machine, or with SVC_KEY_ESCROW_METRICS_TOKEN.",
        host_exempt=True,
    ),
)
"""``access`` is a notion of the protocol, for people. The credential is checked in each call's transaction."""
