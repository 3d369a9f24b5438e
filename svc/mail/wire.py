"""What the inputs of several sub-features of mail share."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

MAX_THREADS_A_CALL: Final = 500  # each is one live update; a socket may be 1,000 behind

MAX_LIST_LIMIT: Final = 200

MAX_LABEL_CHARS: Final = 225

MAX_INSTANT: Final = 2**63 - 1  # what SQLite can hold

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]

LabelName = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_LABEL_CHARS)]


def to_builtins(value: msgspec.Struct) -> object:
    return msgspec.to_builtins(value)
