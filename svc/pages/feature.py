"""The feature rows of pages."""

from collections.abc import Sequence

from svc.feature import Feature
from svc.nursery import Subsystem
from svc.pages.claiming import claim
from svc.pages.invariants import INVARIANTS
from svc.pages.jobs import JOB
from svc.pages.migrations import MIGRATIONS
from svc.pages.news import TOPIC
from svc.pages.procedures import PROCEDURES
from svc.pages.tasks import indexer
from svc.workspace import Workspace


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    return [indexer(workspace)]


FEATURE = Feature(
    name="pages",
    summary="A tree of Markdown pages, shared by grants.",
    migrations=MIGRATIONS,
    tables=(
        "pages",
        "page_revisions",
        "page_grants",
        "page_links",
        "page_files",
        "page_managers",
        "page_managed",
        "page_edits",
        "page_edit_pages",
        "page_trash",
        "page_trash_revisions",
        "page_trash_grants",
        "page_trash_files",
        "page_search",
        "page_search_fts",
        "page_search_queue",
    ),
    procedures=PROCEDURES,
    topics=(TOPIC,),
    invariants=INVARIANTS,
    claim=claim,
    jobs=(JOB,),
    subsystems=_subsystems,
)
