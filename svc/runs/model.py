"""The records of runs, and their limits. Their states are in ``states.py``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from svc.backoff import Retries
from svc.clock import DAY_MS, MINUTE_MS, SECOND_MS, Millis
from svc.runs.states import RunState
from svc.workflow import StepKind

TOPIC: Final = "runs"

LEASE_MS: Final = MINUTE_MS
"""The length of a lease. It begins anew each time the worker reports that it holds the run (``HEARTBEAT_S``)."""
ON_ITS_WAY_MS: Final = 30 * SECOND_MS
"""The time from leasing a run until its worker must report it."""
MAX_FRUITLESS: Final = 5
"""A run fails after this many starts without a new finished step; else it would be started forever."""
MAX_ATTEMPTS: Final = 6
RETRIES: Final = Retries(first_s=1.0, cap_s=600.0)
"""The pauses before a failed step is tried again."""
MAX_JSON_BYTES: Final = 256 * 1024
"""The size of one input or result. Larger data belongs in a file."""
MAX_STEPS: Final = 10_000
"""The steps of one run: all are read again when it continues after a crash. Larger work is split into children."""
MAX_NAME_CHARS: Final = 200
MAX_KEY_CHARS: Final = 500
MAX_ERROR_CHARS: Final = 1_000
MAX_DEPTH: Final = 8
"""How deep children may have children."""
KEEP_ENDED_MS: Final = 90 * DAY_MS
PAGE_ROWS: Final = 50
SHOWN_CHARS: Final = 2_000
"""Characters of one input or result where a run is shown with all its steps."""
SHOWN_CHARS_OF_A_RUN: Final = 1_000_000
"""Characters of all of them together. Steps beyond this show only very short values."""
VERY_SHORT_CHARS: Final = 64
LEASED_AT_ONCE: Final = 20

StepState = Literal["waiting", "done", "failed"]
ApprovalState = Literal["open", "approved", "declined", "expired", "cancelled"]


@dataclass(frozen=True, kw_only=True)
class RunRow:
    """``input`` is JSON. ``user_id``: the owner; ``None`` before anybody has claimed the instance."""

    id: str
    workflow: str
    version: int
    title: str
    user_id: str | None
    state: RunState
    input: str
    parent_id: str | None
    parent_key: str | None
    calls: tuple[str, ...]
    capabilities: tuple[str, ...]
    epoch: int
    token_digest: bytes | None
    worker: str | None
    due_at: Millis | None
    fruitless: int


@dataclass(frozen=True, kw_only=True)
class StepRow:
    """``due_at``: when a timer ends, a failed step is tried again, or an approval expires."""

    key: str
    parent_key: str | None
    name: str
    kind: StepKind
    state: StepState
    input: str
    input_digest: bytes
    output: str | None
    error: str | None
    attempts: int
    due_at: Millis | None
    started_at: Millis
    ended_at: Millis | None


@dataclass(frozen=True, kw_only=True)
class ShownStep:
    """``input`` and ``output`` of ``step`` are cut where a size is given. The size is that of the whole value, in
    bytes.
    """

    step: StepRow
    input_bytes: int | None
    output_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class RunError:
    """Why a run or a step has failed, without a stack trace: ``type`` is a word for programs, ``message`` is a
    sentence.
    """

    type: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A run that a worker is to take, with the results so far. ``token`` gives access to what the run was granted."""

    run: RunRow
    token: str
    steps: tuple[StepRow, ...]
