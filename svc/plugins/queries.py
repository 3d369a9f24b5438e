"""Reads the tables of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import msgspec

from svc.plugins.manifest import Right
from svc.store import ReadTx


@dataclass(frozen=True, kw_only=True)
class Decided:
    """The decisions about a plugin. ``agreed`` has ids of rights. ``actors``: by the id of a right to act, the admin
    who agreed to it (``None`` only while there are no users); one who is no admin any more is left out.
    """

    is_on: bool = True
    agreed: frozenset[str] = frozenset()
    actors: Mapping[str, str | None] = field(default_factory=lambda: MappingProxyType({}))

    def has_agreed(self, right: Right) -> bool:
        return right.id in self.agreed and (right.text is None or right.id in self.actors)


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
    actors: dict[str, dict[str, str | None]] = {}
    for name, right_id, user_id in tx.all(
        """
        select name, right_id, user_id from plugin_actors
        where user_id in (select id from users where role = 'admin')
            or user_id is null and not exists (select 1 from users)
        """
    ):
        actors.setdefault(str(name), {})[str(right_id)] = user_id
    return MappingProxyType(
        {
            name: Decided(
                is_on=bool(is_on),
                agreed=frozenset(msgspec.json.decode(agreed, type=list[str])),
                actors=MappingProxyType(actors.get(name, {})),
            )
            for name, is_on, agreed in rows
        }
    )


def pin(tx: ReadTx) -> Pin:
    row = tx.one("select text, problem from plugin_pins where id = 1")
    return Pin() if row is None else Pin(text=row[0], problem=row[1])
