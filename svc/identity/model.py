"""The records of identity. All are frozen; none holds a secret, only what belongs to a digest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, Millis

Role = Literal["admin", "member"]

SESSION_LIFETIME_MS: Final = 30 * DAY_MS
"""A session that nobody uses. Beyond: the person signs in again."""
SESSION_TOUCH_MS: Final = HOUR_MS
"""A session's expiry is moved forward at most this often: a read must not cost a write."""
PAIRING_LIFETIME_MS: Final = 5 * MINUTE_MS
"""From a pairing code to its use. Beyond: 403 `forbidden`."""
CLOCK_SLACK_MS: Final = MINUTE_MS
"""A pairing code from so far in the future ends: the clock was set back, and the code would live longer."""
INVITE_DEFAULT_DAYS: Final = 7
INVITE_MAX_DAYS: Final = 365
"""Days that an invite is valid. Beyond: 400 `invalid`."""
CLAIM_LINK_LIFETIME_MS: Final = 30 * MINUTE_MS
TICKET_LIFETIME_S: Final = 30.0
"""From a socket ticket to the upgrade that it opens. Beyond: 401 `unauthorized`."""

WEB_SESSION: Final = "web-session"
"""The kind of a device that stands for a session: it has no token, and no device is paired as one."""
CAPABILITIES: Final = ("admin", "approve", "shell", "extensionAutomation", "mobilePush", "terminal")
ADMINS_CAPABILITIES: Final = frozenset({"admin", "shell", "terminal"})
"""Capabilities that only an admin may give a device: the admin's own rights on this server, its shell, and its
terminals."""
MAX_OPEN_PAIRING_CODES: Final = 10
"""Open pairing codes of one person: enough for a whole desk, too few for an attacker to guess one. Beyond: 429
`rate_limited` with `Retry-After`."""
MAX_LISTED_DEVICES: Final = 1_000
"""Devices in the list of devices. Beyond: revoked ones, then those of others and those used longest ago are not
listed."""
MAX_KIND_CHARS: Final = 40
"""The kind of a device that is paired. Beyond: 400 `invalid`."""
MAX_EMAIL_CHARS: Final = 320
"""The address of a person who signs in or is invited. Beyond: 400 `invalid`."""
MAX_NAME_CHARS: Final = 200
"""The name of a person or a device. Beyond: 400 `invalid` for a paired device, else it is cut."""


@dataclass(frozen=True, kw_only=True)
class User:
    id: str
    email: str
    name: str
    role: Role
    created_at: Millis


@dataclass(frozen=True, kw_only=True)
class Session:
    """A signed-in browser. ``id`` is public; of the cookie that opens it only the digest is stored."""

    id: str
    user_id: str
    device_id: str
    created_at: Millis
    last_seen_at: Millis
    expires_at: Millis


@dataclass(frozen=True, kw_only=True)
class Device:
    """``user_id`` is ``None`` for a device that was paired while the instance was unclaimed. ``seen_from``: the address
    where it was last seen, if known."""

    id: str
    user_id: str | None
    kind: str
    name: str
    capabilities: Mapping[str, bool]
    revoked: bool
    created_at: Millis
    last_seen_at: Millis | None
    seen_from: str | None


@dataclass(frozen=True, kw_only=True)
class Invite:
    id: str
    email: str | None
    role: Role
    created_at: Millis
    expires_at: Millis
    used_at: Millis | None
    revoked_at: Millis | None
    used_by: User | None = None
    """The user who signed in with it; also ``None`` where that is unknown, or no longer known."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A proven identity: a subject at an issuer, or an address proven in another way (then without ``issuer``)."""

    email: str
    name: str = ""
    issuer: str | None = None
    subject: str | None = None


def normal_email(email: str) -> str:
    """The address in the form for comparison: ASCII case folded, nothing else; look-alike letters stay different."""
    return "".join(symbol.lower() if symbol.isascii() else symbol for symbol in email.strip())
