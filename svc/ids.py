"""Opaque identifiers. The prefix says what kind of record an id names; the rest has no meaning."""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

_ALPHABET: Final = "0123456789abcdefghijkmnpqrstuvwxyz"  # no l, no o: people read these aloud
_LENGTH: Final = 20  # 20 symbols of a 34-letter alphabet: 101 bits
# Ids are made often: one division gives two symbols.
_PAIRS: Final = tuple(low + high for high in _ALPHABET for low in _ALPHABET)


def new_id(prefix: str) -> str:
    """A fresh random id such as ``acc_7k2…``."""
    return f"{prefix}_{_spelled(secrets.randbelow(len(_ALPHABET) ** _LENGTH))}"


def derived_id(prefix: str, *parts: str) -> str:
    """An id computed from its parts, so that a step repeated after a crash finds its own earlier work."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
    return f"{prefix}_{_spelled(int.from_bytes(digest, 'big'))}"


def _spelled(number: int) -> str:
    number %= len(_ALPHABET) ** _LENGTH
    found: list[str] = []
    for _ in range(_LENGTH // 4):
        number, four = divmod(number, len(_PAIRS) ** 2)
        high, low = divmod(four, len(_PAIRS))
        found += _PAIRS[low], _PAIRS[high]
    return "".join(found)
