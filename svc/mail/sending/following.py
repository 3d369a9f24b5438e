"""Follows drafts that another program has edited, sent or deleted: asks the server, then one transaction decides.

It runs in the same task per account as the copying of drafts (``draft_copying.py``), so no draft is copied to the
server meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

from svc.errors import Conflict
from svc.log import Log
from svc.mail.providers.seam import Provider
from svc.mail.sending import elsewhere
from svc.mail.sending.elsewhere import Found, Open
from svc.mail.sending.taking_up import TakingUp, put
from svc.store import ReadTx, Store, Tx


@dataclass(frozen=True, kw_only=True)
class Following:
    store: Store
    taking_up: TakingUp

    async def follow(self, provider: Provider, found: Found, log: Log) -> None:
        """Ask the server about a find, and decide. Raises :class:`ProviderFault` if the server can't be asked."""
        open_ = await self.store.read(_worth_asking, found)
        if open_ is None:
            await self.store.write(elsewhere.leave, found)
            return
        kept = provider.drafts
        if kept is not None and await kept.there(found.draft_id):
            await self.store.write(elsewhere.look_again, found)
            return
        text = ""
        if found.kind == "edited":
            try:
                text = await self.taking_up.words(open_.message, draft_id=found.draft_id)
            except Conflict as why:
                log.info("mail.draft_not_followed", draft=found.draft_id, reason=str(why))
                await self.store.write(elsewhere.leave, found)
                return
        await self.store.write(_decide, found, text)


def _worth_asking(tx: ReadTx, found: Found) -> Open | None:
    return elsewhere.opened(tx, found) if elsewhere.is_unchanged(tx, found) else None


def _decide(tx: Tx, found: Found, text: str) -> None:
    """Decide: our copy at the server is gone, and nothing writes it again before this, unless the draft was changed
    here."""
    open_ = _worth_asking(tx, found)
    if open_ is None:
        elsewhere.leave(tx, found)
    elif elsewhere.has_original(tx, found):
        elsewhere.look_again(tx, found)
    elif found.kind == "edited":
        put(tx, open_.account, open_.message, text, draft_id=open_.draft.id, before=open_.draft)
        elsewhere.settled(tx, found)
    else:
        elsewhere.end(tx, found, open_.draft)
