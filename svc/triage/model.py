"""The records of triage, and the kinds of mail. All are frozen; none knows SQL or the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from svc.clock import DAY_MS, Millis

TOPIC: Final = "triage"
DEVICE_ID: Final = "system:triage"

Kind = Literal["reply", "waiting", "reading", "receipt", "calendar", "other"]
"""``waiting``: the owner wrote last, and waits for an answer."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SENDERS_KINDS: Final[tuple[Kind, ...]] = ("reply", "reading", "receipt", "calendar", "other")
"""The kinds that can be remembered for a sender, and that a model may name. ``waiting`` depends on the thread alone."""

By = Literal["rule", "model", "person"]

MAX_LEARNED: Final = 2_000
"""Senders for which one person's corrections are remembered. Beyond: the oldest are forgotten."""
THERE: Final = 300
"""Threads of the inbox that are sorted when triage is switched on. Beyond: those that came before are not."""
KEEP_MS: Final = 400 * DAY_MS


@dataclass(frozen=True, kw_only=True)
class Facts:
    """A mail as the rules see it. Addresses are in lower case, texts are case folded."""

    sender: str
    to_me: bool
    recipients: int
    subject: str
    snippet: str
    is_bulk: bool
    has_invitation: bool
    written_to: bool
    """Whether the owner has written to the sender, or in the thread."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """``sure``: no model is asked about it."""

    kind: Kind
    because: str
    by: By = "rule"
    sure: bool = True


@dataclass(frozen=True, kw_only=True)
class Sorted:
    """The kind of a thread. ``seq``: the newest event that set it."""

    thread_id: str
    account_id: str
    message_id: str
    kind: Kind
    by: By
    because: str
    at: Millis
    seq: int
