"""Of some tests a run of everything plays a share, drawn anew in each: what makes one of them fail mostly fails the
others too, and each takes seconds.

    @pytest.mark.share(3)  # each third of its cases
    @pytest.mark.parametrize("office", SERVERS)
    def test_a_mail_is_here(office): ...

    pytestmark = [pytest.mark.share(2)]  # each second test of this file
    @pytest.mark.share(3, among="the app by another way")  # each third of all that name this

``make test`` and ``make check`` draw, since they divide the tests among processes. Who runs a file alone plays it
whole, as ``make soak`` does: a test that failed is played again by its name.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from typing import Final

import pytest

MARKER: Final = "share"


def draw(items: Sequence[pytest.Item], run: str) -> list[pytest.Item]:
    """Those that are played in a run of this name, in their order: of each family one at least."""
    families: dict[Hashable, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker(MARKER):
            families.setdefault(_family(item), []).append(item)
    left_out: set[pytest.Item] = set()
    for family in families.values():
        marker = family[0].get_closest_marker(MARKER)
        assert marker is not None
        played = -(-len(family) // marker.args[0])
        chance = random.Random(f"{run} {family[0].nodeid}")
        left_out.update(chance.sample(family, len(family) - played))
    return [item for item in items if item not in left_out]


def _family(item: pytest.Item) -> Hashable:
    marker = item.get_closest_marker(MARKER)
    assert marker is not None
    if "among" in marker.kwargs:
        return str(marker.kwargs["among"])
    if marker in item.own_markers:
        return item.path, getattr(item, "originalname", item.name)
    return item.path
