"""Access to attachments in shared accounts: a person who may read the message may read its files."""

from __future__ import annotations

from typing import Final, Literal, cast

from svc.principal import Principal
from svc.store import ReadTx

_WHERE: Final = {"id": "f.id = :value", "sha256": "f.sha256 = :value"}


def shared_file(tx: ReadTx, principal: Principal, *, by: Literal["id", "sha256"], value: str) -> str | None:
    """See :class:`svc.file_reader.FileReader`. For members only: the owner has access without this."""
    return cast(
        "str | None",
        tx.value(
            f"""
            select f.id from files f join mail_messages m on f.origin = 'mail:' || m.id and m.id = substr(f.origin, 6)
            where {_WHERE[by]} and m.account_id in (
                select s.account_id from mail_shares s join mail_accounts a on a.id = s.account_id
                where s.user_id = :user_id and not a.erasing
            )
            order by f.created_at, f.id limit 1
            """,
            value=value,
            user_id=principal.user_id,
        ),
    )
