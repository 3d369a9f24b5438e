"""The checks of `svc serve` before it opens or binds anything, so that every fault is reported at once.

They are rules like those of the settings, but about this machine: the home, the port, and who could claim the instance.
Owns no state, changes nothing, and keeps nothing open.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import trio

from svc.clock import WallClock
from svc.config import Config, ConfigFault, Rule
from svc.identity import CLAIM_TOKEN, anybody_could_claim, is_for_this_machine
from svc.listening import Front, Role, ports_are_free
from svc.nursery import ThreadPool
from svc.settings import HOME, HOST, TLS_CERT_FILE, TLS_KEY_FILE, is_hosted
from svc.store import CannotOpen, Home, Store


def serve_rules(role: Role, front: Front = "own") -> tuple[Rule, ...]:
    return (
        _home_is_usable,
        partial(ports_are_free, role),
        _strangers_can_not_claim,
        partial(_front_can_serve, front),
        _tls_is_readable,
    )


def _home_is_usable(config: Config) -> Iterable[ConfigFault]:
    problem = Home.problem_of(config[HOME])
    if problem is not None:
        yield ConfigFault(HOME.name, problem, "make it a directory you may write, or set SVC_HOME to another")


def _strangers_can_not_claim(config: Config) -> Iterable[ConfigFault]:
    """An address that others can reach needs a credential for the first sign-in, or an existing owner."""
    if is_for_this_machine(config) or config[CLAIM_TOKEN] is not None or not trio.run(_could_claim, config[HOME]):
        return
    reached = "a public cell" if is_hosted(config) else repr(config[HOST])
    yield ConfigFault(
        CLAIM_TOKEN.name,
        f"this instance is unclaimed and {reached} can be reached by others",
        "set a long random claim token, or run `svc invite --admin` first",
    )


def _front_can_serve(front: Front, config: Config) -> Iterable[ConfigFault]:
    if front == "hypercorn" and find_spec("hypercorn") is None:
        yield ConfigFault(
            "--front", "Hypercorn is not installed", "install svc with its extra: pipx install svc[hypercorn]"
        )
    if front == "own" and config[TLS_CERT_FILE] is not None:
        yield ConfigFault(
            TLS_CERT_FILE.name, "our own front speaks no TLS", "start with --front=hypercorn, or put a proxy in front"
        )


def _tls_is_readable(config: Config) -> Iterable[ConfigFault]:
    certificate, key = config[TLS_CERT_FILE], config[TLS_KEY_FILE]
    if certificate is None or key is None:
        return
    try:
        # A key with a password must not prompt at the terminal: perhaps nobody is there.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:
        yield ConfigFault(
            TLS_CERT_FILE.name,
            f"the certificate and its key can't be used ({error})",
            "give a PEM chain and the PEM key that belongs to it, readable by this user and without a password",
        )


async def _could_claim(home: Path) -> bool:
    """Whether the home is unclaimed, so that the first visitor could claim it. The boot checks it again."""
    database = Home.database_of(home)
    if not database.exists():
        return True
    try:
        store = Store.open(database, clock=WallClock(), threads=ThreadPool(limit=1, name="preflight"), read_only=True)
    except CannotOpen:
        return False  # the boot reports why
    try:
        return store.read_now(anybody_could_claim)
    finally:
        store.close_now()
