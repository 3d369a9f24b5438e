"""Pages as files: each page is also ``okf/<path>.md`` in the home, Markdown with front matter, and both ways.

A page that changes is written anew; a file that a person edits becomes a revision, and a new file a page. Where both
have changed, the page stays as it is and the text of the file is kept beside it. Triggers queue each page in the
transaction that changes it. Off under the cloud profile.

``snapshots.py`` has restic make a snapshot of the folder each night.

Owns the tables ``okf_*`` and the folder; also how a page is written as such a file, which ``svc export`` uses too. How
front matter is spelled and read apart is gitops'.
"""

from svc.okf.feature import FEATURE
from svc.okf.rows import FilePage, page_ids, page_of
from svc.okf.snapshots import Kept as SnapshotStatus
from svc.okf.snapshots import Snapshots
from svc.okf.text import Read, file_of, read, written

__all__ = [
    "FEATURE",
    "FilePage",
    "Read",
    "SnapshotStatus",
    "Snapshots",
    "file_of",
    "page_ids",
    "page_of",
    "read",
    "written",
]
