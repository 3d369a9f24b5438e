"""The records of imports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from svc.mail.model import Incoming

ImportState = Literal["working", "done", "failed", "stopped"]

REASONS_KEPT: Final = 20
"""So many of those that were passed over are told one by one; the others are counted."""


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
    """A mail of an import. ``incoming``: parsed, with its blobs durable; ``None`` where the mail is here already.
    ``labels``: the ids of one's own labels that it carries, beside the system's."""

    provider_message_id: str
    labels: frozenset[str]
    incoming: Incoming | None


@dataclass(kw_only=True)
class Tally:
    """What became of the mails of an import, or of a part of it."""

    added: int = 0
    known: int = 0
    skipped: int = 0
    reasons: list[str] = field(default_factory=list)

    def skip(self, reason: str) -> None:
        """``reason`` is empty for what its own program has deleted: that is nobody's trouble."""
        if reason:
            self.skipped += 1
            if len(self.reasons) < REASONS_KEPT:
                self.reasons.append(reason)

    def add(self, other: Tally) -> None:
        self.added += other.added
        self.known += other.known
        self.skipped += other.skipped
        self.reasons = (self.reasons + other.reasons)[:REASONS_KEPT]
