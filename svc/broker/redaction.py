"""Removes an injected credential from every answer, because a service may quote what it was given.

A piece of an answer may end in the middle of a value. So bytes that could be the beginning of a value are held back
until the next piece; all other text passes at once. The mask is as long as what it covers, so that lengths stay right.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, quote_plus

MIN_CHARS: Final = 8
"""A shorter value is not a secret but an ordinary word; masking it would spoil answers."""
_MASK: Final = b"*"


class Redactor:
    """For one answer. ``values`` are the credentials that were sent with its request."""

    def __init__(self, values: Iterable[str]) -> None:
        self._held = b""
        self._spellings: list[bytes] = []
        self.cover(*values)

    def cover(self, *values: str) -> None:
        """Cover these values, too. Only before the first piece of the answer."""
        spellings = {spelling for value in values if len(value) >= MIN_CHARS for spelling in _spellings(value)}
        self._spellings = sorted(spellings.union(self._spellings), key=len, reverse=True)
        self._longest = max(map(len, self._spellings), default=0)
        self._pattern = re.compile(b"|".join(map(re.escape, self._spellings))) if self._spellings else None

    def feed(self, piece: bytes) -> bytes:
        """The bytes that may be passed on now."""
        masked = self._masked(self._held + piece)
        cut = self._beginning_of_one(masked)
        self._held = masked[cut:]
        return masked[:cut]

    def end(self) -> bytes:
        """The bytes that were held back and turned out to be no value."""
        held, self._held = self._held, b""
        return held

    def whole(self, data: bytes) -> bytes:
        return self._masked(data)

    def text(self, text: str) -> str:
        return self._masked(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def _masked(self, data: bytes) -> bytes:
        return self._pattern.sub(lambda found: _MASK * len(found[0]), data) if self._pattern else data

    def _beginning_of_one(self, data: bytes) -> int:
        """The position in ``data`` from which on a value may begin."""
        first = max(0, len(data) - self._longest + 1)
        starts = (
            position
            for spelling in self._spellings
            for position in _occurrences(data, spelling[:1], first)
            if spelling.startswith(data[position:])
        )
        return min(starts, default=len(data))


def _occurrences(data: bytes, byte: bytes, first: int) -> Iterator[int]:
    position = data.find(byte, first)
    while position != -1:
        yield position
        position = data.find(byte, position + 1)


def _spellings(value: str) -> Iterator[bytes]:
    """The value itself, and as it is written in JSON, in addresses and in Basic credentials."""
    in_json = json.dumps(value)[1:-1]
    for text in (value, in_json, in_json.replace("/", "\\/"), quote(value, safe=""), quote_plus(value)):
        yield text.encode()
    yield base64.b64encode(value.encode())
