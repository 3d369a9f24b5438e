"""Turns an error answer of the Gmail API into a provider fault, by its status and reason.

Owns the wording a user reads. The rule: a fault of one message may be :class:`Refused`, which puts the message on the
list of failures. A fault of the whole account (API off, mail service off, quota) never is :class:`Refused`, or one
switch in a console would put every message on that list. An answer that is not Google's own JSON proves nothing about a
message or a history.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final

import msgspec

from svc.clock import SECOND_MS, Millis
from svc.connections import capped_wait_s, clock_problem, retry_after_s
from svc.identity import decoded
from svc.mail.providers.seam import GrantLost, LostAnswer, ProviderFault, Refused, Throttled, Unreachable
from svc.protocol.egress import EgressResponse

QUOTA_REASONS: Final = frozenset(
    {
        "rateLimitExceeded",
        "userRateLimitExceeded",
        "quotaExceeded",
        "dailyLimitExceeded",
        "RATE_LIMIT_EXCEEDED",
        "RESOURCE_EXHAUSTED",
    }
)
SCOPE_REASONS: Final = frozenset({"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"})
API_OFF_REASONS: Final = frozenset({"accessNotConfigured", "SERVICE_DISABLED"})
DOMAIN_REASONS: Final = frozenset({"domainPolicy"})

_SOMEBODY_ELSE: Final = "Something between here and Gmail answered in its place (status {status})."
_SERVICE_OFF: Final = re.compile(r"mail service not enabled", re.IGNORECASE)
_TOO_LARGE: Final = re.compile(r"too large|size (?:exceeds|limit)", re.IGNORECASE)
_BAD_RECIPIENT: Final = re.compile(r"invalid (?:to|cc|bcc) header|recipient address required", re.IGNORECASE)
_RETRY_AFTER_IN_TEXT: Final = re.compile(r"[Rr]etry after (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)")


def fault_of(
    answer: EgressResponse, *, writes: bool, not_found: Callable[[str], ProviderFault] | None, now: Millis
) -> ProviderFault:
    """The fault to raise. ``not_found`` makes the fault for a 404 of this call; its argument is the ``detail`` of a
    plain refusal."""
    error = _error(answer.body)
    reasons = _reasons(error)
    status = answer.status
    if status == 401:
        wrong = clock_problem(answer.headers, now=now, service="Google")
        if wrong is not None:
            return GrantLost(wrong, trouble="clock")
        return GrantLost(
            "Google no longer accepts this account's access, not even a fresh one. Connect it again.", trouble="revoked"
        )
    if status == 429 or (status == 403 and reasons & QUOTA_REASONS):
        return Throttled("Google asks to slow down: the quota is used up.", retry_after_s=_wait_s(answer, error, now))
    if status == 408:
        return Unreachable("Gmail gave up waiting for the request.")
    unknown = LostAnswer if writes else Unreachable
    if status >= 500:
        return unknown(f"Gmail has trouble of its own (status {status}).")
    if status < 400:
        return unknown(_SOMEBODY_ELSE.format(status=status))
    if error is None and status in {403, 404}:
        return Unreachable(_SOMEBODY_ELSE.format(status=status))
    if status == 403 and (fault := _account_fault(reasons)) is not None:
        return fault
    if _SERVICE_OFF.search(error.message if error else ""):
        return Unreachable("This Google account has no Gmail mailbox, or it is switched off.")
    detail = _why_refused(error, status) or f"Gmail refused the request (status {status}{_named(reasons)})."
    if status == 404 and not_found is not None:
        return not_found(detail)
    return Refused(detail)


def _why_refused(error: _Error | None, status: int) -> str | None:
    """Why Google does not send a mail, in words for its writer; ``None`` for other reasons."""
    message = error.message if error else ""
    if status == 413 or _TOO_LARGE.search(message):
        return "This mail is larger than Gmail takes."
    if _BAD_RECIPIENT.search(message):
        return "Gmail does not accept the address of one of the recipients."
    return None


def _account_fault(reasons: frozenset[str]) -> ProviderFault | None:
    if reasons & SCOPE_REASONS:
        return GrantLost(
            "Access to the mailbox was not granted. Connect again and leave every box ticked.", trouble="scope"
        )
    if reasons & API_OFF_REASONS:
        return Unreachable(
            "The Gmail API is switched off in the Google Cloud project of this OAuth client. Enable it there (APIs & "
            "Services, Gmail API); mail follows by itself.",
            trouble="api-off",
        )
    if reasons & DOMAIN_REASONS:
        return Unreachable("The administrator of this Google Workspace does not allow this app to use Gmail.")
    return None


class _Item(msgspec.Struct):
    reason: str = ""


class _Error(msgspec.Struct):
    """Google's JSON error, with the fields of the old form (``errors``) and the new one (``status``, ``details``)."""

    message: str = ""
    status: str = ""
    errors: list[_Item] = []
    details: list[_Item] = []


class _Envelope(msgspec.Struct):
    error: _Error


def _error(body: bytes) -> _Error | None:
    envelope = decoded(body, _Envelope)
    return None if envelope is None else envelope.error


def _reasons(error: _Error | None) -> frozenset[str]:
    if error is None:
        return frozenset()
    return frozenset({error.status, *(item.reason for item in (*error.errors, *error.details))}) - {""}


def _named(reasons: frozenset[str]) -> str:
    """The reasons for the user's message: only those that have the form of an identifier of Google's."""
    known = sorted(reason for reason in reasons if re.fullmatch(r"[A-Za-z_]{1,60}", reason))
    return f": {', '.join(known)}" if known else ""


def _wait_s(answer: EgressResponse, error: _Error | None, now: Millis) -> float | None:
    """The wait from the header, or else from the error message: Gmail names the end of a sending limit there."""
    wait_s = retry_after_s(answer.headers, now=now)
    found = _RETRY_AFTER_IN_TEXT.search(error.message) if wait_s is None and error is not None else None
    if found is None:
        return wait_s
    try:
        until = datetime.fromisoformat(found[1])
    except ValueError:
        return None
    return capped_wait_s(until.timestamp() - now / SECOND_MS)
