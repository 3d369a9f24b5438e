"""What is known of a mail's origin. Records only; stored as JSON."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

MAX_SIGNATURES: Final = 5
"""Of one mail, from the top; more are a way to have others' name servers asked."""
MIN_KEY_BITS: Final = 1_024
"""RFC 8301, 3.2: a shorter key proves nothing."""

SignatureState = Literal["valid", "invalid", "weak", "partial", "expired", "no-key", "unchecked", "unreadable"]
"""``weak``: a short key, or SHA-1. ``partial``: it leaves out From, or the end of the body (``l=``). ``unchecked``:
the key could not be asked for now."""

Verdict = Literal["verified", "failed", "unverified", "unknown"]
"""``failed``: the own server says that it is not from the domain in From (DMARC). ``unknown``: not looked at yet."""


class ServerResult(msgspec.Struct, frozen=True):
    """One result of the own server, such as ``dkim``, ``pass``, for this domain (lower case; empty: none named)."""

    method: str
    result: str
    domain: str


class Signature(msgspec.Struct, frozen=True):
    """One DKIM signature. ``covers``: names of the fields that it signs, lower case."""

    domain: str
    state: SignatureState
    covers: tuple[str, ...] = ()


class Unsubscribe(msgspec.Struct, frozen=True):
    """What ``List-Unsubscribe`` names: the first https address, the first ``mailto:``, the first other web address.

    ``one_click``: ``List-Unsubscribe-Post`` says so, and each of the two fields stands there once (RFC 8058).
    """

    https: str | None = None
    mailto: str | None = None
    http: str | None = None
    one_click: bool = False


class Authentication(msgspec.Struct, frozen=True):
    """``domain``: who is known to have sent it; of one that is not verified, who else signed it. ``server``: the own
    server's name, where it said something."""

    verdict: Verdict
    domain: str | None = None
    summary: str = ""
    server: str | None = None
    results: tuple[ServerResult, ...] = ()
    signatures: tuple[Signature, ...] = ()
    unsubscribe: Unsubscribe | None = None

    @property
    def is_verified(self) -> bool:
        return self.verdict == "verified"
