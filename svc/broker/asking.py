"""The caller of the broker: always a run, identified by the token in its header.

The internal token opens the port, but no credential. Owns the call: the run's grants, its slot among the calls in
progress, and the door that records each acquired credential.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from svc.broker.in_flight import InFlight, Slot
from svc.capabilities import Broker, Door
from svc.errors import Invalid, NotConfigured
from svc.protocol import Request
from svc.runs import RunGrant, grant_of
from svc.workspace import RequestContext, Workspace

MAX_JSON_BYTES = 64 * 1024
ACTOR = "run"

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a run."""

    workspace: Workspace
    grant: RunGrant
    door: Door

    def enter(self, request: Request) -> Slot:
        """Take its slot among the calls in progress. Raises 413 and 429."""
        declared = request.body.declared_length
        return self.workspace.service(InFlight).enter(self.grant.run_id, body_bytes=declared)

    async def demand(self, name: str, *, purpose: str) -> None:
        """Raises 403, and records it, unless the run was granted ``name``."""
        await self.door.demand(name, purpose=purpose)

    async def credential(self, name: str, *, purpose: str) -> Mapping[str, str]:
        """The fields of a credential; the acquisition is recorded. Raises 403 and 501."""
        stored = await self.door.acquire(name, purpose=purpose)
        if stored is None:
            raise NotConfigured(f"There is no credential {name}.", data={"reason": "not_configured"})
        row = self.door.broker.capabilities.get(name)
        return row.decode(stored) if row is not None else {"value": stored.decode()}


async def call_of(context: RequestContext, request: Request) -> Call:
    """The call of the run whose token the request carries. Raises 403."""
    workspace = context.workspace
    grant = await grant_of(workspace, request)
    broker = workspace.service(Broker)
    door = broker.door_for_run(ACTOR, run_id=grant.run_id, grants=grant.grants)
    return Call(workspace=workspace, grant=grant, door=door)


async def wanted(request: Request, kind: type[T], *, limit_bytes: int = MAX_JSON_BYTES) -> T:
    """The request's body, checked."""
    try:
        return msgspec.convert(await request.read_json(limit_bytes), kind)
    except msgspec.ValidationError as error:
        raise Invalid(f"The body is not what is asked for here: {error}.") from None
