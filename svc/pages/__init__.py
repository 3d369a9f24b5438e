"""Pages: a tree of Markdown pages with owners, grants and revisions; and the rule by which one may be read or written.

Owns the tables ``pages``, ``page_*`` and the topic ``pages``. A page that the caller may not read is as missing as one
that never was, for everybody: an admin is no exception. Start reading at ``model.py`` and ``access.py``.
"""

from svc.pages.feature import FEATURE
from svc.pages.model import Page
from svc.pages.queries import file_is_readable_through_a_page, readable_page

__all__ = ["FEATURE", "Page", "file_is_readable_through_a_page", "readable_page"]
