"""Connecting an account: the record that a finished OAuth round trip (or the fake world) leaves behind."""

from __future__ import annotations

from svc.errors import Conflict, Forbidden
from svc.ids import new_id
from svc.mail import counters, queries
from svc.mail.model import ProviderName
from svc.principal import Principal
from svc.store import Tx

ADDRESS_MAX_CHARS = 320


def secret_name(address: str) -> str:
    """Where an account's tokens lie in the secrets store (spec 1.1, rule 3)."""
    return f"idp.oauth.{address.lower()}"


def connect(tx: Tx, principal: Principal, *, address: str, provider: ProviderName) -> str:
    """Create the account, or bring back a known one, owned by whoever connected it. Returns its id.

    An address has one owner: somebody else's account is refused, without a word about whose it is.
    """
    known = queries.account_by_address(tx, address)
    if known is None:
        account_id = new_id("acc")
        tx.run(
            """
            insert into mail_accounts (id, owner_id, address, provider, state, created_at)
            values (:id, :owner_id, :address, :provider, 'backfilling', :now)
            """,
            id=account_id,
            owner_id=principal.user_id,
            address=address.lower(),
            provider=provider,
            now=tx.now,
        )
    else:
        if known.owner_id not in {None, principal.user_id} and not principal.sees_everything:
            raise Forbidden("This address is connected by somebody else on this server.")
        if known.erasing:
            raise Conflict("The mail of this account is still being erased. Connect it again in a moment.")
        account_id = known.id
        state = "caught-up" if known.history_id and known.sweep_history_id is None else "backfilling"
        tx.run(
            """
            update mail_accounts set owner_id = coalesce(:owner_id, owner_id), state = :state, problem = null,
                cause = null
            where id = :id
            """,
            id=account_id,
            owner_id=principal.user_id,
            state=state,
        )
    counters.emit_account(tx, account_id, device_id=principal.device_id)
    return account_id
