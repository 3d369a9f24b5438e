"""Connecting a mailbox by a password: its servers are found, the password is tried at both, and only then stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec

from svc.connections import Credentials, credentials_of
from svc.errors import Conflict, Invalid, NotConfigured, NotFound
from svc.mail.accounts import actions as account_actions
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts import sender_names
from svc.mail.model import Account
from svc.mail.providers.imap import access as accesses
from svc.mail.providers.imap.access import Access, WayIn
from svc.mail.providers.imap.discovery.model import Found
from svc.mail.providers.imap.faults import Reason, later
from svc.mail.providers.imap.kind import dialler_of
from svc.mail.providers.imap.login import without_copied_spaces
from svc.mail.providers.kinds import BY_PASSWORD
from svc.mail.providers.seam import Provider
from svc.mail.providers.table import Providers
from svc.principal import Principal
from svc.protocol.pinned import PinnedEgress, PinnedFault
from svc.store import Tx
from svc.workspace import Workspace

if TYPE_CHECKING:
    from svc.mail.providers.imap.discovery.discovering import Discovery

DOCUMENT_S: Final = 5.0
DOCUMENT_BYTES: Final = 128 * 1024
_AUTH: Final = frozenset[Reason]({"auth_failed", "app_password", "imap_off"})
_WRONG: Final = frozenset[Reason]({"auth_failed", "app_password"})
_PLAIN: Final = frozenset[Reason]({"oauth_only", "tls_failed", "not_imap"})


@dataclass(frozen=True, kw_only=True)
class Passwords:
    """Finds mail servers, connects accounts by a password, and opens their mailboxes."""

    workspace: Workspace

    @cached_property
    def discovery(self) -> Discovery:
        # Imported late: only connecting a mailbox needs dnspython and an XML parser, and they take 6 MiB.
        from svc.mail.providers.imap.discovery.discovering import Discovery
        from svc.mail.providers.imap.discovery.names import SystemNames

        return Discovery(fetch=self._document, names=SystemNames(), dialler=dialler_of(self.workspace))

    async def discover(self, address: str) -> Found:
        """The servers of an address. Raises :class:`NotConfigured` where fakes replace all providers."""
        self._demand_real()
        return await self.discovery.find(address)

    async def connect(self, principal: Principal, access: Access, *, address: str, name: str | None) -> str:
        """Try the servers, then store the account. Returns its id. Raises :class:`Invalid` with the reason, and stores
        nothing then. A password that is refused is tried again without the spaces that were copied with it."""
        self._demand_real()
        dialler = dialler_of(self.workspace)
        wrong = await accesses.try_access(dialler, access)
        plain = without_copied_spaces(access.password)
        if wrong is not None and wrong.fault.reason in _WRONG and plain != access.password:
            again = msgspec.structs.replace(access, password=plain)
            if await accesses.try_access(dialler, again) is None:
                access, wrong = again, None
        if wrong is not None:
            self.workspace.log.info("mail.password_refused", reason=wrong.fault.reason, smtp=wrong.is_smtp)
            raise _refusal(wrong)
        return await self.workspace.store.write(
            _keep_account, credentials_of(self.workspace), principal, address=address, access=access, name=name
        )

    async def kept(self, principal: Principal, account_id: str) -> Access | None:
        """The servers and password of the caller's own account; ``None`` where it is disconnected, or not connected by
        a password.

        Raises :class:`NotFound`, and :class:`Forbidden` for an account that is shared with the caller.
        """
        return await self.workspace.store.write(
            _kept_access, credentials_of(self.workspace), principal, account_id=account_id
        )

    def provider(self, account: Account) -> Provider:
        """The mailbox of a connected account."""
        credentials, store = credentials_of(self.workspace), self.workspace.store

        async def load() -> bytes | None:
            return await store.write(credentials.read, BY_PASSWORD.secret_name(account.address))

        return BY_PASSWORD.open(self.workspace, account, load)

    def _demand_real(self) -> None:
        if BY_PASSWORD.name not in self.workspace.service(Providers):
            raise NotConfigured("Fakes stand in for all mail providers: start the service without PROVIDERS=fake.")

    async def _document(self, url: str) -> bytes | None:
        try:
            answer = await PinnedEgress().get(
                url, accept="text/xml, application/xml", deadline_s=DOCUMENT_S, limit_bytes=DOCUMENT_BYTES
            )
        except PinnedFault:
            return None
        return answer.body if answer.status == 200 else None


def _kept_access(tx: Tx, credentials: Credentials, principal: Principal, *, account_id: str) -> Access | None:
    account = account_queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound("There is no such account.")
    if account.provider != BY_PASSWORD.name:
        return None
    data = credentials.read(tx, BY_PASSWORD.secret_name(account.address))
    return None if data is None else accesses.read(data)


def _keep_account(
    tx: Tx, credentials: Credentials, principal: Principal, *, address: str, access: Access, name: str | None
) -> str:
    """Store the account and its password in one transaction, so that neither exists without the other."""
    known = account_queries.account_by_address(tx, address)
    if known is not None and known.provider != BY_PASSWORD.name and not known.erasing:
        raise Conflict(
            "This address is connected in another way. To connect it by a password, disconnect it first, and have its "
            "mail erased from here."
        )
    account_id = account_actions.connect(tx, principal, address=address, provider=BY_PASSWORD.name)
    credentials.write(tx, BY_PASSWORD.secret_name(address), accesses.kept(access), source="user")
    if name is not None:
        sender_names.set_sender_name(tx, principal, account_id=account_id, name=name)
    return account_id


def _refusal(wrong: WayIn) -> Invalid:
    """An error with our sentence, the server's own words, and data for programs."""
    fault = wrong.fault
    if fault.reason in _PLAIN:
        reason = str(fault.reason)
    elif fault.reason in _AUTH:
        reason = "auth_failed"
    else:
        reason = "smtp_failed" if wrong.is_smtp else "unreachable"
    if wrong.is_smtp and reason != "tls_failed":
        reason = "smtp_failed"
    then = f" {advice}" if (advice := later(fault)) else ""
    said = f" It says: {fault.said}" if fault.said else ""
    data: dict[str, object] = {"reason": reason, "server": "smtp" if wrong.is_smtp else "imap", "said": fault.said}
    shown = wrong.certificate
    if shown is not None:
        data["certificate"] = {
            "sha256": shown.sha256,
            "subject": shown.subject,
            "issuer": shown.issuer,
            "notAfter": shown.not_after,
        }
    return Invalid(f"{fault.detail}{then}{said}", data=data)
