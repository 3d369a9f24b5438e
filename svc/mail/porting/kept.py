"""The mailbox of an account that is kept only on this server: its stored mails and labels, and access for imports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from svc.mail.model import Account
from svc.mail.porting import queries
from svc.mail.porting.actions import label_id
from svc.mail.providers.local import LocalMailbox
from svc.mail.providers.seam import Provider, ProviderLabel
from svc.mail.sync.engine import MailEngine
from svc.mail.threads import queries as thread_queries
from svc.store import Store


@dataclass(frozen=True, kw_only=True)
class KeptHere:
    account_id: str
    store: Store

    async def ids(self, *, label: str | None, after: str, limit: int) -> list[str]:
        return await self.store.read(queries.provider_ids, self.account_id, label=label, after=after, limit=limit)

    async def labels(self) -> list[ProviderLabel]:
        return await self.store.read(queries.own_labels, self.account_id)

    def label_id(self, name: str) -> str:
        return label_id(self.account_id, name)


def mailbox(store: Store, account: Account) -> Provider:
    return LocalMailbox(address=account.address, kept=KeptHere(account_id=account.id, store=store))


@dataclass(frozen=True, kw_only=True)
class RunningDestination:
    """An import's access to an account while the service runs. The account's loop creates labels, so that none is
    created while labels are being listed."""

    account_id: str
    store: Store
    engine: MailEngine
    colors: Mapping[str, str] = field(default_factory=dict)
    """Of labels that are created, by their names."""

    async def known(self, provider_message_ids: Sequence[str]) -> Set[str]:
        return await self.store.read(
            thread_queries.known_ids, account_id=self.account_id, provider_message_ids=provider_message_ids
        )

    async def label_id(self, name: str) -> str:
        return (await self.engine.make_label(self.account_id, name, color=self.colors.get(name))).id
