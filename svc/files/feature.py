"""The rows that files contribute."""

from svc.feature import Feature
from svc.files.migrations import MIGRATIONS
from svc.files.queries import INVARIANTS
from svc.files.routes import ROUTES

FEATURE = Feature(
    name="files",
    summary="Named references to blobs: uploads and attachments.",
    migrations=MIGRATIONS,
    routes=ROUTES,
    topics=("files",),
    invariants=INVARIANTS,
)
