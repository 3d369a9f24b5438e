"""What the two planes agree on: numbers, names and paths that both of them use. Owns nothing else."""

from __future__ import annotations

from typing import Final

from svc.clock import SECOND_MS

PROTOCOL: Final = 1
"""The version of the protocol between the planes. Another number is refused."""
HANDSHAKE_PATH: Final = "/internal/broker/handshake"
BROKER_PATH: Final = "/internal/broker"
CALL_PATH: Final = "/internal/broker/rpc"
STEP_PATH: Final = "/.well-known/workflow/v1/step"
FLOW_PATH: Final = "/.well-known/workflow/v1/flow"
RUN_HEADER: Final = "x-svc-run"

SLEEP: Final = "runs.sleep"
CHILD: Final = "runs.child"
APPROVAL: Final = "approvals.request"
BEGUN: Final = "runs.begun"
"""The calls above are open to each run."""

HEARTBEAT_S: Final = 10.0
"""How often a worker reports the runs that it holds; each report renews their leases."""
INLINE_PAUSE_MS: Final = 5 * SECOND_MS
"""A worker waits out a pause up to this length; for a longer pause it releases the run."""
DIVERGED: Final = "Diverged"
"""An error type: the code does something else than it did when the run began."""


def diverged(key: str) -> str:
    """The message for a step whose key now belongs to a different step."""
    return f"The step {key} was another when this run began. Its code was changed without a new version."
