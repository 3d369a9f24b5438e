"""The access tokens of a mailbox that is connected by OAuth. Errors are raised as faults of the seam."""

from __future__ import annotations

from dataclasses import dataclass

from svc.connections import ConnectionFault, GrantEnded, ServiceBusy, TokenSource
from svc.mail.providers.seam import GrantLost, ProviderFault, Throttled, Unreachable


@dataclass(frozen=True, kw_only=True)
class MailboxTokens:
    """The access tokens of one mailbox."""

    source: TokenSource

    async def access_token(self) -> str:
        """Raises :class:`GrantLost`, :class:`Unreachable` or :class:`Throttled`."""
        try:
            return await self.source.access_token()
        except ConnectionFault as fault:
            raise _as_of_mail(fault) from fault

    async def refreshed(self, stale: str) -> str:
        """An access token that is not ``stale``. Raises as :meth:`access_token`."""
        try:
            return await self.source.refreshed(stale)
        except ConnectionFault as fault:
            raise _as_of_mail(fault) from fault


def _as_of_mail(fault: ConnectionFault) -> ProviderFault:
    if isinstance(fault, GrantEnded):
        return GrantLost(fault.detail, trouble=fault.cause)
    if isinstance(fault, ServiceBusy):
        return Throttled(fault.detail, retry_after_s=fault.retry_after_s)
    return Unreachable(fault.detail, trouble=fault.cause)
