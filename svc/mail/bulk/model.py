"""The records of bulk steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from svc.clock import Millis

Do = Literal[
    "archive",
    "inbox",
    "read",
    "unread",
    "star",
    "unstar",
    "label",
    "unlabel",
    "file",
    "snooze",
    "mute",
    "unmute",
    "spam",
    "trash",
]
"""``file``: label and archive. ``inbox``: move to the inbox, also from spam or trash."""

BulkState = Literal["choosing", "chosen", "working", "done", "stopped", "undoing", "undone", "dropped"]

MAX_CHOSEN: Final = 250_000
"""Threads of one step on a whole list. Beyond: the list is acted on in several steps."""


class BulkAct(msgspec.Struct, frozen=True, omit_defaults=True):
    """``label``: its name, looked up in each account. ``sender``: change only messages that this address sent."""

    do: Do
    label: str | None = None
    until: Millis | None = None
    sender: str | None = None


@dataclass(frozen=True, kw_only=True)
class ChosenThread:
    thread_id: str
    messages: int
    """Without drafts."""
    last_message_at: Millis
    counted: bool


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A selection. ``complete``: it holds all matches. ``left_out``: threads that the person may only read are not in
    it."""

    threads: list[ChosenThread]
    account_ids: tuple[str, ...]
    complete: bool
    left_out: bool


@dataclass(frozen=True, kw_only=True)
class BulkStep:
    id: str
    user_id: str | None
    device_id: str
    state: BulkState
    act: BulkAct | None
    total: int
    taken: int
    passed: int
    created_at: Millis
