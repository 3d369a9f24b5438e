"""Files: named, owned references to blobs. Uploads and mail attachments are files; their bytes lie in the blob store.

Owns the table ``files``, ``POST /files``, ``GET /files/:id/content``, ``GET /blobs/:sha256`` and the sweep that removes
blobs nothing names. A file that the caller may not read is as missing as one that never was. Start reading at
``access.py``.
"""

from svc.files.actions import add_file
from svc.files.feature import FEATURE

__all__ = ["FEATURE", "add_file"]
