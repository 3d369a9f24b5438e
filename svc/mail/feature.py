"""The rows that mail contributes."""

from __future__ import annotations

from collections.abc import Sequence

from svc.feature import Feature
from svc.mail import accounts, fake_procedures, procedures, queries, retitling, routes
from svc.mail.engine import MailEngine
from svc.mail.gmail.connection import Connections
from svc.mail.health import feature as health
from svc.mail.health.procedures import PROCEDURES as HEALTH_PROCEDURES
from svc.mail.images import feature as images
from svc.mail.images.procedures import PROCEDURES as IMAGES_PROCEDURES
from svc.mail.images.routes import ROUTES as IMAGES_ROUTES
from svc.mail.invariants import INVARIANTS
from svc.mail.labelling import feature as labelling
from svc.mail.labelling.procedures import PROCEDURES as LABELLING_PROCEDURES
from svc.mail.migrations import MIGRATIONS
from svc.mail.provider_fake import FakeWorld
from svc.mail.reading import Reader
from svc.mail.search import feature as search
from svc.mail.search.invariants import INVARIANTS as SEARCH_INVARIANTS
from svc.mail.search.procedures import PROCEDURES as SEARCH_PROCEDURES
from svc.mail.search.settings import SETTINGS as SEARCH_SETTINGS
from svc.mail.sending import feature as sending
from svc.mail.sending.invariants import INVARIANTS as SENDING_INVARIANTS
from svc.mail.sending.procedures import PROCEDURES as SENDING_PROCEDURES
from svc.mail.sending.settings import SETTINGS as SENDING_SETTINGS
from svc.mail.settings import SETTINGS
from svc.nursery import Subsystem
from svc.principal import system
from svc.settings import SEED, is_fake
from svc.store import Tx
from svc.workspace import Workspace

JOURNAL = "fake.jsonl"


def _build(workspace: Workspace) -> None:
    world = None
    if is_fake(workspace.config):
        world = FakeWorld(journal=workspace.home.spool / JOURNAL, clock=workspace.clock, threads=workspace.threads)
        workspace.provide(world)
    connections = Connections(workspace=workspace)
    reader = Reader(
        store=workspace.store,
        blobs=workspace.blobs,
        threads=workspace.threads,
        processes=workspace.processes,
        log=workspace.log,
    )
    workspace.provide(connections)
    workspace.provide(MailEngine(workspace=workspace, reader=reader, connections=connections, world=world))
    images.build(workspace)
    labelling.build(workspace)
    search.build(workspace)
    sending.build(workspace)
    health.build(workspace)


async def _boot(workspace: Workspace) -> None:
    sending.boot(workspace)
    if not is_fake(workspace.config):
        return
    store = workspace.store
    world = workspace.service(FakeWorld)
    world.load()
    if workspace.config[SEED]:
        await world.seed()
    for address in world.addresses:
        if store.read_now(queries.account_by_address, address) is None:
            store.write_now(accounts.connect, system("mail-boot"), address=address, provider="fake")


def _claim(tx: Tx, user_id: str) -> None:
    """Accounts that were connected before there was anybody become the first admin's, with the news of them."""
    tx.run("update mail_accounts set owner_id = :user_id where owner_id is null", user_id=user_id)
    images.claim(tx, user_id)
    labelling.claim(tx, user_id)
    sending.claim(tx, user_id)


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    return [
        search.subsystem(workspace),
        retitling.subsystem(workspace.store),
        *await workspace.service(MailEngine).subsystems(),
        health.subsystem(workspace),
        sending.subsystem(workspace),
    ]


FEATURE = Feature(
    name="mail",
    summary="Mail accounts, their sync, and the unified inbox.",
    settings=(*SETTINGS, *SEARCH_SETTINGS, *SENDING_SETTINGS),
    migrations=MIGRATIONS,
    routes=(*routes.ROUTES, *IMAGES_ROUTES),
    procedures=(
        *procedures.PROCEDURES,
        *HEALTH_PROCEDURES,
        *IMAGES_PROCEDURES,
        *LABELLING_PROCEDURES,
        *SEARCH_PROCEDURES,
        *SENDING_PROCEDURES,
        *fake_procedures.PROCEDURES,
    ),
    topics=("mail", "accounts", "tasks"),
    invariants=(*INVARIANTS, *SEARCH_INVARIANTS, *SENDING_INVARIANTS),
    claim=_claim,
    build=_build,
    boot=_boot,
    subsystems=_subsystems,
)
