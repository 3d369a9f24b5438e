"""Of some tests a run of everything plays a share, drawn anew in each: what makes one of them fail mostly fails the
others too, and each takes seconds.

    @pytest.mark.share(3)  # each third of its cases
    @pytest.mark.parametrize("account", SERVERS)
    def test_a_mail_is_here(account): ...

    pytestmark = [pytest.mark.share(2)]  # each second test of this file
    @pytest.mark.share(3, among="the app by another way")  # each third of all that name this

Of the thorough tests of a folder that name no share, two of three are played.

``make test`` and ``make check`` draw, since they divide the tests among processes. Who runs a file alone plays it
whole, as ``make soak`` does: a test that failed is played again by its name.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Final

import pytest

MARKER: Final = "share"
THOROUGH: Final = "thorough"
THOROUGH_SHARE: Final = Fraction(2, 3)


@dataclass
class Family:
    share: Fraction
    items: list[pytest.Item] = field(default_factory=list)

    def left_out(self, run: str) -> list[pytest.Item]:
        chance = random.Random(f"{run} {self.items[0].nodeid}")
        return chance.sample(self.items, len(self.items) - ceil(len(self.items) * self.share))


def draw(items: Sequence[pytest.Item], run: str) -> list[pytest.Item]:
    """Those that are played in a run of this name, in their order: of each family one at least."""
    families: dict[Hashable, Family] = {}
    for item in items:
        if marker := item.get_closest_marker(MARKER):
            family = families.setdefault(_named(item, marker), Family(Fraction(1, marker.args[0])))
            family.items.append(item)
        elif item.get_closest_marker(THOROUGH):
            families.setdefault(item.path.parent, Family(THOROUGH_SHARE)).items.append(item)
    left_out = {item for family in families.values() for item in family.left_out(run)}
    return [item for item in items if item not in left_out]


def _named(item: pytest.Item, marker: pytest.Mark) -> Hashable:
    if "among" in marker.kwargs:
        return str(marker.kwargs["among"])
    if marker in item.own_markers:
        return item.path, getattr(item, "originalname", item.name)
    return item.path
