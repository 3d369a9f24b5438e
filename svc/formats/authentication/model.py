"""The records about a mail's origin. Records only; stored as JSON."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

MAX_SIGNATURES: Final = 5
"""Signatures of one mail that are checked, from the top. More would let a sender trigger many DNS requests to others'
servers."""
MIN_KEY_BITS: Final = 1_024
"""RFC 8301, 3.2: a shorter key proves nothing."""

SignatureState = Literal["valid", "invalid", "weak", "partial", "expired", "no-key", "unchecked", "unreadable"]
"""``weak``: a short key, or SHA-1. ``partial``: it does not cover From, or the end of the body (``l=``). ``unchecked``:
the key could not be looked up now."""

Verdict = Literal["verified", "failed", "unverified", "unknown"]
"""``failed``: the own server says that the mail is not from the domain in From (DMARC). ``unknown``: not checked
yet."""


class ServerResult(msgspec.Struct, frozen=True):
    """One result of the own server, such as ``dkim``, ``pass``, for this domain (lower case; empty if none is
    named)."""

    method: str
    result: str
    domain: str


class Signature(msgspec.Struct, frozen=True):
    """One DKIM signature. ``covers``: the names of the fields that it signs, in lower case."""

    domain: str
    state: SignatureState
    covers: tuple[str, ...] = ()


class Unsubscribe(msgspec.Struct, frozen=True):
    """The targets in ``List-Unsubscribe``: the first https address, the first ``mailto:``, the first http address.

    ``one_click``: ``List-Unsubscribe-Post`` says so, and each of the two fields occurs once (RFC 8058).
    """

    https: str | None = None
    mailto: str | None = None
    http: str | None = None
    one_click: bool = False


class Authentication(msgspec.Struct, frozen=True):
    """``domain``: the proven sender; if the mail is not verified, another domain that signed it. ``server``: the own
    server's name, if it wrote results."""

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
