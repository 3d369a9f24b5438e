"""The whole: the list of features, and one boot from settings to drained. The only file that knows all of it.

Owns the order of boot (home, database, secrets, features, subsystems) and of the end (the reverse). Faults of a boot
are :class:`BootFault`: one sentence with the remedy, and the exit code the command ends with.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import trio

from svc import events, files, identity, pages, people, scheduler, surface
from svc.clock import HOUR_MS, Clock
from svc.config import AnySetting, BadValue, Config, Rule
from svc.feature import Feature
from svc.log import Log
from svc.mail.feature import FEATURE as MAIL
from svc.nursery import Child, ProcessGate, Root, Subsystem, ThreadGate, every, open_task_group, watch_signals, watchdog
from svc.protocol.egress import Egress
from svc.settings import CORE_RULES, CORE_SETTINGS, HOME, HOST, MASTER_KEY_FILE, PORT
from svc.store import (
    PRUNE_ROWS,
    Blobs,
    CannotOpen,
    Home,
    HomeBusy,
    HomeNotWritable,
    Invariant,
    KeyRefused,
    Secrets,
    Store,
    has_secrets,
    master_key_path,
    open_keyring,
    prune,
)
from svc.workspace import Workspace

FEATURES: Final[tuple[Feature, ...]] = (
    identity.FEATURE,
    pages.FEATURE,
    files.FEATURE,
    events.FEATURE,
    people.FEATURE,
    scheduler.FEATURE,
    MAIL,
    surface.FEATURE,
)

EXIT_FAILURE: Final = 1
EXIT_HOME_BUSY: Final = 75
EXIT_CONFIG: Final = 78

THREADS: Final = 16  # worker threads at a time: four readers, the writer, blobs, parsing
PROCESSES: Final = 2  # killable workers for what strangers send
OUTBOX_KEEP_MS: Final = 7 * 24 * HOUR_MS
OUTBOX_KEEP_ROWS: Final = 50_000
HOUSEKEEPING_S: Final = 600.0


class BootFault(Exception):
    """The service can't start: one sentence that names the cause and the remedy."""

    def __init__(self, sentence: str, *, exit_code: int) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


def all_settings() -> tuple[AnySetting, ...]:
    return (*CORE_SETTINGS, *(setting for feature in FEATURES for setting in feature.settings))


def all_rules() -> tuple[Rule, ...]:
    return (*CORE_RULES, *(rule for feature in FEATURES for rule in feature.rules))


def all_invariants() -> tuple[Invariant, ...]:
    return tuple(invariant for feature in FEATURES for invariant in feature.invariants)


@dataclass(frozen=True, kw_only=True)
class Vault:
    """What lies on disk, opened: the part of a boot that commands share with the server."""

    home: Home
    store: Store
    blobs: Blobs
    secrets: Secrets


def open_vault(
    config: Config, *, clock: Clock, threads: ThreadGate, environ: Mapping[str, str], read_only: bool = False
) -> Vault:
    """Open home, database, blobs and secrets, or say in one sentence why not. Blocks; migrates unless ``read_only``."""
    try:
        home = Home.open(config[HOME], exclusive=not read_only)
    except HomeBusy as fault:
        raise BootFault(str(fault), exit_code=EXIT_HOME_BUSY) from fault
    except (HomeNotWritable, CannotOpen) as fault:
        raise BootFault(f"{HOME.name}: {fault}", exit_code=EXIT_CONFIG) from fault
    try:
        migrations = [feature.migrations for feature in FEATURES if feature.migrations]
        store = Store.open(home.database, clock=clock, threads=threads, migrations=migrations, read_only=read_only)
    except CannotOpen as fault:
        home.close()
        raise BootFault(str(fault), exit_code=EXIT_FAILURE) from fault
    try:
        key_path = master_key_path(config[MASTER_KEY_FILE], home_id=home.id, environ=environ)
        may_create = not read_only and not store.read_now(has_secrets)
        keyring = open_keyring(key_path, home=home.path, may_create=may_create)
    except KeyRefused as fault:
        store.close_now()
        home.close()
        raise BootFault(f"{MASTER_KEY_FILE.name}: {fault}", exit_code=EXIT_CONFIG) from fault
    blobs = Blobs.open(home.blobs, threads=threads, on_broken=store.fail, read_only=read_only)
    return Vault(home=home, store=store, blobs=blobs, secrets=Secrets(keyring))


