"""A write of the store that is done once for its key."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Annotated, Concatenate, ParamSpec, TypeVar

import msgspec

from svc.errors import Conflict
from svc.idempotency.keys import Used, use, used
from svc.principal import Principal
from svc.protocol import Wire
from svc.store import Tx
from svc.workspace import RequestContext

P = ParamSpec("P")
T = TypeVar("T")

Key = Annotated[str, msgspec.Meta(min_length=16, max_length=100, pattern=r"^[A-Za-z0-9._~-]+$")]


class Repeatable(Wire, frozen=True):
    """An input that may be sent more than once. ``idempotency_key``: the client's own name for this one action, random
    enough to be unique. If it is sent again with the same input, the answer is the first one, and nothing is done
    again."""

    idempotency_key: Key | None = None


async def write(
    context: RequestContext,
    procedure: str,
    wanted: Repeatable,
    result: type[T],
    action: Callable[Concatenate[Tx, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Runs ``action`` as :meth:`Store.write` does; if the key of ``wanted`` was used before, returns the result of that
    time. ``result`` is the type of what the action returns; JSON must be able to hold it. Raises :class:`Conflict` if
    the key was used for something else, and whatever the action raises; the key is then not used."""
    key = wanted.idempotency_key
    if key is None:
        return await context.workspace.store.write(action, *args, **kwargs)
    fingerprint = hashlib.sha256(procedure.encode() + b"\n" + msgspec.json.encode(wanted)).digest()
    return await context.workspace.store.write(
        _once, context.principal, key, fingerprint, result, lambda tx: action(tx, *args, **kwargs)
    )


def _once(tx: Tx, principal: Principal, key: str, fingerprint: bytes, result: type[T], action: Callable[[Tx], T]) -> T:
    known = used(tx, principal, key)
    if known is None:
        came = action(tx)
        use(tx, principal, key, Used(fingerprint, msgspec.json.encode(came)))
        return came
    if known.fingerprint != fingerprint:
        raise Conflict("This idempotency key was used for something else.")
    return msgspec.json.decode(known.result, type=result)
