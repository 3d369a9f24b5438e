"""Pages as files: each page is also a file ``okf/<path>.md`` in the home, Markdown with front matter. Changes go both
ways.

A changed page is written again; an edited file becomes a revision, and a new file a page. If both have changed, the
page stays unchanged and the text of the file is kept in a copy beside it. Triggers queue each page in the transaction
that changes it. Off under the cloud profile.

``snapshots.py`` makes a snapshot of the folder each night, with restic.

Owns the tables ``okf_*``, the folder, and the format of such a file, which ``svc export`` uses too. The feature gitops
owns the syntax of front matter.
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