@asynccontextmanager
async def workspace_of(
    config: Config, *, clock: Clock, log: Log, rng: random.Random, environ: Mapping[str, str]
) -> AsyncIterator[Workspace]:
    """A workspace with everything opened and every feature built, before any subsystem runs."""
    threads = ThreadGate(limit=THREADS, name="workers")
    vault = open_vault(config, clock=clock, threads=threads, environ=environ)
    try:
        async with ProcessGate(limit=PROCESSES, name="strangers") as processes, Egress() as egress:
            workspace = Workspace(
                config=config,
                clock=clock,
                rng=rng,
                log=log,
                home=vault.home,
                store=vault.store,
                blobs=vault.blobs,
                secrets=vault.secrets,
                egress=egress,
                threads=threads,
                processes=processes,
                root=Root(log=log, rng=rng),
                features=FEATURES,
            )
            for feature in FEATURES:
                if feature.build:
                    feature.build(workspace)
            yield workspace
    finally:
        vault.store.close_now()
        vault.home.close()


async def serve(
    config: Config, *, clock: Clock, log: Log, environ: Mapping[str, str] | None = None, signals: bool = True
) -> None:
    """Boot, serve until a signal (or a drain from inside), drain, close. Returns when all of it went well."""
    rng = random.Random()  # noqa: S311  spreads pauses, guards nothing
    async with (
        _open_listeners(config) as listeners,
        workspace_of(
            config, clock=clock, log=log, rng=rng, environ=os.environ if environ is None else environ
        ) as workspace,
        open_task_group() as nursery,
    ):
        if signals:
            await nursery.start(watch_signals, workspace.root)
        await run(workspace, listeners)
        nursery.cancel_scope.cancel()


async def run(workspace: Workspace, listeners: Sequence[trio.SocketListener]) -> None:
    """Seed, start every subsystem in order, serve on ``listeners`` until drained. Returns when all have ended."""
    workspace.service(surface.Surface).take(listeners)
    for feature in FEATURES:
        if feature.boot:
            await _booted(feature.boot, workspace)
    subsystems = [*_own_subsystems(workspace)]
    for feature in FEATURES:
        if feature.subsystems:
            subsystems += await feature.subsystems(workspace)
    await workspace.root.run(subsystems)


async def _booted(boot: Callable[[Workspace], Awaitable[None]], workspace: Workspace) -> None:
    """A feature may find only now, with the database open, that a setting does not fit it."""
    try:
        await boot(workspace)
    except BadValue as fault:
        raise BootFault(str(fault), exit_code=EXIT_CONFIG) from fault


def _own_subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    async def write(child: Child) -> None:
        await workspace.store.run_writer(started=child.started)

    async def keep_house(child: Child) -> None:
        child.started()
        await every(HOUSEKEEPING_S, lambda: _prune_outbox(workspace.store))

    return (
        Subsystem(name="store", run=write, essential=True),
        Subsystem(name="outbox", run=keep_house),
        watchdog(),
    )


async def _prune_outbox(store: Store) -> None:
    while await store.write(prune, keep_ms=OUTBOX_KEEP_MS, keep_rows=OUTBOX_KEEP_ROWS) >= PRUNE_ROWS:
        pass


@asynccontextmanager
async def _open_listeners(config: Config) -> AsyncIterator[Sequence[trio.SocketListener]]:
    """Open the port first: a port in use is told before anything else is touched. Closed again whatever happens."""
    try:
        listeners = await trio.open_tcp_listeners(config[PORT], host=config[HOST])
    except OSError as error:
        raise BootFault(_why_not_listening(config, error), exit_code=EXIT_CONFIG) from error
    try:
        yield listeners
    finally:
        for listener in listeners:
            await listener.aclose()


def _why_not_listening(config: Config, error: OSError) -> str:
    causes = {error.errno, *(getattr(one, "errno", None) for one in getattr(error.__cause__, "exceptions", ()))}
    if errno.EADDRINUSE in causes:
        return f"{PORT.name}: port {config[PORT]} is in use by another program; stop it, or set another port"
    if errno.EACCES in causes:
        return f"{PORT.name}: port {config[PORT]} needs more rights than this user has; set one above 1023"
    return f"{HOST.name}: can't listen on {config[HOST]} port {config[PORT]} ({error}); set another address"
