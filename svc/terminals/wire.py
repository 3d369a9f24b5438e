"""Terminals on the wire."""

from __future__ import annotations

from typing import Annotated

import msgspec

from svc.protocol import Wire

MAX_ID_CHARS = 100


class TerminalOut(Wire, frozen=True):
    """``program`` is the program in its foreground; ``owner`` a user id. ``shown``: a browser has it open.
    ``ends_at``: when it ends by itself, if no client comes back to it. A terminal that is not ``mine`` can be
    ended, but not opened."""

    session: str
    program: str
    owner: str | None
    mine: bool
    shown: bool
    cols: int
    rows: int
    opened_at: str
    ends_at: str | None


class KillInput(Wire, frozen=True):
    session: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID_CHARS)]
