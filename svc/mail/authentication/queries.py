"""Statements that read the results of origin checks, messages to be checked, and the stored keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from svc.formats.authentication import Authentication
from svc.formats.person import Person
from svc.mail.model import MessageHeaders, is_own
from svc.store import ReadTx, json_array, texts_of

_decode: Final = msgspec.json.Decoder(Authentication).decode
_decode_headers: Final = msgspec.json.Decoder(MessageHeaders).decode


@dataclass(frozen=True, kw_only=True)
class Known:
    found: Authentication
    asked: bool


@dataclass(frozen=True, kw_only=True)
class Unchecked:
    """A message that is to be checked, in an account at ``provider``."""

    message_id: str
    account_address: str
    provider: str
    sender: Person
    senders: tuple[Person, ...]
    own: bool
    raw_sha256: str
    raw_size: int


def known(tx: ReadTx, *, message_ids: Iterable[str]) -> dict[str, Known]:
    """The results for these messages that have not expired."""
    rows = tx.all(
        """
        select message_id, found, asked from mail_authentication
        where message_id in (select value from json_each(:ids)) and (until is null or until > :now)
        """,
        ids=json_array(message_ids),
        now=tx.now,
    )
    return {str(row[0]): Known(found=_decode(cast(str, row[1])), asked=bool(row[2])) for row in rows}


def unchecked(tx: ReadTx, *, message_ids: Iterable[str]) -> list[Unchecked]:
    """Those of these messages that are stored, with the data for a check."""
    rows = tx.all(
        """
        select m.id, a.address, a.provider, m.sender_name, m.sender_address, m.headers, m.labels, m.raw_sha256,
            m.raw_size
        from mail_messages m join mail_accounts a on a.id = m.account_id
        where m.id in (select value from json_each(:ids))
        """,
        ids=json_array(message_ids),
    )
    return [
        Unchecked(
            message_id=cast(str, row[0]),
            account_address=cast(str, row[1]),
            provider=cast(str, row[2]),
            sender=Person(name=cast(str, row[3]), address=cast(str, row[4])),
            senders=_decode_headers(cast(str, row[5])).senders,
            own=is_own(frozenset(texts_of(cast(str, row[6])))),
            raw_sha256=cast(str, row[7]),
            raw_size=cast(int, row[8]),
        )
        for row in rows
    ]


def kept_keys(tx: ReadTx, *, names: Iterable[str]) -> dict[str, bytes | None]:
    rows = tx.all(
        "select name, record from mail_dkim_keys where name in (select value from json_each(:names)) and until > :now",
        names=json_array(names),
        now=tx.now,
    )
    return {str(name): cast("bytes | None", record) for name, record in rows}
