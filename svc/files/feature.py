"""The rows that files contribute."""

from svc.feature import Feature
from svc.files.actions import claim
from svc.files.migrations import MIGRATIONS
from svc.files.model import FILES_TOPIC
from svc.files.procedures import PROCEDURES
from svc.files.queries import INVARIANTS
from svc.files.routes import ROUTES
from svc.files.settings import SETTINGS
from svc.files.tasks import JOB

FEATURE = Feature(
    name="files",
    summary="Named references to blobs: uploads and attachments.",
    settings=SETTINGS,
    migrations=MIGRATIONS,
    tables=("files",),
    routes=ROUTES,
    procedures=PROCEDURES,
    topics=(FILES_TOPIC,),
    invariants=INVARIANTS,
    claim=claim,
    jobs=(JOB,),
)
