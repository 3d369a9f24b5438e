"""The records of imports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from svc.mail.model import Incoming

ImportState = Literal["working", "done", "failed", "stopped"]
WaitsFor = Literal["turn", "room"]
"""``turn``: another import is carried out first. ``room``: the disk of this server is full."""

REASONS_KEPT: Final = 20
"""How many reasons for skipped mails are kept. Further skipped mails are only counted."""


@dataclass(frozen=True, kw_only=True)
class ImportRow:
    id: str
    account_id: str
    run_id: str
    user_id: str | None
    file_id: str
    sha256: str
    name: str
    remove_file: bool
    state: ImportState
    position: int
    percent: int
    added: int
    known: int
    skipped: int
    reasons: tuple[str, ...]
    problem: str | None


@dataclass(frozen=True, kw_only=True)
class Taken:
    """A mail of an import. ``incoming``: parsed, with its blobs durable; ``None`` if the mail is stored already.
    ``labels``: the ids of its user labels, without system labels."""

    provider_message_id: str
    labels: frozenset[str]
    incoming: Incoming | None


@dataclass(kw_only=True)
class Tally:
    """Counts the results for the mails of an import, or of a part of it."""

    added: int = 0
    known: int = 0
    skipped: int = 0
    reasons: list[str] = field(default_factory=list)

    def skip(self, reason: str) -> None:
        """Count a skipped mail. An empty ``reason`` means that its own program has deleted it: this is not counted."""
        if reason:
            self.skipped += 1
            if len(self.reasons) < REASONS_KEPT:
                self.reasons.append(reason)

    def add(self, other: Tally) -> None:
        self.added += other.added
        self.known += other.known
        self.skipped += other.skipped
        self.reasons = (self.reasons + other.reasons)[:REASONS_KEPT]
