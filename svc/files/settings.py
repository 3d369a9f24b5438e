"""The setting of files: the maximum size of an upload."""

from __future__ import annotations

from svc.config import Setting, whole_number

UPLOAD_MAX_BYTES: Setting[int] = Setting(
    name="SVC_UPLOAD_MAX_BYTES",
    parse=whole_number(0, 2**63 - 1),
    default=512 * 1024 * 1024,
    type="whole number",
    unit="bytes",
    help="The largest upload to `/files`. Uploads are streamed: memory does not grow with it.",
)
"""One upload. Beyond: 413 `too_large` as soon as it is known; nothing is kept."""

SETTINGS = (UPLOAD_MAX_BYTES,)
