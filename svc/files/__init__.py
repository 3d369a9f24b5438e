"""Files: named, owned references to blobs. Uploads and mail attachments are files; their bytes are in the blob store.

Owns the tables ``files``, ``deleted_files`` and ``partial_uploads``, ``POST /files``, ``/files/tus``, ``GET
/files/:id/content``, ``GET /blobs/:sha256`` and the clean-up of blobs that no row names. A file that the caller
may not read looks like one that does not exist. Start reading at ``access.py``.
"""

from svc.files.access import readable_file
from svc.files.actions import (
    add_file,
    add_upload,
    bring_back_deleted,
    delete,
    delete_files,
    hand_over_files,
    restate_file,
)
from svc.files.disposition import content_disposition
from svc.files.feature import FEATURE
from svc.files.model import UPLOAD, File
from svc.files.names import numbered_name, safe_name
from svc.files.queries import files_of
from svc.files.ranges import requested_range

__all__ = [
    "FEATURE",
    "UPLOAD",
    "File",
    "add_file",
    "add_upload",
    "bring_back_deleted",
    "content_disposition",
    "delete",
    "delete_files",
    "files_of",
    "hand_over_files",
    "numbered_name",
    "readable_file",
    "requested_range",
    "restate_file",
    "safe_name",
]
