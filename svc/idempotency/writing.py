"""An action of the store that is done once for its key."""

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
    """An input that may be said more than once. ``idempotency_key``: the client's own name for this one action, random
    enough to be nobody else's. Said again with the same input it is answered as the first time, and done once."""

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
    """Run ``action`` as :meth:`Store.write` does; where ``wanted`` has a key that was used, return what came of it
    then. ``result`` is what the action returns, and what JSON can hold. Raises :class:`Conflict` where the key was used
    for something else, and whatever the action raises, which leaves the key unused."""
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
