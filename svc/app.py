"""The whole program: the list of features, and one run from boot to drain. Only this file knows all of it.

Owns the order of the boot (home, database, secrets, features, subsystems) and of the end (the reverse). A failed boot
raises :class:`BootFault`: one sentence with the remedy, and the exit code of the command.
"""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import Final

import trio

from svc import (
    agents,
    backup,
    broker,
    capabilities,
    configuring,
    connections,
    description,
    events,
    export,
    files,
    gitops,
    healing,
    health,
    idempotency,
    identity,
    inside,
    mcp,
    meaning,
    meetings,
    metrics,
    models,
    notifications,
    okf,
    pages,
    people,
    plugins,
    preferences,
    replica,
    rules,
    runs,
    scheduler,
    surface,
    terminals,
    tools,
    triage,
    tryout,
    undo,
)
from svc.capabilities import EscrowKeys, EscrowRefused, broker_of, escrow_keys, key_source, whole
from svc.capability import Capability
from svc.clock import Clock
from svc.command import OpenedHome
from svc.config import EXIT_CONFIG, AnySetting, BadValue, Config, Rule
from svc.doors import Internal
from svc.fakes import feature as fakes
from svc.feature import Feature
from svc.listening import Front, Role, open_listeners
from svc.log import Log
from svc.mail.feature import FEATURE as MAIL
from svc.nursery import (
    Child,
    Inspector,
    ProcessPool,
    Root,
    Subsystem,
    ThreadPool,
    Watchdog,
    open_task_group,
    watch_signals,
)
from svc.planes import worker_beside
from svc.protocol.egress import Egress
from svc.settings import (
    CORE_RULES,
    CORE_SETTINGS,
    HOME,
    MASTER_KEY_FILE,
    SEED,
    WORKER_PROCESS,
    is_fake,
)
from svc.store import (
    Blobs,
    CannotOpen,
    Consumer,
    Following,
    Home,
    HomeBusy,
    HomeNotWritable,
    Invariant,
    KeyRefused,
    Keyring,
    Secrets,
    Store,
    has_secrets,
)
from svc.switches import SWITCH_SETTINGS
from svc.worker_child import worker_process
from svc.workspace import Workspace

FEATURES: Final[tuple[Feature, ...]] = (
    health.FEATURE,
    capabilities.FEATURE,
    identity.FEATURE,
    preferences.FEATURE,
    connections.FEATURE,
    pages.FEATURE,
    files.FEATURE,
    healing.FEATURE,
    events.FEATURE,
    people.FEATURE,
    scheduler.FEATURE,
    undo.FEATURE,
    idempotency.FEATURE,
    runs.FEATURE,
    models.FEATURE,
    broker.FEATURE,
    plugins.FEATURE,
    gitops.FEATURE,
    configuring.FEATURE,
    MAIL,
    rules.FEATURE,
    triage.FEATURE,
    meaning.FEATURE,
    notifications.FEATURE,
    meetings.FEATURE,
    terminals.FEATURE,
    replica.FEATURE,
    tools.FEATURE,
    okf.FEATURE,
    backup.FEATURE,
    mcp.FEATURE,
    agents.FEATURE,
    export.FEATURE,
    tryout.FEATURE,
    fakes.FEATURE,
    surface.FEATURE,
    inside.FEATURE,
    description.FEATURE,
    metrics.FEATURE,
)

FAKES: Final = fakes.FEATURE

EXIT_FAILURE: Final = 1
EXIT_HOME_BUSY: Final = 75

THREADS: Final = 16  # worker threads at a time: four readers, the writer, blobs, parsing
PROCESSES: Final = 2  # killable processes for input from strangers


class BootFault(Exception):
    """The service can't start: one sentence that names the cause and the remedy."""

    def __init__(self, sentence: str, *, exit_code: int) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


def features_of(config: Config) -> tuple[Feature, ...]:
    """The features of this boot. Only here the fakes are chosen; each fake itself declares what it replaces."""
    return FEATURES if is_fake(config) else tuple(feature for feature in FEATURES if feature is not FAKES)


def all_settings() -> tuple[AnySetting, ...]:
    return (*CORE_SETTINGS, *SWITCH_SETTINGS, *(setting for feature in FEATURES for setting in feature.settings))


def all_rules() -> tuple[Rule, ...]:
    return (*CORE_RULES, whole(all_capabilities()), *(rule for feature in FEATURES for rule in feature.rules))


def all_capabilities() -> tuple[Capability, ...]:
    return tuple(row for feature in FEATURES for row in feature.capabilities)


def all_invariants() -> tuple[Invariant, ...]:
    return tuple(invariant for feature in FEATURES for invariant in feature.invariants)


async def escrowed_keys(config: Config, *, rng: random.Random, read_only: bool = False) -> EscrowKeys | None:
    """The master key of a hosted cell, fetched before anything of its home is opened or made; ``None`` for any other
    instance.
    """
    keys = escrow_keys(config, rng=rng)
    if keys is not None:
        try:
            await keys.fetch(may_create=not read_only)
        except EscrowRefused as fault:
            raise BootFault(str(fault), exit_code=EXIT_FAILURE if fault.passing else EXIT_CONFIG) from fault
    return keys


