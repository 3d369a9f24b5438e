"""A name and an address, as a header gives them."""

from __future__ import annotations

import msgspec


class Person(msgspec.Struct, frozen=True):
    """A name and an address, as a header gives them."""

    name: str
    address: str
