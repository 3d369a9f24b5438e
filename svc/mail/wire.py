"""Limits and types that the inputs of several sub-features of mail share."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

MAX_THREADS_A_CALL: Final = 500
"""Threads of one call. Each is one live update, and a socket may be 1,000 behind. Beyond: 400 `invalid`, by the name of
the field."""

MAX_LIST_LIMIT: Final = 200
"""Threads of one page of a list or of a search. Beyond: 400 `invalid`, with the name of the field."""

MAX_LABEL_CHARS: Final = 225
"""The name of a label. Beyond: 400 `invalid`, with the name of the field."""

MAX_INSTANT: Final = 2**63 - 1
"""The moment in a cursor: what SQLite can hold. Beyond: 400 `invalid`."""

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]

LabelName = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_LABEL_CHARS)]


def to_builtins(value: msgspec.Struct) -> object:
    return msgspec.to_builtins(value)
