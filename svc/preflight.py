"""What `svc serve` looks at before it opens or binds anything, so that every fault is told at once.

Rules like those of the settings, but about this machine: the home, the port, and who could claim the instance. Owns no
state, changes nothing, and keeps nothing open.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import trio

from svc.clock import WallClock
from svc.config import Config, ConfigFault, Rule
from svc.identity import CLAIM_TOKEN, anybody_could_claim
from svc.listening import Role, ports_are_free
from svc.nursery import ThreadPool
from svc.settings import HOME, HOST, is_loopback
from svc.store import CannotOpen, Home, Store


def serve_rules(role: Role) -> tuple[Rule, ...]:
    return (_home_is_usable, partial(ports_are_free, role), _strangers_can_not_claim)


def _home_is_usable(config: Config) -> Iterable[ConfigFault]:
    problem = Home.problem_of(config[HOME])
    if problem is not None:
        yield ConfigFault(HOME.name, problem, "make it a directory you may write, or set SVC_HOME to another")


def _strangers_can_not_claim(config: Config) -> Iterable[ConfigFault]:
    """A bind that others can reach needs a credential for the first sign-in, or an owner already."""
    if is_loopback(config[HOST]) or config[CLAIM_TOKEN] is not None or not trio.run(_could_claim, config[HOME]):
        return
    yield ConfigFault(
        CLAIM_TOKEN.name,
        f"this instance is unclaimed and {config[HOST]!r} can be reached by others",
        "set a long random claim token, or run `svc invite --admin` first",
    )


async def _could_claim(home: Path) -> bool:
    """Whether the home, as it lies there, leaves the claim to whoever comes first. The boot looks once more."""
    database = Home.database_of(home)
    if not database.exists():
        return True
    try:
        store = Store.open(database, clock=WallClock(), threads=ThreadPool(limit=1, name="preflight"), read_only=True)
    except CannotOpen:
        return False  # the boot says more
    try:
        return store.read_now(anybody_could_claim)
    finally:
        store.close_now()
