"""The feature ``mail``: all that mail adds to the service, such as its tables, procedures and subsystems."""

from __future__ import annotations

from collections.abc import Sequence

from svc.feature import Feature
from svc.mail.accounts import letting_go
from svc.mail.accounts.states import SYNC
from svc.mail.authentication import feature as authentication
from svc.mail.authentication.following import CONSUMER as AUTHENTICATION_CONSUMER
from svc.mail.blocking.actions import REVERSAL as BLOCK_REVERSAL
from svc.mail.blocking.procedures import PROCEDURES as BLOCKING_PROCEDURES
from svc.mail.bulk import actions as bulk_actions
from svc.mail.bulk import feature as bulk
from svc.mail.bulk.procedures import PROCEDURES as BULK_PROCEDURES
from svc.mail.commands import COMMANDS
from svc.mail.connecting import feature as connecting
from svc.mail.connecting.procedures import PROCEDURES as CONNECTING_PROCEDURES
from svc.mail.connecting.routes import ROUTES as CONNECTING_ROUTES
from svc.mail.health import feature as health
from svc.mail.health.checks import CHECKS
from svc.mail.health.metrics import METRICS
from svc.mail.health.procedures import PROCEDURES as HEALTH_PROCEDURES
from svc.mail.images import feature as images
from svc.mail.images.procedures import PROCEDURES as IMAGES_PROCEDURES
from svc.mail.images.routes import ROUTES as IMAGES_ROUTES
from svc.mail.ingest_steps import INGEST_STEPS
from svc.mail.invitations import feature as invitations
from svc.mail.invitations.following import CONSUMER as INVITATIONS_CONSUMER
from svc.mail.invitations.procedures import PROCEDURES as INVITATIONS_PROCEDURES
from svc.mail.labelling import feature as labelling
from svc.mail.labelling.inbox_procedures import PROCEDURES as INBOX_PROCEDURES
from svc.mail.labelling.procedures import PROCEDURES as LABELLING_PROCEDURES
from svc.mail.labelling.reversals import REVERSAL as LABELS_REVERSAL
from svc.mail.mending import feature as mending
from svc.mail.mending.procedures import PROCEDURES as MENDING_PROCEDURES
from svc.mail.migrations import MIGRATIONS
from svc.mail.owners import ERASES, TABLES
from svc.mail.porting import actions as importing
from svc.mail.porting import feature as porting
from svc.mail.porting.procedures import CALLS as IMPORT_CALLS
from svc.mail.porting.procedures import PROCEDURES as PORTING_PROCEDURES
from svc.mail.porting.routes import ROUTES as PORTING_ROUTES
from svc.mail.providers.kinds import ALL_BY_OAUTH
from svc.mail.providers.table import Providers
from svc.mail.reading import feature as reading
from svc.mail.reading.procedures import PROCEDURES as READING_PROCEDURES
from svc.mail.reading.routes import ROUTES as READING_ROUTES
from svc.mail.search import feature as search
from svc.mail.search.following import CONSUMER as SEARCH_CONSUMER
from svc.mail.search.invariants import INVARIANTS as SEARCH_INVARIANTS
from svc.mail.search.procedures import PROCEDURES as SEARCH_PROCEDURES
from svc.mail.search.reindexing import CALLS as REINDEX_CALLS
from svc.mail.search.settings import SETTINGS as SEARCH_SETTINGS
from svc.mail.search.tasks import Indexer
from svc.mail.sending import draft_copying
from svc.mail.sending import feature as sending
from svc.mail.sending.calls import CALLS as SENDING_CALLS
from svc.mail.sending.holding_back import REVERSAL as SEND_REVERSAL
from svc.mail.sending.invariants import INVARIANTS as SENDING_INVARIANTS
from svc.mail.sending.procedures import PROCEDURES as SENDING_PROCEDURES
from svc.mail.sending.settings import SETTINGS as SENDING_SETTINGS
from svc.mail.sending.states import SENDING
from svc.mail.settings import SETTINGS
from svc.mail.sharing.procedures import PROCEDURES as SHARING_PROCEDURES
from svc.mail.snippets import actions as snippets
from svc.mail.snippets.procedures import PROCEDURES as SNIPPETS_PROCEDURES
from svc.mail.sync.engine import MailEngine
from svc.mail.sync.procedures import PROCEDURES as ACCOUNT_PROCEDURES
from svc.mail.threads import blocks, remarking
from svc.mail.threads.invariants import INVARIANTS
from svc.mail.threads.retitling import CONSUMER as TITLES_CONSUMER
from svc.mail.threads.shared_files import shared_file
from svc.mail.unsubscribing import feature as unsubscribing
from svc.mail.unsubscribing.procedures import PROCEDURES as UNSUBSCRIBING_PROCEDURES
from svc.nursery import Subsystem
from svc.store import Tx
from svc.worker.mail import ROWS as WORKER
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    providers = Providers()
    workspace.provide(providers)
    search.build(workspace)
    workspace.provide(
        MailEngine(
            workspace=workspace, providers=providers, steps=INGEST_STEPS, stored=workspace.service(Indexer).stored
        )
    )
    connecting.build(workspace)
    authentication.build(workspace)
    images.build(workspace)
    labelling.build(workspace)
    bulk.build(workspace)
    reading.build(workspace)
    sending.build(workspace)
    unsubscribing.build(workspace)
    invitations.build(workspace)
    porting.build(workspace)
    health.build(workspace)
    mending.build(workspace)


