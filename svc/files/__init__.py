"""Files: named, owned references to blobs. Uploads and mail attachments are files; their bytes lie in the blob store.

Owns the table ``files`` and ``GET /files/:id/content``. A file that the caller may not read is as missing as one that
never was.
"""

from svc.files.feature import FEATURE
from svc.files.queries import add_file

__all__ = ["FEATURE", "add_file"]
