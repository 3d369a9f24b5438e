"""Everything that a home holds for people, in open formats, as one archive; and such an archive into an empty home.

The archive is a bag (BagIt, RFC 8493): mail as mbox with labels, read and star state, pages as Markdown, files as they
are, the rest as JSON, and a manifest with the SHA-256 of each. Written and read in one pass, some megabytes in memory.
Owns no tables: features own what is exported, and take back what is imported.
"""

from svc.export.feature import FEATURE
from svc.export.importing import run as import_archive

__all__ = ["FEATURE", "import_archive"]