def open_home(
    config: Config,
    *,
    clock: Clock,
    threads: ThreadPool,
    environ: Mapping[str, str],
    read_only: bool = False,
    escrowed: EscrowKeys | None = None,
) -> OpenedHome:
    """Open home, database, blobs and secrets, or raise one sentence that says why not. Blocks; migrates unless
    ``read_only``.
    """
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
        keys = escrowed or key_source(config, home_id=home.id, home=home.path, environ=environ)
        locks_nothing = not store.read_now(has_secrets)
        if read_only and locks_nothing and escrowed is None and not keys.exists():
            keyring = Keyring.random()  # restored without its key, and not started yet: a reader makes no key
        else:
            keyring = keys.load(may_create=not read_only and locks_nothing)
        if escrowed is not None and not read_only:
            escrowed.opened()
    except KeyRefused as fault:
        store.close_now()
        home.close()
        raise BootFault(f"{MASTER_KEY_FILE.name}: {fault}", exit_code=EXIT_CONFIG) from fault
    blobs = Blobs.open(home.blobs, threads=threads, on_broken=store.fail, read_only=read_only)
    return OpenedHome(home=home, store=store, blobs=blobs, secrets=Secrets(keyring), keyring=keyring, keys=keys)


@asynccontextmanager
async def workspace_of(
    config: Config, *, clock: Clock, log: Log, rng: random.Random, environ: Mapping[str, str]
) -> AsyncIterator[Workspace]:
    """A workspace with everything opened and every feature built, before any subsystem runs."""
    threads = ThreadPool(limit=THREADS, name="workers")
    escrowed = await escrowed_keys(config, rng=rng)
    opened = open_home(config, clock=clock, threads=threads, environ=environ, escrowed=escrowed)
    try:
        async with ProcessPool(limit=PROCESSES, name="strangers") as processes, Egress() as egress:
            workspace = Workspace(
                config=config,
                clock=clock,
                rng=rng,
                log=log,
                home=opened.home,
                store=opened.store,
                blobs=opened.blobs,
                egress=egress,
                threads=threads,
                processes=processes,
                root=Root(log=log, rng=rng),
                features=features_of(config),
            )
            workspace.provide(Watchdog(clock=clock))
            workspace.provide(Inspector())
            workspace.provide(broker_of(FEATURES, store=opened.store, secrets=opened.secrets))
            workspace.provide(
                Following(
                    store=workspace.store,
                    clock=clock,
                    rng=rng,
                    log=log,
                    context=workspace,
                    rows=tuple(row for feature in workspace.features for row in feature.consumers),
                )
            )
            for feature in workspace.features:
                if feature.build:
                    feature.build(workspace)
            yield workspace
    finally:
        opened.store.close_now()
        opened.home.close()


async def serve(
    config: Config,
    *,
    clock: Clock,
    log: Log,
    environ: Mapping[str, str] | None = None,
    role: Role = "all",
    front: Front = "own",
    signals: bool = True,
    announce: Callable[[str], None] = lambda origin: None,
) -> None:
    """Boot, serve until a signal (or a drain from inside), drain, close. Returns if all of it went well.

    ``announce`` is called with the address for browsers, once the service listens.
    """
    rng = random.Random()  # noqa: S311  spreads pauses, guards nothing
    async with (
        open_listeners(config, role) as (public, internal),
        workspace_of(
            config, clock=clock, log=log, rng=rng, environ=os.environ if environ is None else environ
        ) as workspace,
        open_task_group() as nursery,
    ):
        if signals:
            await nursery.start(partial(watch_signals, to_the_end=True), workspace.root)
        public_side = workspace.service(surface.Surface)
        public_side.announce, public_side.front = announce, front
        await run(workspace, public, internal=internal, role=role, environ=os.environ if environ is None else environ)
        nursery.cancel_scope.cancel()


async def run(
    workspace: Workspace,
    listeners: Sequence[trio.SocketListener],
    *,
    internal: Sequence[trio.SocketListener] = (),
    role: Role = "all",
    environ: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Boot the features, seed, start every subsystem in order, and serve on the listeners until drained. Returns when
    all have ended.
    """
    workspace.service(surface.Surface).take(listeners)
    if internal:
        workspace.service(Internal).take(internal)
    following = _following(workspace)
    for feature in workspace.features:
        if feature.boot:
            await _booted(feature.boot, workspace)
    for feature in workspace.features:
        for seed in feature.seeds:
            if seed.world == workspace.config[SEED]:
                await seed.plant(workspace)
    subsystems = [*_own_subsystems(workspace)]
    contributed = [
        one for feature in workspace.features if feature.subsystems for one in await feature.subsystems(workspace)
    ]
    contributed.sort(key=lambda one: not one.outlives)
    subsystems += contributed
    subsystems += [_consumer(following, row) for row in following.rows]
    if role == "all":
        apart = workspace.config[WORKER_PROCESS]
        worker = worker_process(workspace, environ=environ) if apart else worker_beside(workspace, log=workspace.log)
        subsystems.append(worker)
    await workspace.root.run(subsystems)


def _following(workspace: Workspace) -> Following[Workspace]:
    """The durable consumers of all features, each with its cursor."""
    following = workspace.service(Following)
    following.register()
    return following


def _consumer(following: Following[Workspace], row: Consumer[Workspace]) -> Subsystem:
    async def run(child: Child) -> None:
        child.started()
        await following.follow(row)

    return Subsystem(name=f"consumer:{row.name}", run=run, independent=True)


async def _booted(boot: Callable[[Workspace], Awaitable[None]], workspace: Workspace) -> None:
    """Run a feature's ``boot``. With the database open, a feature may find only now that a setting does not fit."""
    try:
        await boot(workspace)
    except BadValue as fault:
        raise BootFault(str(fault), exit_code=EXIT_CONFIG) from fault


def _own_subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    async def write(child: Child) -> None:
        await workspace.store.run_writer(started=child.started)

    return (
        Subsystem(name="store", run=write, essential=True),
        workspace.service(Watchdog).subsystem(),
        workspace.service(Inspector).subsystem(),
    )
