"""A name and an address from a header."""

from __future__ import annotations

import msgspec


class Person(msgspec.Struct, frozen=True):
    """A name and an address from a header."""

    name: str
    address: str
