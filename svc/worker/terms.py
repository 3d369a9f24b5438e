"""What the two planes have agreed on: numbers, names and paths that both of them use. Owns nothing else."""

from __future__ import annotations

from typing import Final

from svc.clock import SECOND_MS

PROTOCOL: Final = 1
"""What the two planes speak. Another number is refused."""
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
"""Calls that each run may use."""

HEARTBEAT_S: Final = 10.0
"""A worker says this often which runs it holds; each time their leases begin anew."""
INLINE_PAUSE_MS: Final = 5 * SECOND_MS
"""A worker waits out a pause up to this; for a longer one it lets go of the run."""
DIVERGED: Final = "Diverged"
"""The type of an error: the code does something else than it did when the run began."""


def diverged(key: str) -> str:
    """What is said where the step with that key is another now."""
    return f"The step {key} was another when this run began. Its code was changed without a new version."