async def _boot(workspace: Workspace) -> None:
    sending.boot(workspace)


def _claim(tx: Tx, user_id: str) -> None:
    """Give everything of mail that was made before the server had users to the first admin."""
    letting_go.claim(tx, user_id)
    images.claim(tx, user_id)
    bulk_actions.claim(tx, user_id)
    blocks.claim(tx, user_id)
    sending.claim(tx, user_id)
    snippets.claim(tx, user_id)
    importing.claim(tx, user_id)


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    return [
        search.subsystem(workspace),
        bulk.subsystem(workspace),
        *await workspace.service(MailEngine).subsystems(),
        health.subsystem(workspace),
        sending.subsystem(workspace),
        draft_copying.subsystem(workspace),
        porting.subsystem(workspace),
    ]


FEATURE = Feature(
    name="mail",
    summary="Mail accounts, their sync, and the unified inbox.",
    settings=(
        *(one for kind in ALL_BY_OAUTH for one in kind.settings),
        *SETTINGS,
        *SEARCH_SETTINGS,
        *SENDING_SETTINGS,
    ),
    migrations=MIGRATIONS,
    tables=TABLES,
    erases=ERASES,
    routes=(*CONNECTING_ROUTES, *IMAGES_ROUTES, *PORTING_ROUTES, *READING_ROUTES),
    procedures=(
        *ACCOUNT_PROCEDURES,
        *CONNECTING_PROCEDURES,
        *READING_PROCEDURES,
        *INBOX_PROCEDURES,
        *HEALTH_PROCEDURES,
        *IMAGES_PROCEDURES,
        *LABELLING_PROCEDURES,
        *BULK_PROCEDURES,
        *BLOCKING_PROCEDURES,
        *MENDING_PROCEDURES,
        *PORTING_PROCEDURES,
        *SEARCH_PROCEDURES,
        *SENDING_PROCEDURES,
        *SNIPPETS_PROCEDURES,
        *UNSUBSCRIBING_PROCEDURES,
        *INVITATIONS_PROCEDURES,
        *SHARING_PROCEDURES,
    ),
    worker=WORKER,
    calls=(*IMPORT_CALLS, *REINDEX_CALLS, *SENDING_CALLS),
    commands=COMMANDS,
    topics=("mail", "accounts", "tasks"),
    checks=CHECKS,
    metrics=METRICS,
    invariants=(*INVARIANTS, *SEARCH_INVARIANTS, *SENDING_INVARIANTS),
    machines=(SENDING, SYNC),
    consumers=(SEARCH_CONSUMER, TITLES_CONSUMER, AUTHENTICATION_CONSUMER, INVITATIONS_CONSUMER),
    jobs=(labelling.JOB, sending.JOB, draft_copying.JOB, remarking.JOB),
    claim=_claim,
    file_readers=(shared_file,),
    reversals=(LABELS_REVERSAL, bulk.REVERSAL, BLOCK_REVERSAL, SEND_REVERSAL),
    build=_build,
    boot=_boot,
    subsystems=_subsystems,
)
