"""Pages: a tree of Markdown pages with owners, grants and revisions; and the rule for who may read or write one.

Owns the tables ``pages``, ``page_*`` and the topic ``pages``. For every caller, a page that they may not read looks
like one that does not exist: an admin is no exception. Start reading at ``model.py`` and ``access.py``.
"""

from svc.pages import alone, edits, managed, together
from svc.pages.access import is_own
from svc.pages.actions import NO_PAGE, make_private
from svc.pages.actions import delete as delete_page
from svc.pages.actions import move as move_page
from svc.pages.actions import save as save_page
from svc.pages.edits import Edit, EditedPage
from svc.pages.feature import FEATURE
from svc.pages.finding import FoundPage, found_pages, readable_ids, searched_texts
from svc.pages.finding import find as find_pages
from svc.pages.model import (
    EVERYONE,
    MAX_BODY_BYTES,
    SHARED_SURFACES,
    Earlier,
    Grant,
    Page,
    new_page_path,
    page_body,
    page_path,
    page_title,
)
from svc.pages.news import PAGE_CHANGED, tell_of_below
from svc.pages.news import TOPIC as PAGES_TOPIC
from svc.pages.openness import Openness, openness
from svc.pages.queries import body as page_text
from svc.pages.queries import (
    file_is_readable_through_a_page,
    files_on_readable_pages,
    first_file_readable_through_a_page,
    pages_that_show,
    readable_below,
    readable_page,
    readable_titles,
)
from svc.pages.queries import tree as page_tree
from svc.pages.trash import Deleted as DeletedPage
from svc.pages.trash import bring_back_deleted as bring_back_deleted_page
from svc.pages.untouched import MadePage, take_away, untouched

__all__ = [
    "EVERYONE",
    "FEATURE",
    "MAX_BODY_BYTES",
    "NO_PAGE",
    "PAGES_TOPIC",
    "PAGE_CHANGED",
    "SHARED_SURFACES",
    "DeletedPage",
    "Earlier",
    "Edit",
    "EditedPage",
    "FoundPage",
    "Grant",
    "MadePage",
    "Openness",
    "Page",
    "alone",
    "bring_back_deleted_page",
    "delete_page",
    "edits",
    "file_is_readable_through_a_page",
    "files_on_readable_pages",
    "find_pages",
    "first_file_readable_through_a_page",
    "found_pages",
    "is_own",
    "make_private",
    "managed",
    "move_page",
    "new_page_path",
    "openness",
    "page_body",
    "page_path",
    "page_text",
    "page_title",
    "page_tree",
    "pages_that_show",
    "readable_below",
    "readable_ids",
    "readable_page",
    "readable_titles",
    "save_page",
    "searched_texts",
    "take_away",
    "tell_of_below",
    "together",
    "untouched",
]
