"""Connects an account: writes its row after a finished OAuth flow (or one with fake providers)."""

from __future__ import annotations

from svc.errors import Conflict, Forbidden
from svc.ids import new_id
from svc.mail.accounts import news as account_news
from svc.mail.accounts import progress
from svc.mail.accounts import queries as account_queries
from svc.mail.model import ProviderName
from svc.mail.providers.kinds import KEPT_HERE
from svc.principal import Principal
from svc.store import Tx


def secret_name(address: str) -> str:
    """The name of an account's tokens in the secrets store (spec 1.1, rule 3)."""
    return f"idp.oauth.{address.lower()}"


def connect(tx: Tx, principal: Principal, *, address: str, provider: ProviderName) -> str:
    """Create the account, or connect a known one again; its owner is the person who connects it. Returns its id.

    An address is stored in lower case; the name of an account that is kept here, as its owner wrote it. Each has one
    owner: an account of another person is refused, and the message does not say whose it is.
    """
    known = account_queries.account_by_address(tx, address)
    if known is None:
        account_id = new_id("acc")
        tx.run(
            """
            insert into mail_accounts (id, owner_id, address, provider, state, created_at)
            values (:id, :owner_id, :address, :provider, 'backfilling', :now)
            """,
            id=account_id,
            owner_id=principal.user_id,
            address=address if provider == KEPT_HERE else address.lower(),
            provider=provider,
            now=tx.now,
        )
    else:
        if known.owner_id not in {None, principal.user_id} and not principal.sees_everything:
            raise Forbidden("This address is connected by somebody else on this server.")
        if known.erasing:
            raise Conflict("The mail of this account is still being erased. Connect it again in a moment.")
        account_id = known.id
        is_behind = not known.cursor or known.full_sync_cursor is not None
        progress.move(
            tx,
            known,
            "connect" if is_behind else "connect_where_it_was",
            owner_id=principal.user_id or known.owner_id,
            progress_total=known.progress_total if known.full_sync_cursor is not None else None,
        )
    account_news.emit_account(tx, account_id, device_id=principal.device_id)
    return account_id
