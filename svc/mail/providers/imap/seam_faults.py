"""Turns the faults of mail servers into the faults of the seam."""

from __future__ import annotations

from svc.mail.providers.imap.answers import CommandRefused
from svc.mail.providers.imap.faults import MailServerFault, busy_fault
from svc.mail.providers.seam import (
    GrantLost,
    LostAnswer,
    ProviderFault,
    Refused,
    RefusedForNow,
    Throttled,
    Unreachable,
)

_CLOSED = frozenset({"auth_failed", "app_password", "imap_off", "oauth_only"})


def as_of_mail(fault: MailServerFault | CommandRefused, *, writes: bool = False) -> ProviderFault:
    """``writes``: whether the command changes something, so that a missing answer is a :class:`LostAnswer`, and a
    refusal is final unless the server says that it is busy."""
    if isinstance(fault, CommandRefused):
        said = fault.state.words
        busy = busy_fault(host="The mail server", code=fault.code, said=said)
        if busy is not None and writes:
            return RefusedForNow(f"{busy.detail} It said: {said}" if said else busy.detail)
        detail = f"The mail server did not do it: {said}" if said else "The mail server did not do it."
        return Refused(detail) if writes else Unreachable(detail)
    if fault.reason in _CLOSED:
        return GrantLost(f"{fault.detail} Connect the account again.", trouble="revoked")
    if fault.reason == "tls_failed" and fault.certificate is not None:  # not the certificate that the user accepted
        return GrantLost(f"{fault.detail} Connect the account again: it is shown to you then.", trouble="other")
    if fault.reason in {"too_many", "busy"}:
        return Throttled(f"{fault.detail} It goes on by itself.", retry_after_s=fault.retry_after_s)
    if fault.reason == "refused":
        return Refused(fault.detail)
    if fault.may_have_happened and writes:
        return LostAnswer(fault.detail)
    return Unreachable(fault.detail)
