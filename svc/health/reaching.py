"""Checks that an outside service can be reached, and says what to do if it can't."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from svc.check import CheckContext, Finding, failed, ok
from svc.protocol.egress import EgressFault, EgressResponse

DEADLINE_S: Final = 15.0
ANSWER_MAX_BYTES: Final = 1 << 20
_BROKEN: Final = 500

_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "name": "Check that {setting} is right, and that this machine can resolve names (DNS)",
        "connect": "Check that {setting} is right, that somebody listens there, and that no firewall stands between",
        "tls": "Check the clock of this machine, and whether something in between puts its own certificate in place "
        "(SSL_CERT_FILE names one that is to be trusted)",
        "timeout": "Check the network of this machine, then ask again",
    }
)
_ELSE: Final = (
    "Check {setting}, and whether something in between (a proxy, a hotel's sign-in page) answers in its place"
)


async def reached(context: CheckContext, url: str, *, what: str, setting: str) -> Finding | EgressResponse:
    """The answer of ``what`` at ``url``, or a finding if there is no usable answer.

    ``setting`` is the variable that holds the address.
    """
    try:
        answer = await context.egress.request(
            "GET", url, headers={}, body=None, deadline_s=DEADLINE_S, limit_bytes=ANSWER_MAX_BYTES
        )
    except EgressFault as fault:
        remedy = _REMEDIES.get(fault.kind, _ELSE).format(setting=setting)
        return failed(f"{what} can't be reached: {fault.detail}", remedy)
    if answer.status >= _BROKEN:
        return failed(
            f"{what} has trouble of its own (status {answer.status})",
            "Nothing to do here: what waits for it goes on by itself once it works again",
        )
    return answer


async def reachable(context: CheckContext, url: str, *, what: str, setting: str) -> Finding:
    """Whether anything answers at ``url``; every status counts."""
    answer = await reached(context, url, what=what, setting=setting)
    return answer if isinstance(answer, Finding) else ok(f"{what} answers")
