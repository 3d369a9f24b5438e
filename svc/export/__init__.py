"""Exports everything that a home has of its people, in open formats, as one archive; and imports such an archive into
an empty home.

The archive is a bag (BagIt, RFC 8493): mail as mbox with labels, read and star state, pages as Markdown, files
unchanged, the rest as JSON, and a manifest with the SHA-256 of each. It is written and read in one pass, with some
megabytes of memory. Owns no tables: features own the exported data, and take the imported data.
"""

from svc.export.feature import FEATURE
from svc.export.importing import run as import_archive

__all__ = ["FEATURE", "import_archive"]
