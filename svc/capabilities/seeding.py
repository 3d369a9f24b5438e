"""Copies credentials from the environment into the secrets store, once: the rules for the variables, and the work at
boot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from svc.capability import Capability
from svc.config import Config, ConfigFault
from svc.store import Secrets, Tx


def whole(capabilities: Iterable[Capability]) -> Callable[[Config], Iterable[ConfigFault]]:
    """The rule that a credential of several variables is set completely, or not at all."""
    rows = tuple(row for row in capabilities if not row.is_single)

    def rule(config: Config) -> Iterable[ConfigFault]:
        for row in rows:
            given = given_by(config, row)
            settings = {one.name: one.setting.name for one in row.fields}
            for name in row.missing(given) if given else ():
                is_set = " and ".join(settings[one] for one in given)
                yield ConfigFault(settings[name], f"{is_set} is set without it", "set both, or neither")

    return rule


def given_by(config: Config, row: Capability) -> dict[str, str]:
    """The fields that the environment sets."""
    values = {one.name: config[one.setting] for one in row.fields}
    return {name: value for name, value in values.items() if value}


def seed(tx: Tx, secrets: Secrets, config: Config, capabilities: Iterable[Capability]) -> list[str]:
    """Insert the credentials that the environment gives and the store lacks; returns their names. A stale variable
    changes nothing."""
    seeded = []
    for row in capabilities:
        given = given_by(config, row)
        if given and secrets.seed(tx, row.name, row.encode(given)):
            seeded.append(row.name)
    return seeded
