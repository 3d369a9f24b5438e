"""What an ID token came to: what it says of a person, or why it does not count."""

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
    """Nobody was identified. ``cause`` is what the login page has words for; ``detail`` is for the log."""

    def __init__(self, cause: RefusalCause, detail: str) -> None:
        super().__init__(f"{cause}: {detail}")
        self.cause: RefusalCause = cause
        self.detail = detail


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What a verified token says. ``email``, ``email_verified`` and ``name`` are as the provider sent them."""

    subject: str
    email: object
    email_verified: object
    name: object
