"""The wire types of search by meaning."""

from __future__ import annotations

from typing import Annotated

import msgspec

from svc.mail import FoundThreadOut, Id
from svc.protocol import Wire

MAX_TYPED_CHARS = 1_000
"""Characters of a query for search by meaning. Beyond: 400 `invalid`, with the name of the field."""
MAX_ZONE_CHARS = 64
MAX_LIMIT = 100


class MeaningInput(Wire, frozen=True):
    """``query`` may have filters, like a search by words. ``time_zone``: where days begin and end."""

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
    """The best first. ``near``: ids of the threads and pages found by meaning, and not only by their words.
    ``problem``: why only words were searched; empty if both were.
    """

    threads: tuple[FoundThreadOut, ...]
    pages: tuple[MeantPageOut, ...]
    near: tuple[str, ...]
    notices: tuple[str, ...]
    problem: str


class SwitchInput(Wire, frozen=True):
    on: bool


class BegunOut(Wire, frozen=True):
    """``run_id``: the run that reads the existing items; ``None`` if it was switched off."""

    run_id: str | None


class ExpectedOut(Wire, frozen=True):
    """What a run would read: an estimate of tokens, and of the cost in millionths of a dollar. ``ceiling``: what one
    run may cost.
    """

    items: int
    tokens: int
    micros: int
    ceiling: int


class MeaningProgressOut(Wire, frozen=True):
    done: int
    total: int


class MeaningBeforeOut(Wire, frozen=True):
    """The model whose vectors are searched until everything is read again, and how many items have such vectors."""

    model: str
    read: int


class MeaningStateOut(Wire, frozen=True):
    """For the caller's own mail and pages. ``before``: what is searched if the model was changed. ``problem``: why it
    can't work here; ``waiting_for``: why new items have not been read; ``last_problem``: why the last run failed.
    ``micros``: the cost so far of the caller's current run, or of the last one.
    """

    on: bool
    model: str
    is_own_server: bool
    problem: str
    waiting_for: str
    items: int
    read: int
    before: MeaningBeforeOut | None
    waiting: int
    run_id: str | None
    last_run_id: str | None
    last_problem: str
    progress: MeaningProgressOut | None
    micros: int
    expected: ExpectedOut
