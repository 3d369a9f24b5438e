"""The rows that pages contribute."""

from svc.feature import Feature
from svc.pages.claiming import claim
from svc.pages.invariants import INVARIANTS
from svc.pages.jobs import JOB
from svc.pages.migrations import MIGRATIONS
from svc.pages.news import TOPIC
from svc.pages.procedures import PROCEDURES

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
    ),
    procedures=PROCEDURES,
    topics=(TOPIC,),
    invariants=INVARIANTS,
    claim=claim,
    jobs=(JOB,),
)
