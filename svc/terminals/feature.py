"""The rows that terminals contribute."""

from __future__ import annotations

from collections.abc import Sequence

from svc.feature import Feature
from svc.nursery import Subsystem
from svc.protocol import SocketRoute
from svc.store import Tx
from svc.switches import TERMINALS, is_on
from svc.terminals.checks import CHECKS
from svc.terminals.procedures import PROCEDURES
from svc.terminals.running_terminals import CLAIMED, DRAIN_S, TOPIC, Terminals
from svc.terminals.settings import SETTINGS
from svc.terminals.socket import pty
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    workspace.provide(Terminals.of(workspace))


def _claim(tx: Tx, user_id: str) -> None:
    """Publishes the claim within the service; clients can't subscribe to this topic."""
    tx.emit(topic=TOPIC, kind=CLAIMED, id=user_id, audience=None)


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    if not is_on(workspace.config, TERMINALS):
        return []
    run = workspace.service(Terminals).run
    return [Subsystem(name="terminals", run=run, independent=True, drain_s=DRAIN_S)]


FEATURE = Feature(
    name="terminals",
    summary="Shells on this machine in the browser, for admins.",
    settings=SETTINGS,
    sockets=(
        SocketRoute(
            path="/pty",
            access="terminal",
            handle=pty,
            summary="A terminal: a new one, or with `session` one that runs.",
        ),
    ),
    procedures=PROCEDURES,
    checks=CHECKS,
    claim=_claim,
    build=_build,
    subsystems=_subsystems,
)
