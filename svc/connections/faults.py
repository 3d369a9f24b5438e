"""The faults of a grant, or of a request to its service.

``detail`` is one sentence that a user may read; it never holds a secret. The feature that has connected something
translates these faults into its own.
"""

from __future__ import annotations

from typing import Literal

ReconnectCause = Literal["revoked", "testing-expired", "clock", "other"]
"""Why a person has to connect again. The names are stable."""

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
"""Services report the causes after the first six by codes of their own (``Terms.refusals``)."""


class ConnectionFault(Exception):
    """A service did not do what it was asked. ``cause`` names the reason, if it is a known one."""

    def __init__(self, detail: str, *, cause: ReconnectCause | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.cause = cause


class GrantEnded(ConnectionFault):
    """The service refused to renew the grant, or no tokens of it are stored: the person must connect again."""


class ServiceBusy(ConnectionFault):
    """The service answered 429: try again later. ``retry_after_s`` is the pause that the service asked for, if it named
    one."""

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class ServiceAway(ConnectionFault):
    """There is no connection, no answer, or none that can be understood. A later try may work."""


class GrantRefused(Exception):
    """A round trip ended without a usable grant; ``cause`` names the reason."""

    def __init__(self, detail: str, *, cause: RefusalCause) -> None:
        super().__init__(detail)
        self.detail = detail
        self.cause: RefusalCause = cause
