"""Combines the own server's results and the signatures into one verdict and one sentence."""

from __future__ import annotations

from collections.abc import Sequence, Set

from svc.formats.authentication.model import Authentication, ServerResult, Signature, Unsubscribe, Verdict
from svc.formats.html.links import same_registrant

ASSURED = ("dmarc", "dkim", "spf")
"""The methods that are read from a server's results, the strongest first."""


def aligned(one: str, other: str) -> bool:
    """Whether two domains are equal, or one is a subdomain of the other. Sibling domains are not aligned: they may have
    different owners."""
    one, other = one.lower().rstrip("."), other.lower().rstrip(".")
    if not one or not other or not same_registrant(one, other):
        return False
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def judge(
    *,
    domain: str,
    server: str | None,
    results: Sequence[ServerResult],
    signatures: Sequence[Signature],
    is_one_sender: bool,
    unsubscribe: Unsubscribe | None = None,
) -> Authentication:
    """``domain``: of the address in From. ``results``: of the account's own server, named ``server``.
    ``is_one_sender``: there is one From field with one address; otherwise nobody can say who sent the mail."""
    verdict, found, summary = _verdict(domain.lower(), results, signatures, is_one_sender=is_one_sender)
    return Authentication(
        verdict=verdict,
        domain=found,
        summary=summary,
        server=server,
        results=tuple(results),
        signatures=tuple(signatures),
        unsubscribe=unsubscribe,
    )


def covers(signatures: Sequence[Signature], *, domain: str, fields: Set[str]) -> bool:
    """Whether one signature proves that ``domain`` sent the mail, and also signs these fields."""
    return any(one.state == "valid" and aligned(one.domain, domain) and fields <= set(one.covers) for one in signatures)


def signs(signatures: Sequence[Signature], domain: str) -> str | None:
    """The domain of a signature which proves that the mail comes from ``domain``; ``None`` if there is none."""
    return next((one.domain for one in signatures if one.state == "valid" and aligned(one.domain, domain)), None)


def _verdict(
    domain: str, results: Sequence[ServerResult], signatures: Sequence[Signature], *, is_one_sender: bool
) -> tuple[Verdict, str | None, str]:
    if any(one.method == "dmarc" and one.result == "fail" for one in results):
        return "failed", None, f"Failed: by the rules of {domain or 'its sender'}, this mail is not from there (DMARC)"
    if not domain or not is_one_sender:
        return "unverified", None, "Not verified: it does not name one sender"
    own = signs(signatures, domain)
    if own is not None:
        return "verified", own, f"Signed by {own}"
    for method in ASSURED:
        for one in results:
            if one.method == method and one.result == "pass" and aligned(one.domain, domain):
                words = "Signed by" if method == "dkim" else "Confirmed to come from"
                return "verified", one.domain, f"{words} {one.domain}"
    return _unverified(domain, results, signatures)


def _unverified(
    domain: str, results: Sequence[ServerResult], signatures: Sequence[Signature]
) -> tuple[Verdict, str | None, str]:
    others = [one.domain for one in signatures if one.state == "valid"]
    others += [one.domain for one in results if one.method == "dkim" and one.result == "pass" and one.domain]
    if others:
        return "unverified", others[0], f"Not verified: signed by {others[0]}, not by {domain}"
    if any(one.state == "unchecked" for one in signatures) and not results:
        return "unknown", None, f"Not checked: the key of {domain} could not be asked for"
    return "unverified", None, f"Not verified: nothing proves that it comes from {domain}"
