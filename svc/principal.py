"""The principal: who makes a request. Resolved once per request or upgrade, then passed to every action, command and
event.

Owns the record, and the constants for the principals that have no database row. It never decides what a principal may
do: the guard and each action do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

Via = Literal["session", "device", "unclaimed", "off", "system", "run"]

NO_CAPABILITIES: Final[Mapping[str, bool]] = MappingProxyType({})
DEV_DEVICE_ID: Final = "dev_local"
"""The stable device id of every caller on an unclaimed instance (or with ``SVC_AUTH=off``)."""


@dataclass(frozen=True, kw_only=True)
class Principal:
    """``user_id`` is ``None`` for the unclaimed, off and system principals; ``device_id`` is never ``None``.

    ``is_admin``: may act as an admin. An admin's device is one only if it has the capability ``admin``. ``unowned``: a
    device that was paired on an instance that is still unclaimed.
    """

    user_id: str | None
    device_id: str
    is_admin: bool
    via: Via
    capabilities: Mapping[str, bool] = field(default_factory=lambda: NO_CAPABILITIES)
    unowned: bool = False

    @property
    def sees_everything(self) -> bool:
        """True while there are no users to hide things from (or identity is off), and for the service's own loops."""
        return self.via in {"unclaimed", "off", "system"} or self.unowned

    def may(self, capability: str) -> bool:
        """Whether it has this capability of an admin: a device by its grant, all others if they are admins."""
        return self.capabilities.get(capability, False) if self.via == "device" else self.is_admin


UNCLAIMED: Final = Principal(user_id=None, device_id=DEV_DEVICE_ID, is_admin=True, via="unclaimed")
AUTH_OFF: Final = Principal(user_id=None, device_id=DEV_DEVICE_ID, is_admin=True, via="off")


def system(loop: str) -> Principal:
    """The service itself, acting from the loop of that name (``mail-sync``, ``scheduler``)."""
    return Principal(user_id=None, device_id=f"system:{loop}", is_admin=False, via="system")
