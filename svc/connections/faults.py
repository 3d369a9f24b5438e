"""The ways in which a grant, or what is asked of its service, fails.

``detail`` is one sentence a user may read; it never holds a secret. What somebody has connected translates these into
the faults of its own kind.
"""

from __future__ import annotations

from typing import Literal

ReconnectCause = Literal["revoked", "testing-expired", "clock", "other"]
"""Why a person has to connect again, by names that stay."""

RefusalCause = Literal[
    "scope-unticked",
    "no-refresh-token",
    "code-rejected",
    "client-rejected",
    "wrong-identity",
    "clock-wrong",
    "redirect-unknown",
    "client-unknown",
    "wrong-directory",
    "secret-wrong",
    "secret-expired",
    "secret-missing",
    "admin-consent",
    "account-kind",
    "blocked",
]
"""Those after the first six are told by services with codes of their own (``Terms.refusals``)."""


class ConnectionFault(Exception):
    """A service did not do what it was asked. ``cause`` names why, where that is one of the known things."""

    def __init__(self, detail: str, *, cause: ReconnectCause | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.cause = cause


class GrantEnded(ConnectionFault):
    """The service refused to renew the grant, or nothing is kept of it: the person must connect again."""


class ServiceBusy(ConnectionFault):
    """429: later. ``retry_after_s`` is the service's own word, if it gave one."""

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class ServiceAway(ConnectionFault):
    """No connection, no answer, or none that can be understood. Later may work."""


class GrantRefused(Exception):
    """A round trip ended without a usable grant; ``cause`` names which of the known ways it was."""

    def __init__(self, detail: str, *, cause: RefusalCause) -> None:
        super().__init__(detail)
        self.detail = detail
        self.cause: RefusalCause = cause
