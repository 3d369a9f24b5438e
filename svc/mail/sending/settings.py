"""Sending's own setting."""

from __future__ import annotations

from svc.config import Setting, whole_number

UNDO_SEND_SECONDS: Setting[int] = Setting(
    name="SVC_UNDO_SEND_SECONDS",
    parse=whole_number(0, 300),
    default=10,
    type="whole number",
    unit="seconds",
    help="How long a mail is held after it was sent, for second thoughts. 0 sends at once.",
)

SETTINGS = (UNDO_SEND_SECONDS,)
