"""Arrays in SQL: passed as JSON to ``json_each``, stored as JSON in a column, and read back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

_texts: Final = msgspec.json.Decoder(tuple[str, ...])


def json_array(values: Iterable[str | int]) -> str:
    """The values as JSON: for a parameter of ``json_each``, or for a column that holds an array."""
    return msgspec.json.encode(list(values)).decode()


def texts_of(array: str) -> tuple[str, ...]:
    """The strings of such a column. Raises :class:`msgspec.DecodeError` for anything else."""
    return _texts.decode(array)
