"""Search by meaning on the wire."""

from __future__ import annotations

from typing import Annotated

import msgspec

from svc.mail import FoundThreadOut, Id
from svc.protocol import Wire

MAX_TYPED_CHARS = 1_000
"""What is typed to be searched for by meaning. Beyond: 400 `invalid`, with the name of the field."""
MAX_ZONE_CHARS = 64
MAX_LIMIT = 100


class MeaningInput(Wire, frozen=True):
    """``query`` may have filters, as a search by words has. ``time_zone``: in it days begin and end."""

    query: Annotated[str, msgspec.Meta(max_length=MAX_TYPED_CHARS)]
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = 50
    account_id: Id | None = None
    time_zone: Annotated[str, msgspec.Meta(max_length=MAX_ZONE_CHARS)] | None = None


class MeantPageOut(Wire, frozen=True):
    id: str
    path: str
    title: str
    snippet: str
    updated_at: str


class MeaningOut(Wire, frozen=True):
    """The best first. ``near``: ids of the threads and pages that are here for what they are about, and not for their
    words alone. ``problem``: why only words were looked for; empty where both were."""

    threads: tuple[FoundThreadOut, ...]
    pages: tuple[MeantPageOut, ...]
    near: tuple[str, ...]
    notices: tuple[str, ...]
    problem: str


class SwitchInput(Wire, frozen=True):
    on: bool


class BegunOut(Wire, frozen=True):
    """``run_id``: of the run that reads what is there; ``None`` where it was switched off."""

    run_id: str | None


class ExpectedOut(Wire, frozen=True):
    """What a run would have to read: about so many tokens, for about so many millionths of a dollar. ``ceiling``: what
    one run may cost."""

    items: int
    tokens: int
    micros: int
    ceiling: int


class MeaningProgressOut(Wire, frozen=True):
    done: int
    total: int


class MeaningStateOut(Wire, frozen=True):
    """Of the caller's own mail and pages. ``problem``: why it can't work here; ``waiting_for``: why what came lately
    has not been read. ``micros``: what the caller's run has cost so far, or the last one did."""

    on: bool
    model: str
    is_own_server: bool
    problem: str
    waiting_for: str
    items: int
    read: int
    waiting: int
    run_id: str | None
    last_run_id: str | None
    progress: MeaningProgressOut | None
    micros: int
    expected: ExpectedOut
