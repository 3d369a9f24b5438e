"""The result of checking an ID token: its claims about a person, or the reason why it is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RefusalCause = Literal[
    "code-rejected",
    "client-rejected",
    "client-type",
    "client-gone",
    "redirect-unknown",
    "no-consent",
    "ended",
    "another-service",
    "no-identity",
    "malformed",
    "algorithm",
    "unknown-key",
    "key-use",
    "weak-key",
    "signature",
    "issuer",
    "audience",
    "nonce",
    "time",
    "no-subject",
]


class SignInRefused(Exception):
    """Nobody was identified. The login page has a text for each ``cause``; ``detail`` is for the log."""

    def __init__(self, cause: RefusalCause, detail: str) -> None:
        super().__init__(f"{cause}: {detail}")
        self.cause: RefusalCause = cause
        self.detail = detail


@dataclass(frozen=True, kw_only=True)
class Claims:
    """The claims of a verified token. ``email``, ``email_verified`` and ``name`` are as the provider sent them."""

    subject: str
    email: object
    email_verified: object
    name: object
