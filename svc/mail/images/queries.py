"""Queries of pictures in mail and of trusted senders. Each ``where`` checks who may see the row."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

from svc.clock import Millis
from svc.mail.accounts.access import READABLE
from svc.principal import Principal
from svc.store import ReadTx, Value, json_array

MAY_SEE: Final = "(:everything or owner_id is :user_id)"


@dataclass(frozen=True, kw_only=True)
class TrustedSender:
    address: str
    since: Millis


def url_key(url: str) -> str:
    return hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()


def stands_in_readable_mail(tx: ReadTx, principal: Principal, *, url: str) -> bool:
    """Whether a message that the caller may read names this picture, with exactly this address."""
    row = tx.one(
        f"""
        select 1 from mail_remote_images i
        join mail_messages m on m.body_sha256 = i.body_sha256
        where i.url_sha256 = :url and m.account_id in {READABLE} limit 1
        """,
        url=url_key(url),
        **who(principal),
    )
    return row is not None


def trusted_among(tx: ReadTx, principal: Principal, *, addresses: Iterable[str]) -> dict[str, bool]:
    """The addresses among these, in lower case, that the caller trusts with pictures. The value says whether the trust
    holds only for mail with a verified origin. Trust that is older than this check is not bound so until such a mail
    is read."""
    rows = tx.all(
        f"""
        select address, max(bound) from mail_trusted_senders
        where address in (select value from json_each(:addresses)) and {MAY_SEE}
        group by address
        """,
        addresses=json_array(sorted({address.lower() for address in addresses})),
        **who(principal),
    )
    return {str(address): bool(bound) for address, bound in rows}


def trusted_senders(tx: ReadTx, principal: Principal) -> list[TrustedSender]:
    rows = tx.all(
        f"select address, min(since) from mail_trusted_senders where {MAY_SEE} group by address order by address",
        **who(principal),
    )
    return [TrustedSender(address=str(address), since=cast(int, since)) for address, since in rows]


def who(principal: Principal) -> dict[str, Value]:
    return {"everything": principal.sees_everything, "user_id": principal.user_id}
