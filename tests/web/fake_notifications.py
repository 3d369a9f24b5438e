"""Notifications as the stand-in server knows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class NotificationsPart:
    notifications: dict[str, Any] = field(
        default_factory=lambda: {"accountIds": [], "words": "all", "quiet": None, "browsers": []}
    )

    def rpc_notifications_settings(self, given: dict[str, Any]) -> Any:
        return self.notifications

    def rpc_notifications_set(self, given: dict[str, Any]) -> Any:
        self.notifications = {**self.notifications, **given}
        return {}
