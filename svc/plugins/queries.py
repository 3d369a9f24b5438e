"""Reads the tables of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import msgspec

from svc.store import ReadTx


@dataclass(frozen=True, kw_only=True)
class Decided:
    """The decisions about a plugin. ``agreed`` has ids of rights."""

    is_on: bool = True
    agreed: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Pin:
    """The list of the repository. ``text``: its last good ``plugins.json``; ``problem``: what is wrong with
    the newest.
    """

    text: str | None = None
    problem: str | None = None


UNDECIDED: Final = Decided()


def decided(tx: ReadTx) -> Mapping[str, Decided]:
    """By plugin name. A plugin that is missing is :data:`UNDECIDED`."""
    rows = tx.all("select name, is_on, agreed from plugins")
    return MappingProxyType(
        {
            name: Decided(is_on=bool(is_on), agreed=frozenset(msgspec.json.decode(agreed, type=list[str])))
            for name, is_on, agreed in rows
        }
    )


def pin(tx: ReadTx) -> Pin:
    row = tx.one("select text, problem from plugin_pins where id = 1")
    return Pin() if row is None else Pin(text=row[0], problem=row[1])
