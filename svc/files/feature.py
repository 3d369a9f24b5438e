"""The feature rows of files."""

from svc.feature import Feature
from svc.files import receiving, tus_routes
from svc.files.actions import claim
from svc.files.migrations import MIGRATIONS
from svc.files.model import FILES_TOPIC
from svc.files.procedures import PROCEDURES
from svc.files.queries import INVARIANTS
from svc.files.receiving import Receiver
from svc.files.routes import ROUTES
from svc.files.settings import SETTINGS
from svc.files.tasks import JOBS
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    workspace.provide(
        Receiver(store=workspace.store, blobs=workspace.blobs, threads=workspace.threads, log=workspace.log)
    )


FEATURE = Feature(
    name="files",
    summary="Named references to blobs: uploads and attachments.",
    settings=SETTINGS,
    migrations=MIGRATIONS,
    tables=("files", "deleted_files", "partial_uploads"),
    routes=(*ROUTES, *tus_routes.ROUTES),
    procedures=PROCEDURES,
    topics=(FILES_TOPIC,),
    invariants=INVARIANTS,
    claim=claim,
    build=_build,
    jobs=(*JOBS, receiving.JOB),
)
