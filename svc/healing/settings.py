"""The setting of healing: how fast the check reads."""

from __future__ import annotations

from svc.config import Setting, whole_number

CHECK_RATE: Setting[int] = Setting(
    name="SVC_BLOB_CHECK_BYTES_PER_SECOND",
    parse=whole_number(0, 2**40),
    default=1024 * 1024,
    type="whole number",
    unit="bytes a second",
    help="How fast stored content is read to find damage before somebody needs it; each is read once a week. 0: never.",
)

SETTINGS = (CHECK_RATE,)
